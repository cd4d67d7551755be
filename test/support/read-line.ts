// Reads one log line with the default settings and shows source and destination.
import { decode } from '../../src/pipeline/decode.js'
import { createExtract } from '../../src/pipeline/extract/extract.js'
import { openFormats } from '../../src/app/open-formats.js'

const settings = {
  maxIndicators: 64,
  maxDepth: 64,
  maxEventBytes: 1_048_576,
  formats: openFormats([]).formats,
}
const extract = createExtract(settings)

/** Each of `found` is a value and its role. */
export const readLine = (line: string): { readonly action: string; readonly found: readonly string[] } => {
  const { action, sightings } = extract(decode(Buffer.from(line), settings))
  return { action, found: sightings.map(({ value, role }) => `${value} ${role}`) }
}

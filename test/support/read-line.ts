// Reads a log line with the default settings and returns its source, destination and ports.
import { decode } from '../../src/pipeline/decode.js'
import { createExtract } from '../../src/pipeline/extract/extract.js'
import type { Extraction } from '../../src/domain/sighting.js'
import { openFormats } from '../../src/app/open-formats.js'

const settings = {
  maxIndicators: 64,
  maxDepth: 64,
  maxEventBytes: 1_048_576,
  formats: openFormats([]).formats,
}
const extract = createExtract(settings)
const extractLine = (line: string): Extraction => extract(decode(Buffer.from(line), settings))

/** Each entry of `found` is a value and its role. */
export const readLine = (line: string): { readonly action: string; readonly found: readonly string[] } => {
  const { action, sightings } = extractLine(line)
  return { action, found: sightings.map(({ value, role }) => `${value} ${role}`) }
}

/** Source and destination port; 0 if the line has none. */
export const readPorts = (line: string): readonly [number, number] => {
  const { sourcePort = 0, destinationPort = 0 } = extractLine(line)
  return [sourcePort, destinationPort]
}

// Runs each log format on its own example, for the command that lists formats and for the table in the documentation.
import { decode, decodeLimits } from '../pipeline/decode.js'
import { createExtract, extractLimits } from '../pipeline/extract/extract.js'
import type { Action, Role } from '../domain/sighting.js'
import { openFormats } from './open-formats.js'

export type DescribedFormat = {
  readonly id: string
  readonly variant?: string | undefined
  readonly example: string
  readonly action: Action
  readonly found: readonly { readonly role: Role; readonly value: string }[]
}

/** Returns one entry per kind of line; `paths` are the user's formats. */
export const describeFormats = (paths: readonly string[]): readonly DescribedFormat[] => {
  const { formats, examples } = openFormats(paths)
  const extract = createExtract({ ...extractLimits, formats })
  return examples.map(({ id, variant, line }) => {
    const { action, sightings } = extract(decode(Buffer.from(line), decodeLimits))
    return { id, variant, example: line, action, found: sightings.map(({ role, value }) => ({ role, value })) }
  })
}

// The values that have a name in an event's text: keys of key=value, CEF, LEEF and XML, columns and pieces that a format names.
import { decode, decodeLimits } from '../decode.js'
import { createExtract, extractLimits } from './extract.js'
import type { FormatSpec } from './formats.js'

type NamedValues = (bytes: Buffer) => Readonly<Record<string, unknown>>

const maxNames = 1024

/**
 * Reads the event once more and keeps what the first reading only looks at, so that events nobody asks about cost nothing.
 * Said twice, the first counts: what is behind may be what somebody sent.
 */
export const createNamedValues = (formats: readonly FormatSpec[]): NamedValues => {
  let values: Record<string, unknown> = {}
  let names = 0
  const note = (name: string, value: unknown): void => {
    if (names >= maxNames || name in values) return
    names++
    values[name] = value
  }
  const extract = createExtract({ ...extractLimits, formats, note })
  return (bytes) => {
    values = Object.create(null) as Record<string, unknown>
    names = 0
    extract(decode(bytes, decodeLimits))
    return values
  }
}

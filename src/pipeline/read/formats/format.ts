// What a positional format is: it takes a line that is its own and says so.
import type { Role } from '../../../domain/sighting.js'
import type { Reader } from '../reader.js'
import { readHost } from '../value.js'

export type Line = {
  /** The line without its syslog header. */
  readonly body: string
  /** The program of the syslog header, or ''. */
  readonly program: string
  /** What the line is called in the event: `message`, or the path it stood at. */
  readonly field: string
  /** The line as it came. */
  readonly whole: string
}

export type Format = (reader: Reader, line: Line) => boolean

/** A value whose place says what it is; `-` and nothing are no value. */
export const place = (reader: Reader, line: Line, value: string | undefined, role: Role): boolean =>
  value !== undefined && value.length > 1 && readHost(value, line.field, role, reader.sightings)

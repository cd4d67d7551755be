// The positional formats, in the order they are tried; each says whether the line was its own.
import type { Reader } from './reader.js'

export type Line = {
  /** The line without its syslog header. */
  readonly body: string
  readonly program: string
  readonly field: string
  readonly whole: string
}

export type Format = (reader: Reader, line: Line) => boolean

export const formats: readonly Format[] = []

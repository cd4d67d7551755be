// One line, or one element of an array, of what is read.
export type Line = {
  readonly bytes: Buffer
  /** `file:line`, counted from 1; `-` for standard input. */
  readonly origin: string
}

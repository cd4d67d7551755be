// A parsed document of a format file, with the lines its values stand on.

export type FormatDocument = {
  readonly file: string
  readonly value: unknown
  /** The line of what stands at this path, or of the nearest thing around it. */
  readonly lineOf: (path: readonly (string | number)[]) => number
}

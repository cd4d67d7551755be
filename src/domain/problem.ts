// What is wrong with a setting or a file that a user wrote, and where.

export type SettingProblem = { readonly setting: string; readonly message: string; readonly where?: string }

export type FileProblem = { readonly file: string; readonly line?: number; readonly message: string }

/** A parsed document of a format file, with the lines its values are on. */
export type FormatDocument = {
  readonly file: string
  readonly value: unknown
  /** The line of what is at this path, or of the nearest thing around it. */
  readonly lineOf: (path: readonly (string | number)[]) => number
}

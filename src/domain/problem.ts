// Problems in a setting or a file of the user, with their place.

export type SettingProblem = { readonly setting: string; readonly message: string; readonly where?: string }

export type FileProblem = { readonly file: string; readonly line?: number; readonly message: string }

/** A parsed document of a format file, with line numbers. */
export type FormatDocument = {
  readonly file: string
  readonly value: unknown
  /** The line of this path, or of its nearest parent. */
  readonly lineOf: (path: readonly (string | number)[]) => number
}

// Types of release.mjs for the tests.
export const notesOf: (changelog: string, version: string) => string | undefined
export const versionProblems: (said: {
  readonly manifest: string
  readonly chart: string
  readonly changelog: string
  readonly tag?: string | undefined
}) => readonly string[]

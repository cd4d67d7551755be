// Types of release.mjs for the tests.
export const notesOf: (changelog: string, version: string) => string | undefined
export const versionProblems: (said: {
  readonly manifest: string
  readonly chart: string
  readonly changelog: string
  readonly tag?: string | undefined
}) => readonly string[]
export const whereItLives: (repository: string) => {
  readonly repository: { readonly type: string; readonly url: string }
  readonly bugs: { readonly url: string }
  readonly homepage: string
}
export const imageName: (repository: string) => string
export const digestIn: (index: string) => string
export const valuesWithImage: (values: string, image: { readonly name: string; readonly digest: string }) => string

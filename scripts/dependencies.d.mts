// Types of dependencies.mjs for the tests.
export const permissive: ReadonlySet<string>
export const productionLicences: () => readonly {
  readonly name: string
  readonly version: string
  readonly licence: string
}[]

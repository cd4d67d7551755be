// Types of bundle.mjs for the tests.
export const bundled: readonly string[]
export const bundle: () => Promise<readonly string[]>

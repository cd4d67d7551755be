// Types of sigma.mjs for the tests.
export const rules: string
export const provisionSigma: () => { readonly sigma?: string; readonly missing?: string }
export const checkRules: (sigma: string, folder: string) => { readonly ok: boolean; readonly output: string }
export const convertRules: (sigma: string, from?: string) => Readonly<Record<string, string>>

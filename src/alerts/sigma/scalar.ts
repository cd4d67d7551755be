// A value of a Sigma rule, and the error for an invalid one.

export type Scalar = string | number | boolean | null
export type Wrong = { readonly wrong: string }

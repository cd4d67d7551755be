// A value of a Sigma rule, and what is wrong with one.

export type Scalar = string | number | boolean | null
export type Wrong = { readonly wrong: string }

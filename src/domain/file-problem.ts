// What is wrong with a file that a user wrote, and where.

export type FileProblem = { readonly file: string; readonly line?: number; readonly message: string }

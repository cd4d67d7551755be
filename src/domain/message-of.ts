// What was thrown, in words: anything may be.

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

// Types of pin-base.mjs for the tests.
export const pinned: (dockerfile: string, digest: string) => string

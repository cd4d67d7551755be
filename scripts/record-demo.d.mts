// Types of record-demo.mjs for the tests.
export const recordedLines: (svg: string) => readonly string[]

export const wordsOf: (text: string) => number
export const wordsPerPage: () => Record<string, number>

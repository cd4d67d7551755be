// Quotes a text as one word for a shell.

/** Quoted only if it has special characters. */
export const shellWord = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : inQuotes(text))

export const inQuotes = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

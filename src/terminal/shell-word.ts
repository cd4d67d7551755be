// A text as one word of a shell's command line.

/** Quoted where anything in it has a meaning for a shell. */
export const shellWord = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : inQuotes(text))

export const inQuotes = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

// Copies a substring, so that storing it does not keep the whole original text in memory.

/** V8 always copies shorter substrings. */
const alwaysCopied = 13

export const ownText = (text: string): string => (text.length < alwaysCopied ? text : ` ${text}`.slice(1))

// A text of its own, for whoever keeps it: a text cut from a longer one holds on to all of that one.

/** Shorter texts are copied when they are cut. */
const alwaysCopied = 13

/** An event of a megabyte must not stay in memory because a name in it is remembered. */
export const ownText = (text: string): string => (text.length < alwaysCopied ? text : ` ${text}`.slice(1))

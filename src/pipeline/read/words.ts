// A list of words as it is easiest to read and to extend: in one text, with blanks between them.

export const words = (list: string): readonly string[] => list.trim().split(/\s+/)

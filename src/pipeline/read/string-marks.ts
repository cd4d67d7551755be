// Marks, byte by byte, what a JSON string holds that matters to its reader.

/** Of a string's bytes: what makes it worth a look, what is beyond ASCII, and what a string cannot simply run over. */
export const dotted = 1
export const wide = 2
export const stop = 4
export const marks = new Uint8Array(256)
marks.fill(stop, 0, 0x20).fill(wide, 0x80)
marks[0x2e] = dotted
marks[0x3a] = dotted
marks[0x22] = stop
marks[0x5c] = stop

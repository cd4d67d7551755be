// Marks, byte by byte, what a JSON string holds that matters to its reader.

/** `dotted` makes a string worth a look, `wide` is beyond ASCII, and `stop` is what a string cannot simply run over. */
export const markBytes = (dotted: number, wide: number, stop: number): Uint8Array => {
  const marks = new Uint8Array(256)
  marks.fill(stop, 0, 0x20).fill(wide, 0x80)
  marks[0x2e] = dotted
  marks[0x3a] = dotted
  marks[0x22] = stop
  marks[0x5c] = stop
  return marks
}

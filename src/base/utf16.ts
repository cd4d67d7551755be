// Text that was saved as UTF-16, as Windows tools do, turned into UTF-8; anything else is left as it is.

/** With a byte order mark, or where every other byte of the beginning is zero, which no UTF-8 text has. */
export const asUtf8 = (bytes: Buffer): Buffer => {
  const order = orderOf(bytes)
  if (order === undefined) return bytes
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
  const text = (order === 'big' ? Buffer.from(even).swap16() : even).toString('utf16le')
  return Buffer.from(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, 'utf8')
}

const orderOf = (bytes: Buffer): 'little' | 'big' | undefined => {
  const [a, b, c, d] = bytes
  if (bytes.length < 4 || a === undefined || b === undefined) return undefined
  if (a === 0xff && b === 0xfe) return 'little'
  if (a === 0xfe && b === 0xff) return 'big'
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return 'little'
  return a === 0 && b !== 0 && c === 0 && d !== 0 ? 'big' : undefined
}

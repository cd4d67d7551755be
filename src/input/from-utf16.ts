// Converts UTF-16 input, as some Windows tools write it, to UTF-8.

/** Detected by the byte order mark; without one, UTF-16 looks like binary data. */
export const utf16Of = (head: Buffer): 'utf-16le' | 'utf-16be' | undefined => {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : undefined
}

/** Handles characters split between chunks; invalid ones become U+FFFD. */
export async function* fromUtf16(
  chunks: AsyncIterable<Buffer>,
  encoding: 'utf-16le' | 'utf-16be',
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }))
  const last = decoder.decode()
  if (last !== '') yield Buffer.from(last)
}

// Text in UTF-16, as some Windows tools write their logs, becomes UTF-8 on the way in; everything behind it knows nothing else.

/** By its byte order mark: without one, UTF-16 cannot be told from binary. */
export const utf16Of = (head: Buffer): 'utf-16le' | 'utf-16be' | undefined => {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : undefined
}

/** Characters may be cut between chunks; what is no character comes out as U+FFFD. */
export async function* fromUtf16(
  chunks: AsyncIterable<Buffer>,
  encoding: 'utf-16le' | 'utf-16be',
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }))
  const last = decoder.decode()
  if (last !== '') yield Buffer.from(last)
}

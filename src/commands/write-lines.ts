// Writes to a stream no faster than its reader reads.
import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Resolves when more may be written. */
export const write = async (stream: Writable, text: string | Buffer): Promise<void> => {
  if (text.length === 0 || stream.write(text)) return
  await once(stream, 'drain')
}

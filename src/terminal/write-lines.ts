// Writes to a stream no faster than its reader reads.
import type { Writable } from 'node:stream'

/** Resolves when all of it is written, and rejects where it is not. */
export const write = (stream: Writable, text: string | Buffer): Promise<void> =>
  text.length === 0
    ? Promise.resolve()
    : new Promise((done, fail) => void stream.write(text, (error) => (error ? fail(error) : done())))

/** Lines of JSON, which hold what an event or an answer says: a terminal gets no control character of it, but its escape. */
export const writeJson = (stream: Writable & { readonly isTTY?: boolean }, text: string | Buffer): Promise<void> =>
  write(stream, stream.isTTY === true ? text.toString().replace(controls, escapeOf) : text)

/** Those that JSON lets stand as they are: DEL, the second set of controls, separators, and what turns the direction. */
const controls = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g
const escapeOf = (control: string): string => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`

// Writes to a stream with backpressure.
import type { Writable } from 'node:stream'

/** Resolves when everything is written. */
export const write = (stream: Writable, text: string | Buffer): Promise<void> =>
  text.length === 0
    ? Promise.resolve()
    : new Promise((done, fail) => void stream.write(text, (error) => (error ? fail(error) : done())))

/** Writes lines of JSON; on a terminal, control characters are escaped. */
export const writeJson = (stream: Writable & { readonly isTTY?: boolean }, text: string | Buffer): Promise<void> =>
  write(stream, stream.isTTY === true ? text.toString().replace(controls, escapeOf) : text)

/** Control characters that JSON does not escape: DEL, C1 controls, line separators and bidirectional controls. */
const controls = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g
const escapeOf = (control: string): string => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`

// Writes to a stream with backpressure.
import type { Writable } from 'node:stream'
import { escapeJsonControls } from '../domain/control-characters.js'

/** Resolves when everything is written. */
export const write = (stream: Writable, text: string | Buffer): Promise<void> =>
  text.length === 0
    ? Promise.resolve()
    : new Promise((done, fail) => void stream.write(text, (error) => (error ? fail(error) : done())))

/** Writes lines of JSON; on a terminal, control characters are escaped. */
export const writeJson = (stream: Writable & { readonly isTTY?: boolean }, text: string | Buffer): Promise<void> =>
  write(stream, stream.isTTY === true ? escapeJsonControls(text.toString()) : text)

// Reads lines as bytes from files (also gzip and UTF-16) or standard input, one chunk at a time.
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { UsageError } from '../terminal/command.js'
import { createLineSplitter } from './split-lines.js'
import { splitArray, startsArray, type Line } from './split-array.js'

/** An input that cannot be read. */
class InputError extends Error {
  constructor(name: string, { message }: Error) {
    super(`${name === '-' ? 'standard input' : name}: ${message}`)
  }
}

/** Runs work that reads input files; a file that cannot be read is a usage error, not a bug. */
export const withInputErrors = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof InputError) throw new UsageError(`cannot read the input ${error.message}`)
    throw error
  }
}

/** No file, or `-`, means standard input. Throws if a file cannot be read; `signal` ends the iteration at once. */
export async function* readLines(
  files: readonly string[],
  stdin: Readable,
  signal?: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  for (const name of files.length === 0 ? ['-'] : files) {
    const raw = name === '-' ? stdin : createReadStream(name, { highWaterMark: 256 * 1024 })
    const stop = (): void => void raw.destroy()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      yield* splitEvents(await unpack(raw), name)
    } catch (error) {
      if (signal?.aborted === true) return
      throw isSystemError(error) ? new InputError(name, error) : error
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }
}

/** System errors; Node's own `ERR_…` codes are bugs. */
const isSystemError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && !error.code.startsWith('ERR_')

/** UTF-16, as some Windows tools write it, is detected by the byte order mark; without one, UTF-16 looks like binary data. */
const utf16Of = (head: Buffer): 'utf-16le' | 'utf-16be' | undefined => {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : undefined
}

/** Handles characters split between chunks; invalid ones become U+FFFD. */
async function* fromUtf16(chunks: AsyncIterable<Buffer>, encoding: 'utf-16le' | 'utf-16be'): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }))
  const last = decoder.decode()
  if (last !== '') yield Buffer.from(last)
}

/** Splits a JSON array of objects into its elements, anything else into lines. */
async function* splitEvents(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<readonly Line[]> {
  const rest = chunks[Symbol.asyncIterator]()
  const first = await rest.next()
  if (first.done === true) return
  const encoding = utf16Of(first.value)
  if (encoding === undefined)
    yield* (startsArray(first.value) ? splitArray : splitLines)(startingWith(first.value, rest), name)
  else yield* splitEvents(fromUtf16(startingWith(first.value, rest), encoding), name)
}

/** Detects gzip by content, not by file name. */
const unpack = async (raw: Readable): Promise<AsyncIterable<Buffer>> => {
  const chunks = raw[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>
  const first = await chunks.next()
  if (first.done === true) return empty()
  const head = toBuffer(first.value)
  const rest = startingWith(head, chunks)
  if (!(head[0] === 0x1f && head[1] === 0x8b)) return rest
  const gunzip = createGunzip()
  const { pipeline } = await import('node:stream')
  // Errors reach the reader of `gunzip`; pipeline only requires a callback.
  pipeline(rest, gunzip, () => undefined)
  return gunzip
}

async function* empty(): AsyncGenerator<Buffer> {
  // Yields nothing.
}

async function* startingWith(head: Buffer, chunks: AsyncIterator<Buffer | string>): AsyncGenerator<Buffer> {
  yield head
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield toBuffer(next.value)
}

const toBuffer = (chunk: Buffer | string): Buffer => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)

/** Yields the lines that each chunk completes. */
async function* splitLines(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<readonly Line[]> {
  const splitter = createLineSplitter()
  let number = 0
  const toLine = (bytes: Buffer): Line => ({ bytes, origin: `${name}:${++number}` })
  for await (const chunk of chunks) {
    const lines = splitter.push(chunk)
    if (lines.length > 0) yield lines.map(toLine)
  }
  const last = splitter.end()
  if (last.length > 0) yield last.map(toLine)
}

// Splits a JSON array of objects into its elements as bytes.

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const open = new Set([0x5b, 0x7b])
const close = new Set([0x5d, 0x7d])

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Whether the input starts with `[` and `{`; a text line may start with a bracket too. */
export const startsArray = (head: Buffer): boolean => {
  let at = head[0] === 0xef ? 3 : 0
  while (isBlank(head[at])) at++
  if (head[at] !== 0x5b) return false
  at++
  while (isBlank(head[at])) at++
  return head[at] === 0x7b
}

/** One line, or one element of an array, of what is read. */
export type Line = {
  readonly bytes: Buffer
  /** `file:line`, counted from 1; `-` for standard input. */
  readonly origin: string
}

/** Elements are numbered from 1. Incomplete or trailing input becomes the last element. */
export async function* splitArray(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<readonly Line[]> {
  let held: Buffer[] = []
  let depth = 0
  let isText = false
  let isEscaped = false
  let number = 0
  const take = (end: Buffer): Line | undefined => {
    const bytes = onOneLine(trim(held.length === 0 ? end : Buffer.concat([...held, end])))
    held = []
    return bytes.length === 0 ? undefined : { bytes, origin: `${name}:${++number}` }
  }
  for await (const chunk of chunks) {
    const lines: Line[] = []
    let from = 0
    const cut = (to: number): void => {
      const line = take(chunk.subarray(from, to))
      if (line) lines.push(line)
      from = to + 1
    }
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) isText = false
      } else if (byte === quote) isText = true
      else if (open.has(byte)) {
        if (depth++ === 0) cut(at)
      } else if (close.has(byte)) {
        if (depth > 0 && --depth === 0) cut(at)
      } else if (byte === comma && depth === 1) cut(at)
    }
    if (from < chunk.length) held.push(chunk.subarray(from))
    if (lines.length > 0) yield lines
  }
  const last = take(Buffer.alloc(0))
  if (last) yield [last]
}

/** Replaces newlines between members by spaces, so that an event is one line of output. */
const onOneLine = (bytes: Buffer): Buffer => {
  if (!bytes.includes(0x0a) && !bytes.includes(0x0d)) return bytes
  const line = Buffer.from(bytes)
  for (let at = 0; at < line.length; at++) if (line[at] === 0x0a || line[at] === 0x0d) line[at] = 0x20
  return line
}

const trim = (bytes: Buffer): Buffer => {
  let from = 0
  let to = bytes.length
  while (from < to && isBlank(bytes[from])) from++
  while (to > from && isBlank(bytes[to - 1])) to--
  return bytes.subarray(from, to)
}

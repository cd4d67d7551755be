// Splits a stream of bytes into lines, holding at most one line.

type LineSplitter = {
  /** The lines that this chunk completes. */
  readonly push: (chunk: Buffer) => Buffer[]
  /** The last line, if it has no newline. */
  readonly end: () => Buffer[]
}

/** Longer lines are split, so that no input can exhaust the memory. */
const maxLineBytes = 64 * 1024 * 1024

const newline = 0x0a
const carriageReturn = 0x0d

/** A carriage return before the newline is dropped. */
export const createLineSplitter = (): LineSplitter => {
  let held: Buffer[] = []
  let heldBytes = 0
  const take = (end: Buffer): Buffer => {
    const line = held.length === 0 ? end : Buffer.concat([...held, end])
    held = []
    heldBytes = 0
    return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
  }
  return {
    push: (chunk) => {
      const lines: Buffer[] = []
      let from = 0
      for (let to = chunk.indexOf(newline); to >= 0; to = chunk.indexOf(newline, from)) {
        lines.push(take(chunk.subarray(from, to)))
        from = to + 1
      }
      if (from < chunk.length) {
        held.push(chunk.subarray(from))
        heldBytes += chunk.length - from
        if (heldBytes >= maxLineBytes) lines.push(take(Buffer.alloc(0)))
      }
      return lines
    },
    end: () => (heldBytes > 0 ? [take(Buffer.alloc(0))] : []),
  }
}

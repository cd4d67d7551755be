// Iterates over the lines of a buffer without converting all of it to one string.

const blockBytes = 1 << 20
const newline = 10

/** A line longer than a block is passed on truncated, which no parser accepts as an entry. Stops when `each` returns false. */
export const forEachLine = (bytes: Buffer, each: (line: string, number: number) => boolean): void => {
  let start = bytes.length > 2 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  let number = 1
  while (start < bytes.length) {
    let end = Math.min(start + blockBytes, bytes.length)
    let isCut = false
    if (end < bytes.length) {
      const last = bytes.lastIndexOf(newline, end - 1)
      if (last >= start) end = last + 1
      else isCut = true
    }
    const text = bytes.toString('utf8', start, end)
    let from = 0
    while (from < text.length) {
      const at = text.indexOf('\n', from)
      const to = at < 0 ? text.length : at
      const line = text.charCodeAt(to - 1) === 13 && to > from ? text.slice(from, to - 1) : text.slice(from, to)
      if (!each(line, number)) return
      if (at >= 0) number++
      from = to + 1
    }
    if (isCut) {
      const next = bytes.indexOf(newline, end)
      end = next < 0 ? bytes.length : next + 1
      number++
    }
    start = end
  }
}

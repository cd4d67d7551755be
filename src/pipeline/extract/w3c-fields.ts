// Remembers the `#Fields` header of a W3C extended log and reads the lines after it by its column names.
import { readPair, type Reader } from './reader.js'

const prefix = '#Fields:'
const maxColumns = 128
const maxHeader = 4096
const maxLine = 65_536

/** Returns whether the line is such a header, or one that the last header describes. Sound only if one source is read at a time. */
export const createW3cFields = (reader: Reader): ((text: string) => boolean) => {
  let columns: readonly string[] = []
  return (text) => {
    if (text.startsWith(prefix) && text.length <= maxHeader) {
      const named = text.slice(prefix.length).match(/\S+/g) ?? []
      columns = named.length > maxColumns || named.length < 3 ? [] : named
      return true
    }
    if (columns.length === 0 || text.length > maxLine) return false
    const cells = text.match(/"[^"]*"|[^\s"]\S*/g) ?? []
    const when = cells[columns.findIndex((name) => name === 'date' || name === 'time')] ?? ''
    if (cells.length !== columns.length || !/^(?:\d{4}-\d{2}-\d{2}$|\d{2}:\d{2})/.test(when)) return false
    columns.forEach((name, at) => {
      const value = (cells[at] ?? '').replace(/^"|"$/g, '')
      if (value !== '-') readPair(reader, name, value, 0)
    })
    return true
  }
}

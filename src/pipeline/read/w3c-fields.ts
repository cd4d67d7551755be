// Remembers the `#Fields` header of a W3C extended log and reads the lines behind it by the names it gave their columns.
import { readByRule, readPair, type Reader } from './reader.js'

export type W3cFields = {
  /** Whether the line is one that the last header describes, or such a header. */
  readonly read: (reader: Reader, text: string) => boolean
}

const prefix = '#Fields:'
const maxColumns = 128
const maxHeader = 4096
const maxLine = 65_536

/** Columns whose words say something else than their values do. */
const unread = /^(?:cs-uri-query|cs\((?:user-agent|cookie)\)|cs-version|s-sitename|s-computername|x-edge-.*|date|time)$/
const cell = /"[^"]*"|[^\s"]\S*/g

/** Sound only where one source is read at a time: another's lines may have as many columns under other names. */
export const createW3cFields = (): W3cFields => {
  let columns: readonly string[] = []
  let isProxy = false
  return {
    read: (reader, text) => {
      if (text.charCodeAt(0) === 0x23) {
        if (!text.startsWith(prefix) || text.length > maxHeader) return false
        const named = text
          .slice(prefix.length)
          .trim()
          .split(/\s+/, maxColumns + 1)
        columns = named.length > maxColumns || named.length < 3 ? [] : named
        // A proxy's own address is no end of the connection.
        isProxy = columns.includes('s-action') || columns.includes('r-ip') || columns.includes('s-supplier-ip')
        return true
      }
      if (columns.length === 0 || text.length > maxLine) return false
      const cells = text.match(cell) ?? []
      if (cells.length !== columns.length || !isDated(columns, cells)) return false
      columns.forEach((name, at) => {
        const value = (cells[at] ?? '').replace(/^"|"$/g, '')
        if (value === '-' || unread.test(name.toLowerCase())) return
        if (isProxy && name === 's-ip') readByRule(reader, { reads: 'host', role: 'observer' }, name, value, 0)
        else readPair(reader, name, value, 0)
      })
      return true
    },
  }
}

/** The columns that tell the time hold one: the line is of the header's kind. */
const isDated = (columns: readonly string[], cells: readonly string[]): boolean => {
  const date = columns.indexOf('date')
  const time = columns.indexOf('time')
  if (date < 0 && time < 0) return false
  return (
    (date < 0 || /^\d{4}-\d{2}-\d{2}$/.test(cells[date] ?? '')) && (time < 0 || /^\d{2}:\d{2}/.test(cells[time] ?? ''))
  )
}

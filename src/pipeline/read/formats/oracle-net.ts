// Reads the addresses of Oracle's network layer: who connected stands in `(ADDRESS=(PROTOCOL=tcp)(HOST=192.0.2.1)(PORT=51040))`.
import { readLater } from '../reader.js'
import { place, type Format } from './format.js'

const address = /\(ADDRESS=\(PROTOCOL=[a-z]{2,8}\)\(HOST=([^()\s]{2,255})\)\(PORT=\d{1,5}\)\)/i

export const readOracleNet: Format = (reader, line) => {
  if (!line.body.includes('(ADDRESS=')) return false
  const found = address.exec(line.body.slice(0, 4096))
  if (found === null) return false
  place(reader, line, found[1], 'source')
  const rest = line.body.replace(found[0], ' ')
  reader.action.seeText(rest)
  readLater(reader, rest, line.field, true)
  return true
}

// Reads the native lines of Citrix NetScaler: behind its own header a message that begins with the client or names each end.
import { readLater } from '../reader.js'
import type { Format } from './format.js'

const header = /\b\d{1,3}-PPE-\d{1,3} : (?:[\w.-]{1,64} ){2,6}\d{1,12} \d{1,12} : {1,2}/

export const readNetscaler: Format = (reader, line) => {
  if (!line.whole.includes('-PPE-')) return false
  const mark = header.exec(line.whole.length > 400 ? line.whole.slice(0, 400) : line.whole)
  if (!mark) return false
  const message = line.whole.slice(mark.index + mark[0].length)
  reader.action.seeText(message)
  readLater(reader, message, line.field, true)
  return true
}

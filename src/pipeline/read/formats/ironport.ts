// Reads how Cisco's mail gateways tell of a connection: on which of their own addresses, and with whom; mail comes in (ICID) or is delivered (DCID).
import { place, type Format } from './format.js'

const connection =
  /\bNew SMTP ([ID])CID \d{1,12} interface (?:[^\s()]{1,64} \()?([\da-fA-F.:]{3,45})\)? address ([\da-fA-F.:]{3,45})\b/

export const readIronport: Format = (reader, line) => {
  const found = line.body.includes('New SMTP ') ? connection.exec(line.body) : null
  if (!found) return false
  place(reader, line, found[2], 'observer')
  place(reader, line, found[3], found[1] === 'I' ? 'source' : 'destination')
  return true
}

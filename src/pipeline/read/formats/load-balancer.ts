// Reads the access and connection logs of AWS load balancers: time, name, client:port, target:port.
import { readUrl } from '../value.js'
import { place, type Format } from './format.js'

const stamp = String.raw`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z?`
const end = String.raw`(-|\[?[\da-fA-F.:]{3,45}\]?:\d{1,5})`
const request = new RegExp(
  String.raw`^(?:(?:https?|h2|grpcs|wss?) )?${stamp} \S{1,256} ${end} ${end} -?\d.{0,200}?"\S{1,20} (\S{1,4096})[^"]{0,4096}"`,
)
const network = new RegExp(
  String.raw`^tls \d\.\d ${stamp} \S{1,256} \S{1,64} ${end} ${end} (?:\S{1,256} ){10}(\S{1,256})`,
)
const connection = new RegExp(String.raw`^${stamp} ([\da-fA-F.:]{3,45}) \d{1,5} \d{1,5} (?:-|TLSv[\d.]{1,4}) \S{1,64} `)

export const readLoadBalancer: Format = (reader, line) => {
  const text = line.whole
  const first = text.charCodeAt(0)
  // A year, or one of: grpcs h2 http https tls ws wss.
  if (first !== 0x32 && first !== 0x67 && first !== 0x68 && first !== 0x74 && first !== 0x77) return false
  const match = request.exec(text) ?? network.exec(text)
  if (match) {
    place(reader, line, match[1], 'source')
    place(reader, line, match[2], 'destination')
    if (match[3] !== undefined) readUrl(match[3], line.field, reader.sightings)
    return true
  }
  const plain = connection.exec(text)
  place(reader, line, plain?.[1], 'source')
  return plain !== null
}

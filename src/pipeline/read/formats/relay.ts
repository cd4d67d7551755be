// Tells from a line of Sendmail, or of a mail server that writes like it, who the relay is: mail `to=` went to it, other mail came from it.
import { place, type Format } from './format.js'

const relay = /\brelay=([^\s,[\]]{1,255})? ?\[([\da-fA-F.:]{3,45})\]/
/** Courier writes no more than the address: `error,relay=::ffff:192.0.2.1,from=…`. */
const bare = /\brelay=((?:::ffff:)?\d{1,3}(?:\.\d{1,3}){3}|[\da-fA-F]{1,4}:[\da-fA-F:]{2,40})(?=[\s,;]|$)/
const recipient = /(?:^|[\s,"])to=/
const refusal = /\breject=[45]\d\d\b/

export const readRelay: Format = (reader, line) => {
  if (!line.body.includes('relay=')) return false
  const text = line.body.length > 2000 ? line.body.slice(0, 2000) : line.body
  const host = relay.exec(text)
  if (host) {
    const role = recipient.test(text.slice(0, host.index)) ? 'destination' : 'source'
    place(reader, line, host[2], role)
    if (host[1]?.includes('.') === true) place(reader, line, host[1], role)
  }
  const only = host ? null : bare.exec(text)
  if (only) place(reader, line, only[1], recipient.test(text.slice(0, only.index)) ? 'destination' : 'source')
  if (refusal.test(text)) reader.action.see(1, 'action', 'rejected')
  return false
}

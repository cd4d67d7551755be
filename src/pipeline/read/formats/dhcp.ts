// Reads the ISC and dnsmasq DHCP servers: the lease is the client, the server's own address stands in parentheses.
import { tokensOf } from '../text.js'
import { place, type Format } from './format.js'

const message = /\bDHCP(?:DISCOVER|OFFER|REQUEST|DECLINE|ACK|NAK|RELEASE|INFORM|LEASEQUERY)\b/
const lease = /\b(?:on|for|of|from) ([\da-fA-F.:]{3,45})(?: \(([\da-fA-F.:]{3,45})\))?/g
const dnsmasq = /\bDHCP[A-Z]+\([\w.-]+\) ([\da-fA-F.:]{7,45}) /

export const readDhcp: Format = (reader, line) => {
  if (!message.test(line.body)) {
    if (!/^dhcp/.test(line.program)) return false
    for (const token of tokensOf(line.body, reader.sightings, true))
      if (token.kind === 'address') reader.sightings.add('ip', token.value, line.field, 'source', 'field')
    return true
  }
  const short = dnsmasq.exec(line.body)
  if (short) place(reader, line, short[1], 'source')
  for (const found of line.body.matchAll(lease)) {
    place(reader, line, found[1], 'source')
    place(reader, line, found[2], 'destination')
  }
  const relay = /\bvia ([\d.]{7,15})\b/.exec(line.body)
  place(reader, line, relay?.[1], 'observer')
  return true
}

// Reads the default access log of Envoy, and what Istio adds to it: the last quoted values and the addresses behind them tell the ends.
import { parseAddress } from '../../../domain/address.js'
import { readUrl } from '../value.js'
import { place, type Format } from './format.js'

const request =
  /\[\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z?\] "[A-Z-]{1,16}(?: (\S{1,4096}))? [^\s"]{1,16}" \d{1,3} /
const quoted = /"([^"]{0,2048})"/g
const maxLine = 16_384

export const readEnvoy: Format = (reader, line) => {
  const text = line.whole.length > maxLine ? line.whole.slice(0, maxLine) : line.whole
  const start = text.indexOf('[')
  if (start < 0 || start > 80 || text.charCodeAt(start + 5) !== 0x2d) return false
  const asked = request.exec(text)
  if (!asked) return false
  const rest = text.slice(asked.index + asked[0].length)
  const values = [...rest.matchAll(quoted)]
  // "forwarded for" "agent" "request id" "authority" "upstream host"
  const last = values.slice(-5)
  if (last.length < 5) return false
  const [forwarded, , , authority, upstream] = last.map(([, value]) => value)
  // cluster, upstream's local address, downstream's local address, downstream's remote address, server name
  const tail = rest.slice((last[4]?.index ?? 0) + (last[4]?.[0].length ?? 0)).split(' ', 8)
  place(reader, line, tail[4], 'source')
  place(reader, line, forwarded, 'source')
  const hasUpstream = place(reader, line, upstream, 'destination')
  place(reader, line, tail[3], hasUpstream ? 'other' : 'destination')
  place(reader, line, tail[2], 'other')
  if (authority !== undefined && authority.includes('.')) place(reader, line, authority, 'url')
  if (tail[5]?.includes('.') === true && parseAddress(tail[5]) === undefined) place(reader, line, tail[5], 'query')
  if (asked[1] !== undefined) readUrl(asked[1], line.field, reader.sightings)
  return true
}

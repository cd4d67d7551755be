// Tells from the prefix of an iptables, nftables, UFW or Junos filter line what the rule did; the rest is read as pairs or text.
import type { Format } from './format.js'

export const readNetfilter: Format = (reader, line) => {
  // Junos: FW: ge-0/0/0.0 D tcp 192.0.2.1 198.51.100.1 4711 443
  const filter = line.whole.includes('FW: ') ? /\bFW: \S{2,40} +([ADR]) /.exec(line.whole)?.[1] : undefined
  if (filter !== undefined) reader.action.see(1, 'action', filter)
  const at = line.whole.indexOf('IN=')
  if (at < 0 || !line.whole.includes('SRC=', at) || !line.whole.includes('DST=', at)) return false
  const prefix = line.whole.slice(Math.max(0, at - 80), at)
  // EdgeOS and UniFi end the rule's name in A, D or R.
  const letter = /-(?:\d{1,6}|default)-([ADR])\]?\s*$/.exec(prefix)?.[1]
  if (letter !== undefined) reader.action.see(1, 'action', letter)
  else
    for (const word of prefix.split(/[^A-Za-z]+/).reverse()) if (word.length > 3) reader.action.see(3, 'prefix', word)
  return false
}

// Tells from the prefix of an iptables, nftables or UFW line what the rule did; its fields are key=value.
import type { Format } from './format.js'

export const readNetfilter: Format = (reader, line) => {
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

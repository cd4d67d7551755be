// Reads response policy zones: the names and addresses that a DNS server should block.
import type { Parser } from './feed.js'
import { forEachLine } from './lines.js'

/** `name [ttl] [IN] TYPE data` without comments; an empty owner repeats the owner of the previous line. */
const record =
  /^(\S*)\s+(?:\d+[smhdw]?\s+)?(?:IN\s+)?(?:\d+[smhdw]?\s+)?(A|AAAA|CNAME|DNAME|MX|NS|PTR|SOA|SRV|TXT)\s+(.+)$/i

export const looksLikeZone = (start: string): boolean =>
  /^(?:\$(?:TTL|ORIGIN)\s|\S+\s+(?:\d+\s+)?(?:IN\s+)?(?:SOA\s|CNAME\s+(?:\*?\.|rpz-)))/im.test(start)

/** Records about the zone itself, not about a listed name. */
const zoneRecords = new Set(['SOA', 'NS'])

export const parseZone: Parser = (bytes, sink) => {
  let origin = ''
  let owner = ''
  let depth = 0
  forEachLine(bytes, (line, number) => {
    const text = line.replace(/;.*$/, '').trimEnd()
    const isInside = depth > 0
    depth += count(text, '(') - count(text, ')')
    if (text.trim() === '' || isInside) return true
    if (text.startsWith('$')) {
      origin = /^\$ORIGIN\s+(\S+?)\.?$/i.exec(text)?.[1]?.toLowerCase() ?? origin
      return true
    }
    const found = record.exec(text)
    if (!found) return sink.skip(number)
    owner = found[1] || owner
    const type = (found[2] ?? '').toUpperCase()
    const data = (found[3] ?? '').trim()
    if (type === 'SOA' && owner.endsWith('.') && origin === '') origin = owner.slice(0, -1).toLowerCase()
    if (zoneRecords.has(type) || owner === '@') return true
    if (isAllowed(type, data, owner)) return sink.skip(number, 'harmless')
    const trigger = relativeTo(owner, origin)
    if (/\.rpz-(?:client-ip|nsip|nsdname)$/i.test(trigger)) return sink.skip(number, 'not_looked_up')
    if (!/\.rpz-ip$/i.test(trigger)) return sink.add(trigger, number)
    const range = rangeOf(trigger)
    return range === undefined ? sink.skip(number) : sink.add(range, number)
  })
  return undefined
}

const count = (text: string, sign: string): number => text.split(sign).length - 1

/** An exception to the zone's other rules: `rpz-passthru.`, or in the old notation a CNAME to the name itself. */
const isAllowed = (type: string, data: string, owner: string): boolean =>
  type === 'CNAME' && (/^rpz-passthru\.?$/i.test(data) || data.replace(/\.$/, '') === owner.replace(/\.$/, ''))

const relativeTo = (owner: string, origin: string): string => {
  const name = owner.toLowerCase().replace(/\.$/, '')
  return origin !== '' && name.endsWith(`.${origin}`) ? name.slice(0, -origin.length - 1) : name
}

/** `24.0.100.51.198.rpz-ip` is 198.51.100.0/24, `48.zz.1.db8.2001.rpz-ip` 2001:db8:1::/48. */
const rangeOf = (trigger: string): string | undefined => {
  const [bits, ...reversed] = trigger.replace(/\.rpz-ip$/i, '').split('.')
  const parts = reversed.toReversed()
  if (parts.length === 4 && parts.every((part) => /^\d+$/.test(part))) return `${parts.join('.')}/${bits}`
  if (parts.length < 2) return undefined
  const text = parts.map((part) => (part === 'zz' ? '' : part)).join(':')
  return `${text.replace(/^:/, '::').replace(/:$/, '::').replace(/:{3,}/, '::')}/${bits}`
}

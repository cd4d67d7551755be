// Reads what name servers log: CoreDNS, BIND and Infoblox, Unbound, dnsmasq and Pi-hole, PowerDNS, Windows DNS.
import { place, type Format, type Line } from './format.js'
import { readLater, type Reader } from '../reader.js'

const types =
  'A|AAAA|CNAME|MX|NS|PTR|SOA|SRV|TXT|HTTPS|SVCB|ANY|DS|DNSKEY|NAPTR|CAA|TLSA|NULL|HINFO|SPF|TYPE\\d{1,5}|RRSIG|NSEC3?|LOC|AXFR|IXFR'
const name = '([^\\s"]{1,255}?)\\.?'
const host = '\\[?([\\da-fA-F.:]{2,45}?)\\]?'

type Pattern = readonly [RegExp, (reader: Reader, line: Line, match: RegExpExecArray) => void]

const asked = (reader: Reader, line: Line, client: string | undefined, query: string | undefined): void => {
  place(reader, line, client, 'source')
  place(reader, line, query, 'query')
}

/** Where the question came in stands behind its type, or last of all. */
const server = /\bIN [A-Z][A-Z\d]{0,9} (?:[+-]\S{0,16} )?\(([\da-fA-F.:]{3,45})\)|\(([\da-fA-F.:]{3,45})\)\s*$/

const serverOf = (text: string): string | undefined => {
  const found = server.exec(text)
  return found?.[1] ?? found?.[2]
}

const patterns: readonly Pattern[] = [
  // CoreDNS: [INFO] 192.0.2.1:42114 - 64820 "A IN host.example.com. udp 57 false 1232" NOERROR …
  // Azure: DNS Request: 192.0.2.1:42114 - 64820 A IN host.example.com. udp 57 false 1232 NOERROR …
  [
    new RegExp(`^(?:\\[\\w+\\] |DNS Request: )?${host}:\\d{1,5} - \\d{1,5} "?(?:${types}) [A-Z]{2} ${name} `),
    (reader, line, match) => asked(reader, line, match[1], match[2]),
  ],
  // CoreDNS: plugin/errors: 2 host.example.com. A: dial tcp 192.0.2.53:853: i/o timeout
  [
    new RegExp(`plugin/errors: \\d{1,3} ${name} (?:${types}): (.*)$`),
    (reader, line, match) => {
      asked(reader, line, undefined, match[1])
      const way = /([\da-fA-F.:[\]]{3,48})->([\da-fA-F.:[\]]{3,48}?):? /.exec(match[2] ?? '')
      if (way) {
        place(reader, line, way[1], 'source')
        place(reader, line, way[2], 'destination')
      } else place(reader, line, /(?:tcp|udp) (\S{3,48}?):? /.exec(match[2] ?? '')?.[1], 'destination')
    },
  ],
  // BIND: connection refused resolving 'host.example.com/A/IN': 192.0.2.53#53
  [
    new RegExp(`\\bresolving '?${name}/(?:${types})(?:/IN)?'?: ${host}#\\d{1,5}`),
    (reader, line, match) => {
      asked(reader, line, undefined, match[1])
      place(reader, line, match[2], 'destination')
    },
  ],
  // BIND: DNS format error from 192.0.2.53#53 resolving host.example.com/A for 192.0.2.1#4711: …
  [
    new RegExp(`${host}#\\d{1,5} resolving '?${name}/(?:${types})(?:/IN)?'? for (?:client )?${host}#\\d{1,5}`),
    (reader, line, match) => {
      place(reader, line, match[1], 'destination')
      asked(reader, line, match[3], match[2])
    },
  ],
  // BIND: client @0x7f 192.0.2.1#4711 (host.example.com): query: host.example.com IN A +E(0)K (192.0.2.53)
  // BIND: client 192.0.2.1#4711: updating zone 'example.com/IN': adding an RR at 'host.example.com' A 198.51.100.1
  // EfficientIP: List Matched 192.0.2.1#4711: query: host.example.com IN A (192.0.2.53) {list}
  [
    new RegExp(
      `(?:client (?:@0x[0-9a-f]{1,16} )?|\\w (?=[\\da-fA-F.:]{2,45}#\\d{1,5}: (?:query|answer)))${host}#\\d{1,5}(?: \\(${name}\\))?:? `,
    ),
    (reader, line, match) => {
      const rest = line.body.slice(match.index + match[0].length, match.index + match[0].length + 1000)
      const named =
        match[2] ?? /\b(?:query|answer|update|zone transfer|notify)[^:']{0,40}[:'] ?'?([^\s"'/]{1,255})/.exec(rest)?.[1]
      asked(reader, line, match[1], named)
      place(reader, line, serverOf(rest), 'destination')
      if (/\b(?:denied|rpz QNAME|NXDOMAIN rewrite)\b/i.test(rest)) reader.action.see(1, 'action', 'denied')
      const answers = rest.indexOf('response: ')
      if (answers >= 0)
        for (const [, value] of rest.slice(answers).matchAll(/ IN (?:A|AAAA|CNAME) ([^\s;]{1,255})/g))
          place(reader, line, value, 'answer')
      else readLater(reader, rest, line.field)
    },
  ],
  // Unbound: [26931:0] info: 192.0.2.1 host.example.com. A IN
  [
    new RegExp(`(?:info|reply|query): ${host} ${name} (?:${types}) [A-Z]{2}\\b`),
    (reader, line, match) => asked(reader, line, match[1], match[2]),
  ],
  // dnsmasq: query[A] host.example.com from 192.0.2.1; reply host.example.com is 198.51.100.1; forwarded … to …
  [
    new RegExp(`\\bquery\\[[A-Z0-9=]{1,12}\\] ${name} from ${host}(?:\\s|$)`),
    (reader, line, match) => asked(reader, line, match[2], match[1]),
  ],
  [
    new RegExp(
      `\\b(?:reply|cached|config|/etc/\\S{1,64}|gravity blocked|regex blacklisted|exactly blacklisted) ${name} is (\\S{1,255})`,
    ),
    (reader, line, match) => {
      // With more detail, the query's number and who asked: `5123 192.0.2.1/53211 reply …`.
      const before = line.body.slice(Math.max(0, match.index - 64), match.index)
      asked(reader, line, /\d ([\da-fA-F.:]{3,45})\/\d{1,5} $/.exec(before)?.[1], match[1])
      place(reader, line, match[2], 'answer')
      if (/blocked|blacklisted/.test(match[0])) reader.action.see(1, 'action', 'blocked')
    },
  ],
  [
    new RegExp(`\\bforwarded ${name} to ${host}(?:\\s|$)`),
    (reader, line, match) => {
      asked(reader, line, undefined, match[1])
      place(reader, line, match[2], 'destination')
    },
  ],
  // PowerDNS: Remote 192.0.2.1 wants 'host.example.com|A'
  [
    new RegExp(`Remote ${host}(?:<-\\S{1,64})? wants '${name}\\|`),
    (reader, line, match) => asked(reader, line, match[1], match[2]),
  ],
  // PowerDNS: Answer to host.example.com|A for [2001:db8::1]:49913 validates as Bogus
  [
    new RegExp(
      `(?:question for|Answer to(?: question)?) '?${name}\\|(?:${types})'? (?:from|for) ${host}(?::\\d{1,5})?(?=\\s|$)`,
    ),
    (reader, line, match) => asked(reader, line, match[2], match[1]),
  ],
  // Windows DNS: … UDP Rcv 192.0.2.1 0002   Q [0001   D   NOERROR] A      (4)host(7)example(3)com(0)
  [
    /(?:UDP|TCP) (Rcv|Snd) ([\da-fA-F.:]{3,45}) .{1,80}?((?:\(\d{1,3}\)[^\s()]{1,63}){1,32}\(0\))/,
    (reader, line, match) => {
      place(reader, line, match[2], match[1] === 'Rcv' ? 'source' : 'destination')
      place(reader, line, (match[3] ?? '').replace(/^\(\d+\)|\(0\)$/g, '').replace(/\(\d+\)/g, '.'), 'query')
    },
  ],
]

export const readDnsQuery: Format = (reader, line) => {
  // Lines of pairs are the most common of all, and no name server writes any.
  if (line.body.includes('=') && !line.body.includes('client ') && !line.body.includes('query')) return false
  if (!mayBeQuery.test(line.body)) return false
  const body = line.body.length > 1200 ? line.body.slice(0, 1200) : line.body
  for (const [pattern, read] of patterns) {
    const match = pattern.exec(body)
    if (!match) continue
    read(reader, line, match)
    return true
  }
  return false
}

const mayBeQuery =
  /query|question for |Answer to |resolving |plugin\/errors|info: |reply|cached|forwarded|blocked|blacklisted|wants '|client |\(0\)|" [A-Z]{5,9} |config | IN /

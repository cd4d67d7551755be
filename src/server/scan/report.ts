// What a scan saw becomes a report in the provider's shape; what it did not look at is left out, not claimed to be fine.
import { timeText, type JsonObject } from '../answer.js'
import { ratingOf } from '../local/dossier.js'
import { domainScore } from '../local/domain-score.js'
import { certificateFault, commonName, validityOf } from './certificate.js'
import type { ScanSurroundings, Seen } from './seen.js'
import { summarise } from './summary.js'
import type { Visit } from './visit.js'

export const composeReport = (seen: Seen, surroundings: ScanSurroundings): JsonObject => {
  const { target, records, visits, secure, now } = seen
  const last = visits.at(-1)
  const scoreOf = (ip: string): string | undefined => ratingOf(surroundings.listingsOf({ type: 'ip', value: ip }))
  const listings = target.isAddress ? [] : surroundings.listingsOf({ type: 'domain', value: target.host })
  const addresses = [...new Set(visits.map(({ address }) => address))]
  return {
    certificates: secure?.tls ? [certificateRow(secure.tls)] : [],
    connected_ip: addresses.map((ip) => ({ ip, score: scoreOf(ip) })),
    connected_ip_info: addresses.map((ip) => {
      const place = surroundings.placeOf(ip)
      const here = visits.filter(({ address }) => address === ip)
      return {
        as_name: place?.asName ?? '',
        asn: place?.asNumber === undefined ? '' : String(place.asNumber),
        cnt: here.length,
        country: place?.countryCode?.toUpperCase() ?? '',
        domain_list: [...new Set(here.map(({ host }) => host))].map((domain) => ({ domain })),
        ip,
        redirect_cnt: here.filter(({ location }) => location !== undefined).length,
        score: scoreOf(ip),
      }
    }),
    dns_record: {
      dns_record_type_a: {
        ipv4: records.ipv4.map((ip) => ({ ip, score: scoreOf(ip) })),
        ipv6: records.ipv6.map((ip) => ({ ip, score: scoreOf(ip) })),
      },
      dns_record_type_cname: records.cname,
      dns_record_type_mx: records.mx.map((exchange) => [exchange]),
      dns_record_type_ns: records.ns,
      dns_record_type_ptr: [],
      dns_record_type_soa: records.soa,
    },
    main_certificate: secure?.tls ? mainCertificate(secure.tls) : undefined,
    main_domain_info: {
      changed_url: last?.url ?? '',
      domain_created: surroundings.registeredOn(target.host),
      domain_score: domainScore(ratingOf(listings)),
      favicon: [],
      inserted_url: target.url.href,
      main_domain: target.host,
      title: titleOf(last?.body ?? ''),
    },
    mapped_ip: [...records.ipv4, ...records.ipv6].map((ip) => {
      const place = surroundings.placeOf(ip)
      return { as_name: place?.asName ?? '', country: place?.countryCode ?? '', ip, score: scoreOf(ip) }
    }),
    page_redirections: [
      visits.map(({ url, status, address }) => {
        const place = surroundings.placeOf(address)
        return { as_name: place?.asName ?? '', country_code: place?.countryCode?.toUpperCase() ?? '', status, url }
      }),
    ],
    report_time: timeText(now),
    screenshots: [],
    security_headers: (last?.headers ?? [])
      .filter(([name]) => securityHeaders.has(name.toLowerCase()))
      .map(([header, value]) => ({ header: header.toLowerCase(), value: value.slice(0, 1_024) })),
    ssl: secure?.tls !== undefined,
    summary: summarise(seen, surroundings, secure?.tls && certificateFault(secure.tls.certificate, secure.host, now)),
    technologies: serverOf(last?.headers ?? []),
  }
}

type Tls = NonNullable<Visit['tls']>

const dayMs = 86_400_000

const certificateRow = ({ certificate, protocol }: Tls): JsonObject => {
  const { from, to } = validityOf(certificate)
  return {
    certificate_life: from === undefined || to === undefined ? '' : `${Math.round((to - from) / dayMs)} Days`,
    issuer: commonName(certificate.issuer),
    protocol: protocol.replace('TLSv', 'TLS '),
    subject: commonName(certificate.subject),
    valid_from: from === undefined ? '' : timeText(from),
    valid_to: to === undefined ? '' : timeText(to),
  }
}

const mainCertificate = ({ certificate }: Tls): JsonObject => {
  const { from, to } = validityOf(certificate)
  return {
    enddate: to === undefined ? '' : timeText(to),
    issuer: commonName(certificate.issuer),
    startdate: from === undefined ? '' : timeText(from),
    subject: commonName(certificate.subject),
  }
}

const securityHeaders = new Set([
  'strict-transport-security',
  'content-security-policy',
  'x-frame-options',
  'x-content-type-options',
  'x-xss-protection',
  'referrer-policy',
  'permissions-policy',
  'cache-control',
])

/** The first title, found by position: no pattern runs over a hostile page. */
const titleOf = (body: string): string => {
  const lower = body.toLowerCase()
  const open = lower.indexOf('<title')
  const start = open < 0 ? -1 : lower.indexOf('>', open) + 1
  const end = start <= 0 ? -1 : lower.indexOf('</title', start)
  return end < 0 ? '' : body.slice(start, Math.min(end, start + 256)).trim()
}

const serverOf = (headers: Visit['headers']): JsonObject[] => {
  const server = headers.find(([name]) => name.toLowerCase() === 'server')?.[1].slice(0, 128)
  if (server === undefined) return []
  const [name = '', version] = server.split('/')
  return [{ categories: ['Web servers'], name, version: version?.split(' ')[0] ?? null, vulner: [] }]
}

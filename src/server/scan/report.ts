// Builds a report in the format of the provider from a scan; unchecked properties are omitted rather than reported as fine.
import { registrableDomain } from '../../domain/public-suffix.js'
import type { Listing } from '../../domain/finding.js'
import type { Indicator } from '../../domain/indicator.js'
import { ratingOf, domainScore } from '../local/address-intelligence.js'
import { parseTimestamp } from '../../domain/timestamp.js'
import { timeText, type JsonObject } from '../answer.js'
import type { Location } from '../../geo/places.js'
import { certificateFault, commonName, validityOf, type CertificateFault } from './certificate.js'
import type { DnsRecords } from './resolver.js'
import type { ScanTarget } from './target.js'
import type { Visit } from './visit.js'

/** Local data that enriches a report. */
export type ScanSurroundings = {
  readonly placeOf: (address: string) => Location | undefined
  readonly listingsOf: (indicator: Indicator) => readonly Listing[]
  /** The registration date of a name; `""` if no list has it, undefined if no list is loaded. */
  readonly registeredOn: (host: string) => string | undefined
}

/** The observations of a scan, with local data about its target. */
type Seen = {
  readonly target: ScanTarget
  readonly records: DnsRecords
  readonly visits: readonly Visit[]
  /** The last visit over TLS, if any. */
  readonly secure: Visit | undefined
  readonly now: number
}

const newbornDays = 30

/** The summary members that a scan can determine. `fault` is undefined if the site has no TLS. */
const summarise = (
  { target, records, visits, now }: Seen,
  surroundings: ScanSurroundings,
  fault: CertificateFault | undefined,
): JsonObject => {
  const places = visits.map(({ address }) => surroundings.placeOf(address))
  const ratings = visits.map(({ address }) => ratingOf(surroundings.listingsOf({ type: 'ip', value: address })))
  const category = fault ?? 'no_ssl'
  const homeDomain = siteOf(target.host)
  return {
    abuse_record: {
      critical: ratings.filter((rating) => rating === 'critical').length,
      dangerous: ratings.filter((rating) => rating === 'dangerous').length,
    },
    connect_to_ip_directly: visits.filter(({ host, address }) => host === address).length,
    fake_ssl: { category, invalid: category !== '' },
    list_of_countries: [...new Set(places.map((place) => place?.countryCode?.toUpperCase() ?? null))],
    mail_server: records.mx.length > 0,
    newborn_domain: newborn(surroundings.registeredOn(target.host), now),
    phishing_record: target.isAddress ? undefined : phishingRecords(target.host, surroundings),
    punycode: visits.some(({ host }) => host.split('.').some((label) => label.startsWith('xn--'))),
    redirection_diff_asn: changes(places.map((place) => place?.asNumber)),
    redirection_diff_country: changes(places.map((place) => place?.countryCode)),
    redirection_diff_domain: visits.filter(({ host }) => siteOf(host) !== homeDomain).length,
    spf1: records.txt.some((text) => text.toLowerCase().startsWith('v=spf1')) ? 'Safe' : undefined,
    symbol_url: target.url.pathname.includes('@'),
  }
}

const siteOf = (host: string): string => registrableDomain(host) ?? host

/** The number of changes between consecutive values; unknown values are skipped. */
const changes = (values: readonly (string | number | undefined)[]): number => {
  const known = values.filter((value) => value !== undefined)
  return known.filter((value, i) => i > 0 && value !== known[i - 1]).length
}

const newborn = (registeredOn: string | undefined, now: number): string | undefined => {
  if (registeredOn === undefined) return undefined
  const at = parseTimestamp(registeredOn)
  return at !== undefined && now - at < newbornDays * dayMs ? registeredOn : ''
}

const phishingRecords = (host: string, { listingsOf }: ScanSurroundings): number =>
  listingsOf({ type: 'domain', value: host }).filter(({ categories }) =>
    categories.some((category) => category.toLowerCase().includes('phish')),
  ).length

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

/** The first title, found with indexOf, because a regular expression could be slow on a hostile page. */
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

// The summary of a scan: the few members that its findings decide, and none of those it has no eyes for.
import { registrableDomain } from '../../domain/public-suffix.js'
import { ratingOf } from '../local/dossier.js'
import { parseTimestamp } from '../../domain/timestamp.js'
import type { JsonObject } from '../answer.js'
import type { CertificateFault } from './certificate.js'
import type { Seen, ScanSurroundings } from './seen.js'

const newbornDays = 30
const dayMs = 86_400_000

/** `fault` is undefined when the site speaks no TLS at all. */
export const summarise = (
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

/** How often a value differs from the one before it; a value that is not known changes nothing. */
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

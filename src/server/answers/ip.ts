// The eight address operations, each a view of the same dossier.
import { collection, flat, type OperationAnswer, type JsonObject } from '../answer.js'
import { isMalicious, isOn, ratingOf, remoteBanners, type Dossier } from '../local/dossier.js'
import type { Banner } from '../local/banner-index.js'
import { ratings, type Rating } from '../../domain/finding.js'
import { flagsOf, trueFlagsOf } from './ip-flags.js'
import { listingRows } from './listing-rows.js'
import {
  categoryRows,
  domainRows,
  hostnameRows,
  openPortRow,
  portRow,
  providerRows,
  shortVulnerabilityRows,
  vulnerabilityRows,
  whoisRows,
  type ExploitsOf,
} from './ip-rows.js'

export type AddressView = {
  readonly dossier: Dossier
  readonly exploitsOf: ExploitsOf
  readonly now: number
  /** All rows of a collection instead of the first twenty. */
  readonly full: boolean
}

const shortList = 20

/** Levels from 1 to 5, as the older operations write them. */
const scoreNumbers = (rating: Rating | undefined): JsonObject | undefined =>
  rating && { inbound: ratings.indexOf(rating) + 1, outbound: ratings.indexOf(rating) + 1 }

const scoreTexts = (rating: Rating | undefined): JsonObject | undefined => {
  const text = rating && rating.charAt(0).toUpperCase() + rating.slice(1)
  return text === undefined ? undefined : { inbound: text, outbound: text }
}

const isListed = ({ listings }: Dossier): boolean => listings.length > 0

export const ipData = ({ dossier, exploitsOf, now, full }: AddressView): OperationAnswer => {
  const limit = full ? Infinity : shortList
  const lists = dossier.lists
  return flat(
    {
      ip: dossier.ip,
      is_malicious: isMalicious(dossier),
      tags: flagsOf(dossier),
      score: scoreNumbers(ratingOf(dossier.listings)),
      user_search_count: 0,
      protected_ip: collection([]),
      domain: collection(domainRows(dossier), limit),
      whois: collection(whoisRows(dossier, now)),
      hostname: collection(hostnameRows(dossier), limit),
      ids: collection([]),
      vpn: collection(providerRows(lists.get('vpn'), now)),
      anonymous_vpn: collection(providerRows(lists.get('anonymous_vpn'), now)),
      webcam: collection(tagged(dossier, 'webcam').map(portRow), limit),
      honeypot: collection([]),
      ip_category: collection(categoryRows(dossier), limit),
      port: collection(dossier.banners.map(portRow), limit),
      vulnerability: collection(vulnerabilityRows(dossier, exploitsOf), limit),
      mobile: collection([]),
      listings: listingRows(dossier.listings),
    },
    isListed(dossier),
  )
}

export const ipSummary = ({ dossier }: AddressView): OperationAnswer => {
  const place = dossier.place ?? {}
  return flat(
    {
      ip: dossier.ip,
      score: scoreNumbers(ratingOf(dossier.listings)),
      country: place.country ?? null,
      country_code: place.countryCode ?? null,
      region: place.region ?? null,
      city: place.city ?? null,
      isp: place.asName ?? null,
      org_name: place.organisation ?? null,
      as_no: place.asNumber ?? null,
      postal_code: place.postalCode ?? null,
      latitude: place.latitude ?? null,
      longitude: place.longitude ?? null,
    },
    isListed(dossier),
  )
}

export const ipVpn = ({ dossier, now }: AddressView): OperationAnswer => {
  const { lists } = dossier
  const isKnown = lists.has('vpn') || lists.has('anonymous_vpn') || lists.has('tor') || lists.has('proxy')
  return flat(
    {
      ip: dossier.ip,
      vpn_info: {
        vpn: collection([
          ...providerRows(lists.get('vpn'), now),
          ...dossier.banners.filter(({ port }) => vpnPorts.has(port)).map(portRow),
        ]),
        anonymous_vpn: collection(providerRows(lists.get('anonymous_vpn'), now)),
      },
      is_vpn: isOn(dossier, 'vpn'),
      is_tor: isOn(dossier, 'tor'),
      is_proxy: isOn(dossier, 'proxy'),
    },
    isKnown,
  )
}
const vpnPorts = new Set([500, 1194, 1701, 1723, 4500, 51820])

export const ipHosting = ({ dossier }: AddressView): OperationAnswer => {
  const { lists, place } = dossier
  const asName = place?.asName
  const soundsLike = asName !== undefined && /host|cloud|server|data ?cent/i.test(asName)
  const stated = isOn(dossier, 'hosting')
  return flat(
    {
      ip: dossier.ip,
      is_hosting: stated ?? (soundsLike ? true : undefined),
      hosting_info: {
        as_name_include_hosting_or_cloud: soundsLike ? asName : null,
        domain_exist_more_than_5: dossier.names.length > 5 ? domainRows(dossier) : [],
        cloud_ip_range_matching: { ip_range: null, cloud_service: lists.get('cloud')?.[0] ?? null },
      },
    },
    lists.has('hosting') || lists.has('cloud'),
  )
}

export const ipMaliciousInfo = ({ dossier, exploitsOf }: AddressView): OperationAnswer => {
  const remote = remoteBanners(dossier)
  return flat(
    {
      ip: dossier.ip,
      is_malicious: isMalicious(dossier),
      is_vpn: isOn(dossier, 'vpn'),
      is_anonymous_vpn: isOn(dossier, 'anonymous_vpn'),
      can_remote_access: dossier.banners.length === 0 ? undefined : remote.length > 0,
      current_opened_port: collection(dossier.banners.map(openPortRow)),
      remote_port: collection(remote.map(openPortRow)),
      vulnerability: collection(shortVulnerabilityRows(dossier, exploitsOf)),
      ids: collection([]),
      scanning_record: collection([]),
      ip_category: collection(categoryRows(dossier)),
      webcam: collection(tagged(dossier, 'webcam').map(openPortRow)),
      listings: listingRows(dossier.listings),
      issues: trueFlagsOf(dossier),
    },
    isListed(dossier),
  )
}

const privacyTags = ['webcam', 'iot', 'nas', 'admin_page'] as const

export const ipPrivacyThreat = ({ dossier }: AddressView): OperationAnswer => {
  const others = dossier.banners.filter(({ tags }) => !privacyTags.some((tag) => tags.includes(tag)))
  return flat(
    {
      ip: dossier.ip,
      ...Object.fromEntries(privacyTags.map((tag) => [tag, collection(tagged(dossier, tag).map(openPortRow))])),
      other_ports: collection(others.map(openPortRow)),
    },
    dossier.banners.length > 0,
  )
}

export const ipIsSafeDnsServer = ({ dossier }: AddressView): OperationAnswer => {
  const isPublic = isOn(dossier, 'dns')
  const malicious = isMalicious(dossier)
  const hasUnusualPort =
    dossier.banners.length === 0 ? undefined : dossier.banners.some(({ port }) => !dnsPorts.has(port))
  const hasVulnerability =
    dossier.banners.length === 0
      ? undefined
      : dossier.banners.some(({ port, cveIds }) => port === 53 && cveIds.length > 0)
  const isAgainst = malicious === true || hasUnusualPort === true || hasVulnerability === true || isPublic === false
  return flat(
    {
      ip: dossier.ip,
      is_safe_dns_server: isAgainst ? false : isPublic,
      reason: {
        is_malicious_ip: malicious,
        opened_unusual_port: hasUnusualPort,
        has_dns_vulnerability: hasVulnerability,
        is_unpublic_dns: isPublic === undefined ? undefined : !isPublic,
      },
    },
    malicious === true || isPublic === true,
  )
}
const dnsPorts = new Set([53, 443, 853])

export const ipSuspiciousInfo = ({ dossier, now }: AddressView): OperationAnswer =>
  flat(
    {
      ip: dossier.ip,
      abuse_record_count: dossier.listings.length,
      current_opened_port: collection(dossier.banners.map(openPortRow)),
      ids: collection([]),
      issues: flagsOf(dossier),
      representative_domain: dossier.names[0]?.name ?? null,
      score: scoreTexts(ratingOf(dossier.listings)),
      whois: collection(whoisRows(dossier, now)),
      listings: listingRows(dossier.listings),
    },
    isListed(dossier),
  )

const tagged = ({ banners }: Dossier, tag: string): Banner[] => banners.filter(({ tags }) => tags.includes(tag))

// The address operations; each returns a part of the local data about an address.
import { collection, flat, type OperationAnswer, type JsonObject } from '../answer.js'
import { isMalicious, isOn, ratingOf, remoteBanners, type AddressIntelligence } from '../local/address-intelligence.js'
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
  readonly about: AddressIntelligence
  readonly exploitsOf: ExploitsOf
  readonly now: number
  /** All rows of a collection instead of the first twenty. */
  readonly full: boolean
}

const shortList = 20

/** Levels from 1 to 5, the format of the older operations. */
const scoreNumbers = (rating: Rating | undefined): JsonObject | undefined =>
  rating && { inbound: ratings.indexOf(rating) + 1, outbound: ratings.indexOf(rating) + 1 }

const scoreTexts = (rating: Rating | undefined): JsonObject | undefined => {
  const text = rating && rating.charAt(0).toUpperCase() + rating.slice(1)
  return text === undefined ? undefined : { inbound: text, outbound: text }
}

const isListed = ({ listings }: AddressIntelligence): boolean => listings.length > 0

export const ipData = ({ about, exploitsOf, now, full }: AddressView): OperationAnswer => {
  const limit = full ? Infinity : shortList
  const lists = about.lists
  return flat(
    {
      ip: about.ip,
      is_malicious: isMalicious(about),
      tags: flagsOf(about),
      score: scoreNumbers(ratingOf(about.listings)),
      user_search_count: 0,
      protected_ip: collection([]),
      domain: collection(domainRows(about), limit),
      whois: collection(whoisRows(about, now)),
      hostname: collection(hostnameRows(about), limit),
      ids: collection([]),
      vpn: collection(providerRows(lists.get('vpn'), now)),
      anonymous_vpn: collection(providerRows(lists.get('anonymous_vpn'), now)),
      webcam: collection(tagged(about, 'webcam').map(portRow), limit),
      honeypot: collection([]),
      ip_category: collection(categoryRows(about), limit),
      port: collection(about.banners.map(portRow), limit),
      vulnerability: collection(vulnerabilityRows(about, exploitsOf), limit),
      mobile: collection([]),
      listings: listingRows(about.listings),
    },
    isListed(about),
  )
}

export const ipSummary = ({ about }: AddressView): OperationAnswer => {
  const place = about.place ?? {}
  return flat(
    {
      ip: about.ip,
      score: scoreNumbers(ratingOf(about.listings)),
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
    isListed(about),
  )
}

export const ipVpn = ({ about, now }: AddressView): OperationAnswer => {
  const { lists } = about
  const isKnown = lists.has('vpn') || lists.has('anonymous_vpn') || lists.has('tor') || lists.has('proxy')
  return flat(
    {
      ip: about.ip,
      vpn_info: {
        vpn: collection([
          ...providerRows(lists.get('vpn'), now),
          ...about.banners.filter(({ port }) => vpnPorts.has(port)).map(portRow),
        ]),
        anonymous_vpn: collection(providerRows(lists.get('anonymous_vpn'), now)),
      },
      is_vpn: isOn(about, 'vpn'),
      is_tor: isOn(about, 'tor'),
      is_proxy: isOn(about, 'proxy'),
    },
    isKnown,
  )
}
const vpnPorts = new Set([500, 1194, 1701, 1723, 4500, 51820])

export const ipHosting = ({ about }: AddressView): OperationAnswer => {
  const { lists, place } = about
  const asName = place?.asName
  const soundsLike = asName !== undefined && /host|cloud|server|data ?cent/i.test(asName)
  const stated = isOn(about, 'hosting')
  return flat(
    {
      ip: about.ip,
      is_hosting: stated ?? (soundsLike ? true : undefined),
      hosting_info: {
        as_name_include_hosting_or_cloud: soundsLike ? asName : null,
        domain_exist_more_than_5: about.names.length > 5 ? domainRows(about) : [],
        cloud_ip_range_matching: { ip_range: null, cloud_service: lists.get('cloud')?.[0] ?? null },
      },
    },
    lists.has('hosting') || lists.has('cloud'),
  )
}

export const ipMaliciousInfo = ({ about, exploitsOf }: AddressView): OperationAnswer => {
  const remote = remoteBanners(about)
  return flat(
    {
      ip: about.ip,
      is_malicious: isMalicious(about),
      is_vpn: isOn(about, 'vpn'),
      is_anonymous_vpn: isOn(about, 'anonymous_vpn'),
      can_remote_access: about.banners.length === 0 ? undefined : remote.length > 0,
      current_opened_port: collection(about.banners.map(openPortRow)),
      remote_port: collection(remote.map(openPortRow)),
      vulnerability: collection(shortVulnerabilityRows(about, exploitsOf)),
      ids: collection([]),
      scanning_record: collection([]),
      ip_category: collection(categoryRows(about)),
      webcam: collection(tagged(about, 'webcam').map(openPortRow)),
      listings: listingRows(about.listings),
      issues: trueFlagsOf(about),
    },
    isListed(about),
  )
}

const privacyTags = ['webcam', 'iot', 'nas', 'admin_page'] as const

export const ipPrivacyThreat = ({ about }: AddressView): OperationAnswer => {
  const others = about.banners.filter(({ tags }) => !privacyTags.some((tag) => tags.includes(tag)))
  return flat(
    {
      ip: about.ip,
      ...Object.fromEntries(privacyTags.map((tag) => [tag, collection(tagged(about, tag).map(openPortRow))])),
      other_ports: collection(others.map(openPortRow)),
    },
    about.banners.length > 0,
  )
}

export const ipIsSafeDnsServer = ({ about }: AddressView): OperationAnswer => {
  const isPublic = isOn(about, 'dns')
  const malicious = isMalicious(about)
  const hasUnusualPort = about.banners.length === 0 ? undefined : about.banners.some(({ port }) => !dnsPorts.has(port))
  const hasVulnerability =
    about.banners.length === 0 ? undefined : about.banners.some(({ port, cveIds }) => port === 53 && cveIds.length > 0)
  const isAgainst = malicious === true || hasUnusualPort === true || hasVulnerability === true || isPublic === false
  return flat(
    {
      ip: about.ip,
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

export const ipSuspiciousInfo = ({ about, now }: AddressView): OperationAnswer =>
  flat(
    {
      ip: about.ip,
      abuse_record_count: about.listings.length,
      current_opened_port: collection(about.banners.map(openPortRow)),
      ids: collection([]),
      issues: flagsOf(about),
      representative_domain: about.names[0]?.name ?? null,
      score: scoreTexts(ratingOf(about.listings)),
      whois: collection(whoisRows(about, now)),
      listings: listingRows(about.listings),
    },
    isListed(about),
  )

const tagged = ({ banners }: AddressIntelligence, tag: string): Banner[] =>
  banners.filter(({ tags }) => tags.includes(tag))

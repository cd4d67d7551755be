// The banner index: services by address and port, and the search filters.
import { parseAddress, parseRange, readAddress } from '../../domain/address.js'
import { createRangeSet } from '../../domain/range-set.js'
import { timeOrDate } from '../answer.js'
import { booleanOf, integerOf, numberOf, textOf, textsOf, type DataRow } from './read-rows.js'
import type { Location } from '../../geo/places.js'
import { containsText, equalsNumber, equalsText, hasText, notBefore, type FieldFilter } from './search.js'

export type Banner = {
  readonly ip: string
  readonly port: number
  readonly socket: 'tcp' | 'udp'
  readonly scannedAt: string
  readonly service: string
  readonly product: string
  readonly version: string
  readonly banner: string
  readonly title: string
  readonly statusCode?: number
  readonly hostname?: string
  readonly country: string
  readonly city: string
  readonly asName: string
  readonly orgName: string
  readonly latitude?: number
  readonly longitude?: number
  readonly tags: readonly string[]
  readonly techStacks: readonly string[]
  readonly cveIds: readonly string[]
  readonly scannerPorts: readonly number[]
  readonly sslCommonName?: string
  readonly sslSubjectOrganisation?: string
  readonly sslSubjectCountry?: string
  readonly sslIssuerOrganisation?: string
  readonly sslExpired?: boolean
}

const maxBanner = 8_192

/** The location database fills in missing members. */
export const bannerOf = (row: DataRow, find: (ip: string) => Location | undefined): Banner | undefined => {
  const ip = parseAddress(textOf(row, 'ip_address') ?? textOf(row, 'ip') ?? '')
  const port = integerOf(row, 'open_port_no') ?? integerOf(row, 'port')
  if (ip === undefined || port === undefined || port < 0 || port > 65_535) return undefined
  const place = find(ip)
  const statusCode = integerOf(row, 'status_code')
  const hostname = textOf(row, 'hostname', 253)
  const latitude = numberOf(row, 'latitude') ?? place?.latitude
  const longitude = numberOf(row, 'longitude') ?? place?.longitude
  const sslCommonName = textOf(row, 'ssl_subject_common_name')
  const sslSubjectOrganisation = textOf(row, 'ssl_subject_organization')
  const sslSubjectCountry = textOf(row, 'ssl_subject_country')
  const sslIssuerOrganisation = textOf(row, 'ssl_issuer_organization')
  const sslExpired = booleanOf(row, 'ssl_expired')
  return {
    ip,
    port,
    socket: (textOf(row, 'socket_type') ?? textOf(row, 'socket'))?.toLowerCase() === 'udp' ? 'udp' : 'tcp',
    scannedAt: timeOrDate(textOf(row, 'scan_dtime') ?? textOf(row, 'confirmed_time') ?? ''),
    service: textOf(row, 'service_name') ?? textOf(row, 'service') ?? '',
    product: textOf(row, 'product') ?? '',
    version: textOf(row, 'product_version') ?? '',
    banner: textOf(row, 'banner', maxBanner) ?? '',
    title: textOf(row, 'title') ?? '',
    country: (textOf(row, 'country', 2) ?? place?.countryCode ?? '').toUpperCase(),
    city: textOf(row, 'city') ?? place?.city ?? '',
    asName: textOf(row, 'as_name') ?? place?.asName ?? '',
    orgName: textOf(row, 'org_name') ?? place?.organisation ?? '',
    tags: textsOf(row, 'tags'),
    techStacks: textsOf(row, 'tech_stacks'),
    cveIds: [...textsOf(row, 'cve_ids'), ...textsOf(row, 'cve_id')].map((code) => code.toUpperCase()),
    scannerPorts: textsOf(row, 'scanner_ports').map(Number).filter(Number.isInteger),
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(hostname === undefined ? {} : { hostname }),
    ...(latitude === undefined ? {} : { latitude }),
    ...(longitude === undefined ? {} : { longitude }),
    ...(sslCommonName === undefined ? {} : { sslCommonName }),
    ...(sslSubjectOrganisation === undefined ? {} : { sslSubjectOrganisation }),
    ...(sslSubjectCountry === undefined ? {} : { sslSubjectCountry }),
    ...(sslIssuerOrganisation === undefined ? {} : { sslIssuerOrganisation }),
    ...(sslExpired === undefined ? {} : { sslExpired }),
  }
}

const inRange: FieldFilter<Banner> = (value) => {
  const range = parseRange(value)
  if (!range) return undefined
  const ranges = createRangeSet([range])
  return ({ ip }) => {
    const address = readAddress(ip)
    return address !== undefined && ranges.has(address)
  }
}

export const bannerFilters: ReadonlyMap<string, FieldFilter<Banner>> = new Map([
  ['ip', inRange],
  ['port', equalsNumber<Banner>((banner) => banner.port)],
  [
    'scanner_port',
    (value: string) =>
      /^\d{1,5}$/.test(value) ? (row: Banner) => row.scannerPorts.includes(Number(value)) : undefined,
  ],
  ['product', containsText<Banner>((banner) => banner.product)],
  ['product_version', equalsText<Banner>((banner) => banner.version)],
  ['service', equalsText<Banner>((banner) => banner.service)],
  ['tag', hasText<Banner>((banner) => banner.tags)],
  ['tech_stack', hasText<Banner>((banner) => banner.techStacks)],
  ['title', containsText<Banner>((banner) => banner.title)],
  ['status_code', equalsNumber<Banner>((banner) => banner.statusCode)],
  ['country', equalsText<Banner>((banner) => banner.country)],
  ['city', equalsText<Banner>((banner) => banner.city)],
  ['as_name', containsText<Banner>((banner) => banner.asName)],
  ['org_name', containsText<Banner>((banner) => banner.orgName)],
  ['hostname', containsText<Banner>((banner) => banner.hostname)],
  ['ssl_subject_common_name', containsText<Banner>((banner) => banner.sslCommonName)],
  ['cve_id', hasText<Banner>((banner) => banner.cveIds)],
  ['after', notBefore<Banner>((banner) => banner.scannedAt)],
])

export const bannerText = (banner: Banner): readonly (string | undefined)[] => [
  banner.banner,
  banner.title,
  banner.product,
  banner.hostname,
]

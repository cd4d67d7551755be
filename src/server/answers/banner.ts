// Search and statistics over the banner index.
import { refused, wrapped, type OperationAnswer, type JsonObject, invalidParameter } from '../answer.js'
import { bannerFilters, bannerText, type Banner } from '../local/banner-index.js'
import { ratingOf, isOn, type AddressIntelligence } from '../local/address-intelligence.js'
import type { FindRows } from '../local/find-rows.js'
import { parseQuery } from '../local/query.js'
import { compileQuery, pageSize, type Search } from '../local/search.js'

type BannerView = {
  readonly banners: readonly Banner[]
  readonly caller: string
  readonly findRows: FindRows
  readonly aboutAddress: (ip: string) => AddressIntelligence
}

export const bannerSearch = async (view: BannerView, text: string, offset: number): Promise<OperationAnswer> => {
  const found = await find(view, text)
  if (!found) return refused(invalidParameter('query'))
  const { rows, search } = found
  return wrapped(
    {
      count: rows.length,
      result: rows.slice(offset, offset + pageSize).map((banner) => bannerRow(banner, view.aboutAddress(banner.ip))),
      filters: search.filters,
      search_keyword: search.keyword,
      invalid_filters: search.invalidFilters,
    },
    rows.length > 0,
    'Success',
  )
}

const maxValues = 100

export const bannerStats = async (view: BannerView, text: string): Promise<OperationAnswer> => {
  const found = await find(view, text)
  if (!found) return refused(invalidParameter('query'))
  const { rows } = found
  return wrapped(
    {
      count: rows.length,
      result: {
        as_name_agg: countBy(rows, ({ asName }) => asName),
        country_agg: countBy(rows, ({ country }) => country),
        open_port_no_agg: countBy(rows, ({ port }) => String(port)),
        product_agg: countBy(rows, ({ product }) => product),
        service_name_agg: countBy(rows, ({ service }) => service),
        status_code_agg: countBy(rows, ({ statusCode }) => (statusCode === undefined ? '' : String(statusCode))),
      },
    },
    rows.length > 0,
    'Success',
  )
}

const find = async (
  { banners, caller, findRows }: BannerView,
  text: string,
): Promise<{ rows: Banner[]; search: Search<Banner> } | undefined> => {
  const query = parseQuery(text)
  if (!query) return undefined
  const search = compileQuery(query, bannerFilters, bannerText)
  return { rows: await findRows(caller, banners, search), search }
}

/** The most frequent values with their counts; rows without a value do not count. */
const countBy = (rows: readonly Banner[], read: (banner: Banner) => string): JsonObject => {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const value = read(row)
    if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a).slice(0, maxValues))
}

const bannerRow = (banner: Banner, about: AddressIntelligence): JsonObject => {
  const rating = ratingOf(about.listings)
  const score = rating && rating.charAt(0).toUpperCase() + rating.slice(1)
  return {
    as_name: banner.asName,
    banner: banner.banner,
    city: banner.city,
    cloud_source: about.lists.get('cloud')?.[0] ?? '',
    country: banner.country,
    favicons: [],
    has_cve: banner.cveIds.length > 0,
    hostname: banner.hostname ?? null,
    html_meta_author: '',
    html_meta_description: '',
    html_meta_keywords: '',
    html_meta_title: banner.title,
    input_code: 0,
    ip_address: banner.ip,
    is_cloud: isOn(about, 'cloud'),
    is_hosting: isOn(about, 'hosting'),
    is_proxy: isOn(about, 'proxy'),
    is_scanner: isOn(about, 'scanner'),
    is_snort: isOn(about, 'snort'),
    is_tor: isOn(about, 'tor'),
    is_vpn: isOn(about, 'vpn'),
    latitude: banner.latitude,
    longitude: banner.longitude,
    open_port_no: banner.port,
    org_name: banner.orgName,
    product: banner.product,
    product_version: banner.version,
    repeat_count: 0,
    scan_dtime: banner.scannedAt,
    scanner: banner.scannerPorts,
    score,
    score_out: score,
    service_name: banner.service,
    snort: [],
    socket_type: banner.socket.toUpperCase(),
    ssl_expired: banner.sslExpired ?? '',
    ssl_info: '',
    ssl_issuer_organization: banner.sslIssuerOrganisation ?? null,
    ssl_subject_common_name: banner.sslCommonName ?? null,
    ssl_subject_country: banner.sslSubjectCountry ?? null,
    ssl_subject_organization: banner.sslSubjectOrganisation ?? null,
    status_code: banner.statusCode ?? 0,
    tags: banner.tags,
    tech_stacks: banner.techStacks.map((name) => ({ tech_stack: name, link: '' })),
    title: banner.title,
  }
}

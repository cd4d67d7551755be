// Rows of the collections that several address operations share.
import { timeText, type JsonObject } from '../answer.js'
import type { Banner } from '../local/banner-index.js'
import { vulnerabilitiesOf, type AddressIntelligence } from '../local/address-intelligence.js'
import type { Exploit } from '../local/exploit-index.js'

export type ExploitsOf = (cveId: string) => readonly Exploit[]

export const whoisRows = ({ place }: AddressIntelligence, now: number): JsonObject[] =>
  place === undefined
    ? []
    : [
        {
          as_name: place.asName ?? null,
          as_no: place.asNumber ?? null,
          city: place.city ?? null,
          region: place.region ?? null,
          org_name: place.organisation ?? null,
          postal_code: place.postalCode ?? '',
          latitude: place.latitude ?? null,
          longitude: place.longitude ?? null,
          org_country_code: place.countryCode ?? null,
          confirmed_time: timeText(now),
        },
      ]

export const categoryRows = ({ listings, listedAt }: AddressIntelligence): JsonObject[] =>
  listings.flatMap(({ feed, level, categories }) =>
    (categories.length === 0 ? [level] : categories).map((type) => ({
      detect_source: feed,
      type,
      detect_info: {},
      confirmed_time: timeText(listedAt),
    })),
  )

export const openPortRow = (banner: Banner): JsonObject => ({
  socket_type: banner.socket,
  port: banner.port,
  protocol: banner.service,
  product_name: banner.product || 'Unknown',
  product_version: banner.version || 'Unknown',
  has_vulnerability: banner.cveIds.length > 0,
  is_vulnerability: banner.cveIds.length > 0,
  confirmed_time: banner.scannedAt,
})

export const portRow = (banner: Banner): JsonObject => ({
  app_name: banner.product || 'Unknown',
  confirmed_time: banner.scannedAt,
  banner: banner.banner,
  app_version: banner.version || 'Unknown',
  open_port_no: banner.port,
  port_status: 'open',
  protocol: banner.service,
  socket: banner.socket,
  tags: banner.tags,
  dns_names: banner.hostname ?? null,
  sdn_common_name: banner.sslCommonName ?? null,
  jarm_hash: null,
  ssl_info_raw: null,
  technologies: banner.techStacks.map((name) => ({ tech_name: name, tech_version: '', tech_logo_url: '' })),
  is_vulnerability: banner.cveIds.length > 0,
})

const portsOf = (banners: readonly Banner[], socket: Banner['socket']): number[] =>
  banners.filter((banner) => banner.socket === socket).map(({ port }) => port)

export const shortVulnerabilityRows = (about: AddressIntelligence, exploitsOf: ExploitsOf): JsonObject[] =>
  [...vulnerabilitiesOf(about)].map(([cveId, banners]) => ({
    cve_id: cveId,
    cwe_ids: [],
    edb_ids: exploitsOf(cveId).map(({ edbId }) => edbId),
    ports: { tcp: portsOf(banners, 'tcp'), udp: portsOf(banners, 'udp') },
    product_name: banners[0]?.product ?? '',
    product_version: banners[0]?.version ?? '',
    product_vendor: '',
  }))

export const vulnerabilityRows = (about: AddressIntelligence, exploitsOf: ExploitsOf): JsonObject[] =>
  [...vulnerabilitiesOf(about)].map(([cveId, banners]) => ({
    cve_id: cveId,
    cve_description: '',
    list_cwe: [],
    list_edb: exploitsOf(cveId).map((exploit) => ({
      cve_id: cveId,
      edb_id: exploit.edbId,
      type: exploit.type,
      platform: exploit.platform,
      verify_code: exploit.isVerified ? 1 : 0,
      title: exploit.title,
      confirmed_time: exploit.date,
    })),
    app_name: banners[0]?.product ?? '',
    app_version: banners[0]?.version ?? '',
    open_port_no_list: { TCP: portsOf(banners, 'tcp'), UDP: portsOf(banners, 'udp') },
    have_more_ports: false,
    open_port_no: banners.map(({ port, socket }) => ({ port, socket })),
    list_child: [],
    is_vuln: 'True',
  }))

/** Rows with the file name of the list as their provider. */
export const providerRows = (names: readonly string[] | undefined, now: number): JsonObject[] =>
  (names ?? []).map((name) => ({
    vpn_name: name,
    vpn_url: '',
    vpn_source_url: '',
    socket_type: 'N/A',
    confirmed_time: timeText(now),
  }))

export const domainRows = ({ names }: AddressIntelligence): JsonObject[] =>
  names.map(({ name, seenAt }) => ({
    domain: name,
    ip_type: 'Unknown',
    registrar: '',
    create_date: '',
    confirmed_time: seenAt,
    email: '',
  }))

export const hostnameRows = ({ banners }: AddressIntelligence): JsonObject[] =>
  banners
    .filter(({ hostname }) => hostname !== undefined)
    .map(({ hostname, scannedAt }) => ({
      domain_name_rep: hostname?.split('.').slice(-2).join('.'),
      domain_name_full: hostname,
      confirmed_time: scannedAt,
    }))

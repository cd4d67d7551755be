// Collections as OpenCTI and MISP fill them: every indicator is an entry, or is counted with the reason why it is none.
// Samples of our own in the shapes that are documented at
// https://docs.opencti.io/latest/usage/feeds/ and https://docs.opencti.io/latest/reference/data-model/ (indicators with OpenCTI's extension)
// https://github.com/MISP/misp-stix/blob/main/documentation/misp_attributes_to_stix21.md (what MISP makes of attributes)
import { describe, expect, it } from 'vitest'
import { folder } from '../../support/feed-files.js'
import { startListServer } from '../../support/list-server.js'
import { errorOf, openPagedFeed, type OpenedFeed } from '../../support/paged-feed.js'

type Shape = { readonly [name: string]: unknown }

let number = 0
const base = (pattern: string): Shape => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--00000000-0000-4000-8000-${String(++number).padStart(12, '0')}`,
  created: '2025-10-25T16:22:00.000Z',
  modified: '2025-10-25T16:22:00.000Z',
  pattern,
  pattern_type: 'stix',
  valid_from: '2025-10-25T16:22:00.000Z',
})

const openCti = (observable: string, pattern: string, given: Shape = {}): Shape => ({
  ...base(pattern),
  extensions: {
    'extension-definition--ea279b3e-5c71-4632-ac08-831c66a786ba': {
      extension_type: 'property-extension',
      id: '25cab01c-46be-48ed-832f-857d35347f15',
      type: 'Indicator',
      is_inferred: false,
      detection: false,
      score: 70,
      main_observable_type: observable,
    },
  },
  revoked: false,
  confidence: 75,
  lang: 'en',
  labels: ['botnet'],
  object_marking_refs: ['marking-definition--613f2e26-407d-48c7-9eca-b8e91df99dc9'],
  valid_until: '2027-10-25T16:22:00.000Z',
  kill_chain_phases: [{ kill_chain_name: 'mitre-attack', phase_name: 'command-and-control', x_opencti_order: 11 }],
  ...given,
})

const misp = (type: string, pattern: string): Shape => ({
  ...base(pattern),
  created_by_ref: 'identity--a0c22599-9e58-4da4-96ac-7051603fa951',
  pattern_version: '2.1',
  kill_chain_phases: [{ kill_chain_name: 'misp-category', phase_name: 'Network activity' }],
  labels: [`misp:type="${type}"`, 'misp:category="Network activity"', 'misp:to_ids="True"'],
})

const network = (end: 'src' | 'dst', value: string, version: 4 | 6 = 4): string =>
  `network-traffic:${end}_ref.type = 'ipv${version}-addr' AND network-traffic:${end}_ref.value = '${value}'`

const read = async (objects: readonly Shape[]): Promise<OpenedFeed['feeds']> => {
  const server = await startListServer(({ url = '' }, response) => {
    const from = Number(new URL(url, 'http://localhost').searchParams.get('next') ?? 0)
    const more = from + 4 < objects.length
    const page = { ...(more && { more, next: String(from + 4) }), objects: objects.slice(from, from + 4) }
    response.writeHead(200, { 'content-type': 'application/taxii+json;version=2.1' }).end(JSON.stringify(page))
  })
  const { feeds } = await openPagedFeed(folder(), { taxii: `${server.url}/taxii2/root/collections/1/`, minScore: 50 })
  expect(errorOf(feeds)).toBeUndefined()
  return feeds
}

/** `values of an entry | reasons`, as the feed has them. */
const found = (feeds: OpenedFeed['feeds'], values: readonly string[]): readonly string[] =>
  values.filter((value) => feeds.match({ type: /^[\d.]+$|:/.test(value) ? 'ip' : 'domain', value }) !== undefined)

describe('a collection of OpenCTI', () => {
  it('is read whole', async () => {
    const feeds = await read([
      openCti('IPv4-Addr', "[ipv4-addr:value = '198.51.101.1']"),
      openCti('IPv4-Addr', "[ipv4-addr:value = '198.51.102.0/24']"),
      openCti('IPv6-Addr', "[ipv6-addr:value = '2a0e:b107::1']"),
      openCti('Domain-Name', "[domain-name:value = 'a.example.com']"),
      openCti('Hostname', "[hostname:value = 'b.example.com']", {
        object_marking_refs: ['marking-definition--826578e1-40ad-459f-bc73-ede076f81f37'],
      }),
      openCti('Url', "[url:value = 'https://c.example.com/gate.php?id=1']"),
      openCti('Domain-Name', "[domain-name:value = 'd.example.com'] OR [ipv4-addr:value = '198.51.101.2']"),
      openCti(
        'StixFile',
        "[file:hashes.'SHA-256' = 'b3b8b4ac8ac98e610c49b4c5306b95ea2836348492b5c488f584a223541283cc']",
      ),
      openCti('Email-Addr', "[email-addr:value = 'someone@example.com']"),
      openCti('Domain-Name', "[domain-name:value = 'e.example.com']", { revoked: true }),
      openCti('Domain-Name', "[domain-name:value = 'f.example.com']", { valid_until: '2025-12-01T00:00:00.000Z' }),
      openCti('Domain-Name', "[domain-name:value = 'g.example.com']", { confidence: 15 }),
      openCti('Domain-Name', "[domain-name:value = 'h.example.com']", { indicator_types: ['benign'] }),
      openCti('StixFile', 'rule a { condition: true }', { pattern_type: 'yara' }),
      openCti('Process', "[process:command_line MATCHES 'powershell']"),
      // Sent although only indicators were asked for.
      { type: 'malware', spec_version: '2.1', id: 'malware--00000000-0000-4000-8000-000000000001', name: 'x' },
    ])
    const values = ['198.51.101.1', '198.51.102.9', '2a0e:b107::1', 'a.example.com', 'b.example.com', 'c.example.com']
    expect(found(feeds, [...values, 'd.example.com', '198.51.101.2'])).toHaveLength(8)
    expect(found(feeds, ['e.example.com', 'f.example.com', 'g.example.com', 'h.example.com'])).toEqual([])
    const [status] = feeds.status()
    expect(status).toMatchObject({ addresses: 4, endpoints: 0, names: 3, urls: 1 })
    expect(status?.skipped).toEqual({
      not_looked_up: 3,
      revoked: 1,
      expired: 1,
      low_score: 1,
      harmless: 1,
      other_language: 1,
    })
    const known = JSON.stringify(feeds.match({ type: 'domain', value: 'a.example.com' }))
    expect(known).toContain('"categories":["tlp:white","botnet"]')
    expect(known).toContain('"score":75')
    const strict = JSON.stringify(feeds.match({ type: 'domain', value: 'b.example.com' }))
    expect(strict).toContain('"categories":["tlp:amber+strict","botnet"]')
  })
})

describe('a collection of MISP', () => {
  it('is read whole, and its labels name categories of threats alone', async () => {
    const feeds = await read([
      misp('ip-dst', `[${network('dst', '198.51.101.1')}]`),
      misp('ip-src', `[${network('src', '198.51.101.2')}]`),
      misp('ip-dst', `[${network('dst', '2a0e:b107::1', 6)}]`),
      misp('ip-dst|port', `[${network('dst', '198.51.101.3')} AND network-traffic:dst_port = '443']`),
      misp('ip-src|port', `[${network('src', '198.51.101.4')} AND network-traffic:src_port = '1234']`),
      misp('domain', "[domain-name:value = 'a.example.com']"),
      misp('hostname', "[domain-name:value = 'b.example.com']"),
      misp('url', "[url:value = 'https://c.example.com/team']"),
      misp(
        'domain|ip',
        "[domain-name:value = 'd.example.com' AND domain-name:resolves_to_refs[*].value = '198.51.101.5']",
      ),
      misp('hostname|port', "[domain-name:value = 'e.example.com' AND network-traffic:dst_port = '8443']"),
      misp('sha256', "[file:hashes.SHA256 = 'b3b8b4ac8ac98e610c49b4c5306b95ea2836348492b5c488f584a223541283cc']"),
      misp('email-dst', "[email-message:to_refs[*].value = 'dst@example.com']"),
      misp('AS', "[autonomous-system:number = '174']"),
      misp('mac-address', "[mac-addr:value = '12:34:56:78:90:ab']"),
      misp('user-agent', "[network-traffic:extensions.'http-request-ext'.request_header.'User-Agent' = 'curl']"),
      misp('filename|md5', "[file:name = 'a.exe' AND file:hashes.MD5 = '8764605c6f388c89096b534d33565802']"),
      misp('regkey', String.raw`[windows-registry-key:key = 'HKLM\\Software\\mthjk']`),
      misp('x509-fingerprint-md5', "[x509-certificate:hashes.MD5 = '8764605c6f388c89096b534d33565802']"),
    ])
    const addresses = ['198.51.101.1', '198.51.101.2', '198.51.101.3', '198.51.101.4', '2a0e:b107::1']
    const names = ['a.example.com', 'b.example.com', 'c.example.com', 'd.example.com', 'e.example.com']
    expect(found(feeds, [...addresses, ...names])).toEqual([...addresses, ...names])
    const [status] = feeds.status()
    expect(status).toMatchObject({ addresses: 3, endpoints: 2, names: 4, urls: 1 })
    expect(status?.skipped).toEqual({ not_looked_up: 8 })
    const known = JSON.stringify(feeds.match({ type: 'domain', value: 'a.example.com' }))
    expect(known).toContain('"categories":["network activity"]')
  })
})

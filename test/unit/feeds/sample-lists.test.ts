// A sample of each well-known kind of list, as its maker writes it: every entry is of exactly one kind, or skipped for one reason.
import { describe, expect, it } from 'vitest'
import { entriesIn, type EntryCounts } from '../../../src/domain/entry-counts.js'
import { skippedIn, type Skipped } from '../../../src/domain/skipped.js'
import { findHit, sizeOf, targetOf } from '../../../src/feeds/feed-index.js'
import { loadFeed, type LoadResult } from '../../../src/feeds/load-feed.js'
import { feedFile, feedSettings } from '../../support/feed-files.js'

const now = Date.UTC(2026, 10, 15)

type Sample = {
  readonly list: string
  /** What the file holds, counted by hand. */
  readonly holds: number
  readonly entries: Partial<EntryCounts>
  readonly skipped?: Skipped
}

const threatfoxRow = (id: number, value: string, type: string, threat: string): string =>
  `"2026-11-14 21:05:${10 + id}", "${id}", "${value}", "${type}", "${threat}", "win.sample", "None", "Sample", "", "75", "False", "None", "tag,C2", "0", "reporter"`
const hash = 'd41d8cd98f00b204e9800998ecf8427e'

const threatfoxCsv = `################################################################
# ThreatFox IOCs: recent - CSV format                           #
# Last updated: 2026-11-15 00:00:00 UTC                         #
################################################################
#
# "first_seen_utc","ioc_id","ioc_value","ioc_type","threat_type","fk_malware","malware_alias","malware_printable","last_seen_utc","confidence_level","is_compromised","reference","tags","anonymous","reporter"
${threatfoxRow(1, '203.0.113.7:443', 'ip:port', 'botnet_cc')}
${threatfoxRow(2, '203.0.113.7:8443', 'ip:port', 'botnet_cc')}
${threatfoxRow(3, 'c2.example.com', 'domain', 'botnet_cc')}
${threatfoxRow(4, 'https://bad.example.net/gate.php', 'url', 'botnet_cc')}
${threatfoxRow(5, hash, 'md5_hash', 'payload')}
${threatfoxRow(6, '203.0.113.7:443', 'ip:port', 'botnet_cc')}
# Number of entries: 6
`
const threatfoxJson = JSON.stringify({
  4711: [{ ioc_value: '203.0.113.7:443', ioc_type: 'ip:port', threat_type: 'botnet_cc', confidence_level: 100 }],
  4712: [{ ioc_value: 'c2.example.com', ioc_type: 'domain', threat_type: 'botnet_cc', confidence_level: 75 }],
  4713: [{ ioc_value: 'http://203.0.113.8:8080/a.sh', ioc_type: 'url', threat_type: 'payload_delivery' }],
  4714: [{ ioc_value: hash, ioc_type: 'md5_hash', threat_type: 'payload', confidence_level: 50 }],
})
const feodoCsv = `################################################################
# Feodo Tracker Botnet C2 IP Blocklist (IPs only)               #
################################################################
#
# "first_seen_utc","dst_ip","dst_port","c2_status","last_online","malware"
"2026-11-01 07:50:00","203.0.113.10","443","online","2026-11-14","Sample"
"2026-11-02 07:50:00","203.0.113.11","995","offline","2026-11-10","Sample"
"2026-11-02 07:50:00","10.1.2.3","995","offline","2026-11-10","Sample"
# END 3 entries
`
const feodoJson = JSON.stringify([
  { ip_address: '203.0.113.10', port: 443, status: 'online', hostname: null, as_number: 64500, malware: 'Sample' },
  { ip_address: '203.0.113.11', port: 995, status: 'offline', hostname: 'a.example.com', as_number: 64501 },
])
const urlhausRow = (id: number, url: string): string =>
  `"${id}","2026-11-14 21:05:${10 + id}","${url}","online","2026-11-15","malware_download","elf,sample","https://list.example.org/url/${id}/","reporter"`
const urlhausCsv = `################################################################
# URLhaus Database Dump (CSV - recent URLs only)               #
################################################################
#
# id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter
${urlhausRow(1, 'https://raw.githubusercontent.com/evil/tools/main/x.sh')}
${urlhausRow(2, 'http://203.0.113.20:37215/bin.sh')}
${urlhausRow(3, 'http://bad.example.com/')}
${urlhausRow(4, 'http://bad.example.com:8080/a?b=c')}
`
const urlhausText = `################################################################
# URLhaus database dump (plain text, online URLs only)         #
################################################################
#
https://raw.githubusercontent.com/evil/tools/main/x.sh
http://203.0.113.20:37215/bin.sh
http://bad.example.com:8080/a?b=c
http://bad.example.com:8080/a?b=c
`
const attribute = (type: string, value: string, more: object = {}): object => ({
  uuid: `${type} ${value}`,
  type,
  value,
  category: 'Network activity',
  to_ids: true,
  timestamp: '1794700000',
  ...more,
})
const misp = JSON.stringify({
  Event: {
    uuid: 'event',
    Tag: [{ name: 'tlp:green' }],
    Attribute: [
      attribute('ip-dst|port', '203.0.113.30|4444'),
      attribute('ip-src|port', '203.0.113.31|22'),
      attribute('ip-dst', '203.0.113.32'),
      attribute('url', 'https://bad.example.net/login'),
      attribute('domain|ip', 'c2.example.net|203.0.113.33'),
      attribute('hostname|port', 'www.c2.example.net|8443'),
      attribute('filename|md5', `a.exe|${hash}`),
      attribute('ip-dst', '203.0.113.34', { to_ids: false }),
    ],
    Object: [
      {
        name: 'ip-port',
        Attribute: [
          attribute('ip-dst', '203.0.113.35', { object_relation: 'ip-dst' }),
          attribute('port', '4443', { object_relation: 'dst-port' }),
        ],
      },
    ],
  },
})
const indicator = (id: number, pattern: string, more: object = {}): object => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--${id}`,
  modified: '2026-11-14T00:00:00.000Z',
  valid_from: '2026-11-01T00:00:00Z',
  pattern,
  pattern_type: 'stix',
  ...more,
})
const server = "network-traffic:dst_ref.value = '203.0.113.40'"
const stix = JSON.stringify({
  type: 'bundle',
  id: 'bundle--1',
  objects: [
    indicator(1, `[${server} AND network-traffic:dst_port = 443]`),
    indicator(2, `[${server} AND network-traffic:dst_port IN (8080, 8443)]`),
    indicator(3, "[url:value = 'https://bad.example.net/login']"),
    indicator(4, "[ipv4-addr:value = '203.0.113.41' OR domain-name:value = 'c2.example.org']"),
    indicator(5, "[file:hashes.MD5 = 'd41d8cd98f00b204e9800998ecf8427e']"),
    indicator(6, "[domain-name:value LIKE '%.example.org']"),
    { type: 'url', id: 'url--1', value: 'https://seen.example.net/' },
    { type: 'identity', id: 'identity--1', name: 'Maker' },
  ],
})
const opencti = JSON.stringify({
  type: 'bundle',
  id: 'bundle--2',
  objects: [
    indicator(1, "[ipv4-addr:value = '203.0.113.50']", { name: '203.0.113.50', labels: ['botnet'], confidence: 80 }),
    indicator(2, "[url:value = 'https://bad.example.net/x']", { x_opencti_score: 90, confidence: 60 }),
    indicator(3, "[x-opencti-hostname:value = 'host.example.net']", { x_opencti_main_observable_type: 'Hostname' }),
    indicator(4, "[hostname:value = 'host.example.net']", { revoked: true }),
    indicator(5, 'rule sample { condition: true }', { pattern_type: 'yara' }),
    { type: 'ipv4-addr', id: 'ipv4-addr--1', value: '203.0.113.51', x_opencti_score: 20 },
    { type: 'relationship', id: 'relationship--1', relationship_type: 'based-on' },
  ],
})
/** As its connector writes it: the members of all objects, sorted by name, between semicolons, each in quotes. */
const openctiCsv = (rows: readonly Readonly<Record<string, string>>[]): string => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].toSorted()
  const lines = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))]
  const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`
  return lines.map((line) => `${line.map(quoted).join(';')}\r\n`).join('')
}
const openctiIndicator = (id: number, pattern: string, more: Readonly<Record<string, string>> = {}) => ({
  id: `${id}`,
  standard_id: `indicator--${id}`,
  entity_type: 'Indicator',
  parent_types: 'Basic-Object,Stix-Object,Stix-Core-Object,Stix-Domain-Object',
  spec_version: '2.1',
  created_at: '2026-11-14T00:00:00.000Z',
  modified: '2026-11-14T00:00:00.000Z',
  createdBy: 'Maker of example.org',
  objectMarking: 'TLP:GREEN',
  objectLabel: 'botnet,c2',
  revoked: 'False',
  confidence: '75',
  pattern_type: 'stix',
  pattern,
  name: 'C2 server',
  description: 'Seen;\nwith "quotes"',
  valid_from: '2026-11-01T00:00:00.000Z',
  valid_until: '2027-11-01T00:00:00.000Z',
  x_opencti_score: '90',
  x_opencti_main_observable_type: 'IPv4-Addr',
  observables: '203.0.113.60',
  ...more,
})
const openctiIndicators = openctiCsv([
  openctiIndicator(1, "[ipv4-addr:value = '203.0.113.60']"),
  openctiIndicator(2, "[network-traffic:dst_ref.value = '203.0.113.61' AND network-traffic:dst_port = 8443]"),
  openctiIndicator(3, "[domain-name:value = 'c2.example.net' OR url:value = 'https://bad.example.net/x']"),
  openctiIndicator(4, "[hostname:value = 'host.example.net']", { revoked: 'True' }),
  openctiIndicator(5, 'rule sample { condition: true }', { pattern_type: 'yara' }),
  openctiIndicator(6, "[file:hashes.MD5 = 'd41d8cd98f00b204e9800998ecf8427e']"),
  openctiIndicator(7, "[ipv4-addr:value = '203.0.113.62']", { valid_until: '2026-11-02T00:00:00.000Z' }),
  openctiIndicator(8, "[ipv4-addr:value = '203.0.113.63'"),
])
const openctiObservable = (type: string, value: string, more: Readonly<Record<string, string>> = {}) => ({
  id: value,
  standard_id: `${type.toLowerCase()}--${value}`,
  entity_type: type,
  observable_value: value,
  objectLabel: 'phishing',
  objectMarking: 'TLP:CLEAR',
  x_opencti_score: '80',
  created_at: '2026-11-14T00:00:00.000Z',
  ...more,
})
const openctiObservables = openctiCsv([
  openctiObservable('IPv4-Addr', '203.0.113.70', { value: '203.0.113.70' }),
  openctiObservable('Url', 'https://bad.example.net/y', { value: 'https://bad.example.net/y' }),
  openctiObservable('Hostname', 'host.example.net', { value: 'host.example.net' }),
  openctiObservable('StixFile', hash, { name: 'a.exe', hashes: '', hashes_MD5: hash }),
])

const samples: readonly (readonly [string, Sample])[] = [
  [
    'ThreatFox as CSV',
    {
      list: threatfoxCsv,
      holds: 6,
      entries: { endpoints: 2, names: 1, urls: 1 },
      skipped: { not_looked_up: 1, duplicate: 1 },
    },
  ],
  [
    'ThreatFox as JSON',
    { list: threatfoxJson, holds: 4, entries: { endpoints: 1, addresses: 1, names: 1 }, skipped: { not_looked_up: 1 } },
  ],
  ['Feodo Tracker as CSV', { list: feodoCsv, holds: 3, entries: { endpoints: 2 }, skipped: { too_broad: 1 } }],
  ['Feodo Tracker as JSON', { list: feodoJson, holds: 2, entries: { endpoints: 2 } }],
  ['URLhaus as CSV', { list: urlhausCsv, holds: 4, entries: { addresses: 1, names: 1, urls: 2 } }],
  ['URLhaus as text', { list: urlhausText, holds: 4, entries: { addresses: 1, urls: 2 }, skipped: { duplicate: 1 } }],
  [
    'a MISP event',
    {
      list: misp,
      holds: 11,
      entries: { endpoints: 3, addresses: 2, names: 2, urls: 1 },
      skipped: { not_looked_up: 2, not_for_detection: 1 },
    },
  ],
  [
    'a STIX bundle',
    {
      list: stix,
      holds: 9,
      entries: { endpoints: 3, addresses: 1, names: 1, urls: 1 },
      skipped: { not_looked_up: 1, inexact: 1, not_for_detection: 1 },
    },
  ],
  [
    'an export of OpenCTI as STIX',
    {
      list: opencti,
      holds: 6,
      entries: { addresses: 1, names: 1, urls: 1 },
      skipped: { revoked: 1, other_language: 1, not_for_detection: 1 },
    },
  ],
  [
    'indicators of OpenCTI as CSV',
    {
      list: openctiIndicators,
      holds: 9,
      entries: { addresses: 1, endpoints: 1, names: 1, urls: 1 },
      skipped: { revoked: 1, other_language: 1, not_looked_up: 1, expired: 1, broken: 1 },
    },
  ],
  [
    'observables of OpenCTI as CSV',
    {
      list: openctiObservables,
      holds: 4,
      entries: { addresses: 1, names: 1, urls: 1 },
      skipped: { not_looked_up: 1 },
    },
  ],
]

const load = (list: string): LoadResult & { ok: true } => {
  const loaded = loadFeed({ feed: feedSettings({ path: feedFile(list) }), now, seed: 7 })
  if (!loaded.ok) throw new Error(loaded.problem.message)
  return loaded
}

describe('a list that many use', () => {
  it.each(samples)('is read whole: %s', (_, { list, holds, entries, skipped = {} }) => {
    const loaded = load(list)
    const { bytes, ...counts } = sizeOf(loaded.index)
    expect(bytes).toBeGreaterThan(0)
    expect(counts).toEqual({ addresses: 0, endpoints: 0, names: 0, urls: 0, ...entries })
    expect(loaded.skipped).toEqual(skipped)
    expect(entriesIn(counts) + skippedIn(loaded.skipped)).toBe(holds)
  })

  it('says what OpenCTI says about an indicator', () => {
    const { index } = load(openctiIndicators)
    const hit = findHit(index, targetOf({ type: 'ip', value: '203.0.113.60' })!, now / 1000)
    expect(hit).toMatchObject({ entry: '203.0.113.60', score: 75, categories: ['tlp:green', 'botnet', 'c2'] })
  })
})

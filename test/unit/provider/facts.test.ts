// Every example answer with the verdict it must lead to, written by hand, and the tolerance that the interface asks for.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Facts } from '../../../src/domain/finding.js'
import { judge } from '../../../src/domain/judge.js'
import { shippedTable } from '../../../src/domain/judgement-table.js'
import { joinFacts } from '../../../src/provider/facts.js'
import { ownReader } from '../../support/own-reader.js'
import { fixture } from '../../support/service-fixtures.js'

const { addressFacts, reportFacts, reportsFacts, reportSubjects } = ownReader
const now = Date.UTC(2024, 4, 10)
const hostOf = (value: unknown) => reportSubjects({ data: { main_domain_info: { main_domain: value } } })[0]
const words = (
  facts: Facts,
  type: 'ip' | 'domain',
  value: string,
  role: 'source' | 'destination' | 'query',
  at = now,
) => {
  const verdict = judge({ status: 'known', facts, source: 'service', at }, { type, value, role }, shippedTable, at)
  return [verdict.level, verdict.reason, verdict.score].filter((part) => part !== undefined).join(' ')
}

describe('the example answer about an address', () => {
  it.each([
    ['ip-data', 'malicious 85', 'suspicious 75'],
    ['ip-summary', 'clean', 'clean'],
    ['ip-vpn', 'unknown no_verdict', 'unknown no_verdict'],
    ['ip-hosting', 'unknown no_verdict', 'unknown no_verdict'],
    ['ip-malicious-info', 'malicious 90', 'malicious 90'],
    ['ip-privacy-threat', 'unknown no_verdict', 'unknown no_verdict'],
    ['ip-is_safe_dns_server', 'unknown no_verdict', 'unknown no_verdict'],
    ['ip-suspicious_info', 'malicious 85', 'malicious 99'],
  ])('%s is %s as source and %s as destination', (name, source, destination) => {
    const facts = addressFacts(fixture(name), now)
    expect(words(facts, 'ip', '198.51.100.1', 'source')).toBe(source)
    expect(words(facts, 'ip', '198.51.100.1', 'destination')).toBe(destination)
  })
  it('ip-malicious-info says why', () => {
    const facts = addressFacts(fixture('ip-malicious-info'), now)
    const verdict = judge(
      { status: 'known', facts, source: 'service', at: now },
      { type: 'ip', value: '198.51.100.60', role: 'source' },
      shippedTable,
      now,
    )
    expect(verdict.because).toBe('reported malicious, category malware, 1 scanning record')
    expect(verdict.flags).toEqual({
      is_malicious: true,
      can_remote_access: true,
      is_vpn: false,
      is_anonymous_vpn: false,
    })
  })
  it('ip-data becomes facts', () => {
    expect(addressFacts(fixture('ip-data'), now)).toEqual({
      flags: {
        is_vpn: false,
        is_cloud: true,
        is_tor: false,
        is_proxy: false,
        is_hosting: true,
        is_mobile: false,
        is_darkweb: false,
        is_scanner: true,
        is_snort: false,
      },
      inbound: 'dangerous',
      outbound: 'low',
      categories: ['attack (High)'],
      scanningRecords: 1,
      idsHits: 1,
      idsLatest: Date.UTC(2024, 0, 3),
      details: {
        owner: 'Example Hosting',
        country: 'NL',
        as: { number: 64500, name: 'EXAMPLE-AS' },
        openPorts: [443],
        vulnerabilities: ['CVE-2099-0001'],
      },
    })
  })
  it('takes of the rows of a port the newest, and no closed one', () => {
    const rows = (...each: readonly (readonly [unknown, string, string])[]) =>
      addressFacts(
        {
          port: {
            count: 9,
            data: each.map(([open_port_no, port_status, confirmed_time]) => ({
              open_port_no,
              port_status,
              confirmed_time,
            })),
          },
        },
        now,
      ).details?.openPorts
    expect(rows([80, 'open', '2024-01-01'], [80, 'closed', '2024-02-01'], [22, 'Open', '2023-01-01'])).toEqual([22])
    expect(rows([80, 'closed', '2023-01-01'], [80, 'open', '2024-02-01'])).toEqual([80])
    expect(rows([0, 'open', ''], [65_536, 'open', ''], ['8080', 'open', ''], [-1, 'open', ''])).toEqual([8080])
  })
  it('says nothing of places, vulnerabilities and exposed devices that it does not understand', () => {
    const whois = { data: [{ org_country_code: 'Netherlands', as_no: 'x', org_name: 'N/A' }] }
    const answer = {
      whois,
      vulnerability: { data: [{ cve_id: 'x' }, { cve_id: 7 }] },
      webcam: { count: 0 },
      nas: 'yes',
    }
    expect(addressFacts(answer, now).details).toBeUndefined()
    expect(addressFacts({ as_no: 'AS64500' }, now).details).toEqual({ as: { number: 64500 } })
  })
})

describe('the example answer about a domain', () => {
  it.each([
    ['www.example.com', now, 'clean'],
    ['example.com', now, 'clean'],
    ['shop.example.com', now, 'clean'],
    ['example.com.evil.test', now, 'unknown not_found'],
    ['www.example.com', Date.UTC(2024, 4, 31, 6, 59), 'clean'],
    ['www.example.com', Date.UTC(2024, 4, 31, 7), 'unknown outdated'],
  ])('domain-reports: %s at %i is %s', (name, at, expected) => {
    expect(words(reportsFacts(fixture('domain-reports'), 'example.com', at), 'domain', name, 'query', at)).toBe(
      expected,
    )
  })
  it('domain-reports-personal knows no host', () => {
    expect(reportsFacts(fixture('domain-reports-personal'), 'example.com', now).hosts).toEqual([])
  })
  it('domain-report makes its host malicious', () => {
    const report = reportFacts(fixture('domain-report'), { host: 'example.com', issues: [] }, now)
    expect(report).toEqual({
      host: 'example.com',
      issues: [],
      rating: 'dangerous',
      at: Date.UTC(2024, 4, 1, 7),
      phishingRecords: 1,
      safeBrowsingHits: 0,
      criticalAbuseRecords: 0,
      phishingProbability: 61.5,
      dgaScore: 0.4,
      registeredAt: Date.UTC(2024, 3, 20),
      fakeDomain: false,
      invalidTls: false,
    })
    const facts: Facts = { flags: {}, categories: [], domain: 'example.com', hosts: [report] }
    expect(words(facts, 'domain', 'www.example.com', 'query')).toBe('malicious 90')
    expect(reportSubjects(fixture('domain-report'))).toEqual(['example.com', 'example.com'])
  })
  it('of sites.example.com and example.com.evil.test says nothing about www.example.com', () => {
    const row = (url: string) => ({ url, score: 'Critical', reg_dtime: '2024-05-09 00:00:00' })
    const answer = {
      data: { reports: [row('https://example.com.evil.test/'), row('https://sites.example.com/login')] },
    }
    const facts = reportsFacts(answer, 'example.com', now)
    expect(facts.hosts?.map(({ host }) => host)).toEqual(['sites.example.com'])
    expect(words(facts, 'domain', 'www.example.com', 'query')).toBe('unknown not_found')
    expect(words(facts, 'domain', 'sites.example.com', 'query')).toBe('malicious 99')
  })
})

describe('tolerance', () => {
  it.each<[string, unknown, Partial<Facts>]>([
    ['issues instead of tags', { issues: { is_tor: true } }, { flags: { is_tor: true } }],
    [
      'the accusation where tags and issues disagree',
      { tags: { is_tor: false }, issues: { is_tor: true } },
      { flags: { is_tor: true } },
    ],
    [
      'scores as words of any case',
      { score: { inbound: 'DANGEROUS', outbound: 'safe' } },
      { inbound: 'dangerous', outbound: 'safe' },
    ],
    [
      'scores as numbers and their text',
      { score: { inbound: 5, outbound: '1' } },
      { inbound: 'critical', outbound: 'safe' },
    ],
    ['no score from 0, 6, 2.5, null, N/A or High', { score: { inbound: 0, outbound: 'N/A' } }, {}],
    ['no score from a word nobody knows', { score: { inbound: 'High', outbound: 2.5 } }, {}],
    [
      'the answer below data',
      { status: 200, data: { ip: '198.51.100.1', is_malicious: true } },
      { flags: { is_malicious: true } },
    ],
    [
      'flags as text and numbers',
      { is_malicious: 'True', is_vpn: 0 },
      { flags: { is_malicious: true, is_vpn: false } },
    ],
    ['null flags as absent', { is_malicious: null, is_vpn: '' }, {}],
    ['the true total over the rows sent', { ids: { count: 46, data: [{}] } }, { idsHits: 46 }],
    ['counts as text', { scanning_record: { count: '3' } }, { scanningRecords: 3 }],
    ['a plain list for a collection', { ip_category: [{ type: 'c2' }] }, { categories: ['c2'] }],
    [
      'no category from empty, N/A, Unknown',
      { ip_category: { data: [{ type: '' }, { type: 'N/A' }, { type: 'Unknown' }] } },
      {},
    ],
    ['a malicious name server', { reason: { is_malicious_ip: true } }, { flags: { is_malicious: true } }],
    ['no good news from a name server’s reasons', { reason: { is_malicious_ip: false } }, {}],
    [
      'the date of the newest hit, never a future one',
      { ids: { data: [{ confirmed_time: '2024-01-01' }, { confirmed_time: '2999-01-01 00:00:00' }] } },
      { idsHits: 2, idsLatest: now },
    ],
  ])('reads %s', (_, answer, expected) => {
    expect(addressFacts(answer, now)).toEqual({ flags: {}, categories: [], ...expected })
  })

  it.each([
    ['Low', 'low'],
    ['critical', 'critical'],
    ['80%', 'dangerous'],
    ['99%', 'critical'],
    ['high', undefined],
    [null, undefined],
  ])('reads a report’s score %s as %s', (score, rating) => {
    const facts = reportsFacts({ data: { reports: [{ url: 'example.com', score }] } }, 'example.com', now)
    expect(facts.hosts?.[0]?.rating).toBe(rating)
  })

  it.each([
    [{ score: 'moderate' }, 'moderate'],
    [{ score_percentage: 40 }, 'low'],
    [{ score_percentage: '99%' }, 'critical'],
    [{ score_num: 3.0 }, 'dangerous'],
    [{ score_num: '4' }, 'critical'],
    [{}, undefined],
  ])('reads a domain’s score %j as %s', (domain_score, rating) => {
    const answer = { data: { main_domain_info: { domain_score } } }
    expect(reportFacts(answer, { host: 'example.com', issues: [] }, now).rating).toBe(rating)
  })
  it('reads the 2022 place of a domain’s score', () => {
    const answer = { data: { domain_score_new: { score: 'Dangerous', score_num: 3 }, network_logs: [], ssl: {} } }
    expect(reportFacts(answer, { host: 'example.com', issues: [] }, now).rating).toBe('dangerous')
  })
  it('takes old and new names of a row’s issues', () => {
    const reports = [
      { url: 'a.example.com', issue: ['newborn domain', null] },
      { url: ['http://b.example.com/x', 'http://c.example.com/'], issues: ['phishing'] },
    ]
    expect(reportsFacts({ data: { reports } }, 'example.com', now).hosts).toEqual([
      { host: 'a.example.com', issues: ['newborn domain'] },
      { host: 'b.example.com', issues: ['phishing'] },
    ])
  })
  it.each([
    ['https://www.example.com/', 'www.example.com'],
    ['WWW.Example.COM/path?x=1', 'www.example.com'],
    ['https://www.example.com@evil.test/', 'evil.test'],
    ['http://198.51.100.1/', undefined],
    ['http://[2001:db8::1]/', undefined],
    ['', undefined],
    ['http://', undefined],
    [7, undefined],
  ])('finds the host of %s', (url, host) => {
    expect(hostOf(url)).toBe(host)
  })
  it('never throws, and keeps what it takes small', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const shapes = [
          value,
          { data: value },
          { data: { reports: value } },
          { score: value, ids: value, ip_category: value },
        ]
        for (const shape of shapes) {
          addressFacts(shape, now)
          reportsFacts(shape, 'example.com', now)
          reportFacts(shape, { host: 'example.com', issues: [] }, now)
        }
      }),
    )
    const data = Array.from({ length: 10_000 }, (_, i) => ({ type: `${i}\u001b[31m${'x'.repeat(1000)}` }))
    const { categories } = addressFacts({ ip_category: { data } }, now)
    expect(categories.length).toBe(16)
    expect(categories.every((name) => name.length <= 48 && !name.includes('\u001b'))).toBe(true)
  })
})

describe('joinFacts', () => {
  it('adds what a second answer says and never takes an accusation back', () => {
    const one = addressFacts(fixture('ip-malicious-info'), now)
    const other = addressFacts(
      { is_malicious: false, score: { inbound: 'Critical' }, scanning_record: { count: 0 } },
      now,
    )
    expect(joinFacts(one, other)).toMatchObject({
      flags: { is_malicious: true, can_remote_access: true },
      inbound: 'critical',
      categories: ['malware'],
      scanningRecords: 1,
    })
  })
})

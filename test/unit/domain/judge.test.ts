// One golden case for every row of the shipped table, then the rules around it.
import { describe, expect, it } from 'vitest'
import type { Facts, HostReport, Known } from '../../../src/domain/finding.js'
import { judge, worstLevel, type IndicatorInRole } from '../../../src/domain/judge.js'
import { shippedTable, type JudgementTable } from '../../../src/domain/judgement-table.js'
import type { Role } from '../../../src/domain/sighting.js'

const now = Date.UTC(2026, 10, 15)
const day = 86_400_000
const known = (facts: Partial<Facts>, source = 'service'): Known => ({
  status: 'known',
  facts: { flags: {}, categories: [], ...facts },
  source,
  at: now - 1000,
})
const ip = (role: Role): IndicatorInRole => ({ type: 'ip', value: '198.51.100.60', role })
const name = (value: string): IndicatorInRole => ({ type: 'domain', value, role: 'query' })
const verdict = (facts: Partial<Facts>, sighting: IndicatorInRole, table: JudgementTable = shippedTable) => {
  const { level, score, reason, because } = judge(known(facts), sighting, table, now)
  return { level, ...(score === undefined ? {} : { score }), ...(reason === undefined ? {} : { reason }), because }
}

const addresses: readonly [title: string, facts: Partial<Facts>, role: Role, level: string, score?: number][] = [
  ['reported malicious', { flags: { is_malicious: true } }, 'other', 'malicious', 90],
  ['Critical for the role', { inbound: 'critical' }, 'source', 'malicious', 99],
  [
    'Critical, but explicitly not malicious',
    { flags: { is_malicious: false }, inbound: 'critical' },
    'source',
    'suspicious',
    80,
  ],
  [
    'Dangerous with a category',
    { outbound: 'dangerous', categories: ['attack (High)'] },
    'destination',
    'malicious',
    85,
  ],
  ['Dangerous with an abuse record', { outbound: 'dangerous', abuseRecords: 1 }, 'destination', 'malicious', 85],
  [
    'Dangerous with an ids hit of the last 90 days',
    { inbound: 'dangerous', idsHits: 1, idsLatest: now - 89 * day },
    'source',
    'malicious',
    85,
  ],
  [
    'Dangerous with an ids hit of 90 days ago',
    { inbound: 'dangerous', idsHits: 1, idsLatest: now - 90 * day },
    'source',
    'suspicious',
    75,
  ],
  ['Dangerous alone', { inbound: 'dangerous' }, 'source', 'suspicious', 75],
  ['a bad category alone', { categories: ['malware'] }, 'destination', 'suspicious', 75],
  [
    'a category of a lower grade',
    { flags: { is_malicious: false }, categories: ['ddos (Medium)'] },
    'destination',
    'clean',
  ],
  ['Tor', { flags: { is_malicious: false, is_tor: true } }, 'destination', 'suspicious', 60],
  ['dark web', { flags: { is_darkweb: true } }, 'other', 'suspicious', 60],
  ['a scanner as source', { flags: { is_malicious: false, is_scanner: true } }, 'source', 'suspicious', 50],
  ['a scanner as destination', { flags: { is_malicious: false, is_scanner: true } }, 'destination', 'clean'],
  ['scanning records as source', { scanningRecords: 3 }, 'source', 'suspicious', 50],
  ['in snort rules as source', { flags: { is_snort: true } }, 'source', 'suspicious', 50],
  ['ids hits as source', { idsHits: 2 }, 'source', 'suspicious', 50],
  ['Moderate as destination', { outbound: 'moderate' }, 'destination', 'suspicious', 50],
  ['Moderate as source', { inbound: 'moderate' }, 'source', 'clean', 40],
  [
    'flags only',
    {
      flags: {
        is_malicious: false,
        is_vpn: true,
        is_anonymous_vpn: true,
        is_proxy: true,
        is_hosting: true,
        is_cloud: true,
        is_mobile: true,
        can_remote_access: true,
      },
    },
    'source',
    'clean',
  ],
  ['not malicious and nothing else', { flags: { is_malicious: false } }, 'source', 'clean'],
  ['a low score alone', { inbound: 'low' }, 'source', 'clean'],
]

const host = (report: Partial<HostReport>): Partial<Facts> => ({
  domain: 'example.com',
  hosts: [{ host: 'example.com', at: now - day, issues: [], ...report }],
})
const domains: readonly [title: string, report: Partial<HostReport>, level: string, score?: number][] = [
  ['Critical', { rating: 'critical' }, 'malicious', 99],
  ['Dangerous with a phishing record', { rating: 'dangerous', phishingRecords: 1 }, 'malicious', 90],
  ['Dangerous with a Safe Browsing hit', { rating: 'dangerous', safeBrowsingHits: 1 }, 'malicious', 90],
  ['Dangerous with a critical abuse record', { rating: 'dangerous', criticalAbuseRecords: 1 }, 'malicious', 90],
  ['Dangerous with phishing probability 80', { rating: 'dangerous', phishingProbability: 80 }, 'malicious', 90],
  ['Dangerous with phishing probability 79.9', { rating: 'dangerous', phishingProbability: 79.9 }, 'suspicious', 75],
  ['Dangerous alone', { rating: 'dangerous' }, 'suspicious', 75],
  ['Moderate', { rating: 'moderate' }, 'suspicious', 50],
  ['newborn and random-looking', { rating: 'safe', registeredAt: now - 29 * day, dgaScore: 8 }, 'suspicious', 50],
  ['fake and with invalid TLS', { fakeDomain: true, invalidTls: true }, 'suspicious', 50],
  ['30 days old and random-looking', { rating: 'safe', registeredAt: now - 30 * day, dgaScore: 8 }, 'clean'],
  ['one sign', { rating: 'safe', dgaScore: 10 }, 'clean'],
  ['Safe', { rating: 'safe' }, 'clean'],
  ['Low', { rating: 'low' }, 'clean'],
]

describe('judge: the shipped table', () => {
  it.each(addresses)('an address: %s', (_, facts, role, level, score) => {
    const { because, ...rest } = verdict(facts, ip(role))
    expect(rest).toEqual(score === undefined ? { level } : { level, score })
    expect(because).not.toBe('')
  })
  it.each(domains)('a domain: %s', (_, report, level, score) => {
    const { because, ...rest } = verdict(host(report), name('example.com'))
    expect(rest).toEqual(score === undefined ? { level } : { level, score })
    expect(because).not.toBe('')
  })
  it('says no_verdict where neither is_malicious nor a score was given', () => {
    expect(verdict({ flags: { is_vpn: true } }, ip('source'))).toEqual({
      level: 'unknown',
      reason: 'no_verdict',
      because: 'no verdict',
    })
    expect(verdict(host({}), name('example.com'))).toMatchObject({ level: 'unknown', reason: 'no_verdict' })
  })
  it('follows a changed row', () => {
    const table: JudgementTable = {
      ...shippedTable,
      rows: { ...shippedTable.rows, hidden: { level: 'flag' }, scanner: { level: 'suspicious', score: 45 } },
    }
    expect(verdict({ flags: { is_malicious: false, is_tor: true } }, ip('source'), table).level).toBe('clean')
    expect(verdict({ flags: { is_malicious: false, is_scanner: true } }, ip('destination'), table)).toMatchObject({
      level: 'suspicious',
      score: 45,
    })
  })
})

describe('judge: the score that counts', () => {
  const facts: Partial<Facts> = { inbound: 'critical', outbound: 'low' }
  it.each([
    ['source', 'malicious', 99],
    ['destination', 'clean', undefined],
    ['other', 'suspicious', 75],
    ['url', 'suspicious', 75],
  ] as const)('for a %s is %s', (role, level, score) => {
    expect(verdict(facts, ip(role))).toMatchObject(score === undefined ? { level } : { level, score })
  })
  it('is the other one, one level lower, if the role has none', () => {
    expect(verdict({ outbound: 'critical' }, ip('source'))).toMatchObject({ level: 'suspicious', score: 75 })
  })
  it('does not call a role clean that the answer does not cover', () => {
    expect(verdict({ outbound: 'safe' }, ip('source'))).toMatchObject({ level: 'unknown', reason: 'no_verdict' })
  })
})

describe('judge: which report counts', () => {
  const hosts: HostReport[] = [
    { host: 'sites.example.com', at: now - day, rating: 'critical', issues: [] },
    { host: 'www.example.com', at: now - 5 * day, rating: 'critical', issues: [] },
    { host: 'www.example.com', at: now - 2 * day, rating: 'low', issues: [] },
    { host: 'example.com', at: now - 3 * day, rating: 'moderate', issues: [] },
  ]
  const facts: Partial<Facts> = { domain: 'example.com', hosts }
  it.each([
    ['sites.example.com', 'malicious'],
    ['www.example.com', 'clean'],
    ['example.com', 'suspicious'],
    ['shop.example.com', 'clean'],
  ])('%s is %s', (value, level) => {
    expect(verdict(facts, name(value)).level).toBe(level)
  })
  it('never uses another host’s report', () => {
    expect(verdict({ domain: 'example.com', hosts: hosts.slice(0, 1) }, name('www.example.com'))).toMatchObject({
      level: 'unknown',
      reason: 'not_found',
    })
    expect(verdict({ domain: 'example.com', hosts }, name('notexample.com'))).toMatchObject({ reason: 'not_found' })
  })
  it.each([
    ['of 30 days ago', { at: now - 30 * day }],
    ['without a date', { at: undefined }],
  ])('a report %s is outdated', (_, { at }) => {
    const report = { host: 'example.com', rating: 'low' as const, issues: [], ...(at === undefined ? {} : { at }) }
    expect(verdict({ domain: 'example.com', hosts: [report] }, name('example.com'))).toMatchObject({
      level: 'unknown',
      reason: 'outdated',
    })
  })
})

describe('judge: listings', () => {
  const listing = (level: 'malicious' | 'suspicious', score: number, expires?: number) => ({
    feed: `${level}-feed`,
    entry: '198.51.100.0/24',
    level,
    score,
    categories: ['botnet'],
    ...(expires === undefined ? {} : { expires }),
  })
  it('takes the worst one and names feed and entry', () => {
    const finding = known({ listings: [listing('suspicious', 99), listing('malicious', 70)] }, 'feed:suspicious-feed')
    expect(judge(finding, ip('source'), shippedTable, now)).toEqual({
      level: 'malicious',
      threatClass: 'serious',
      categories: ['botnet'],
      score: 70,
      flags: {},
      because: 'listed in malicious-feed as 198.51.100.0/24 (botnet)',
      source: 'feed:malicious-feed',
      at: now - 1000,
      feed: 'malicious-feed',
      entry: '198.51.100.0/24',
      listing: listing('malicious', 70),
      listings: [listing('malicious', 70), listing('suspicious', 99)],
    })
  })
  it('does not count an expired one', () => {
    const finding = known({ listings: [listing('malicious', 70, now + 1)] }, 'feed:x')
    expect(judge(finding, ip('source'), shippedTable, now).level).toBe('malicious')
    expect(judge(finding, ip('source'), shippedTable, now + 1)).toMatchObject({
      level: 'unknown',
      reason: 'not_listed',
    })
  })
  it('does not outweigh a worse answer', () => {
    expect(
      judge(
        known({ flags: { is_malicious: true }, listings: [listing('suspicious', 99)] }),
        ip('source'),
        shippedTable,
        now,
      ),
    ).toMatchObject({ level: 'malicious', score: 90, source: 'service' })
  })
  it('accuses a name whatever the reports say', () => {
    const facts = { ...host({ rating: 'safe' }), listings: [{ ...listing('malicious', 80), entry: 'example.com' }] }
    expect(verdict(facts, name('deep.example.com'))).toMatchObject({ level: 'malicious', score: 80 })
  })
})

describe('judge: the same facts again', () => {
  it('says until when its answer holds', () => {
    const finding = known({ inbound: 'dangerous', idsHits: 1, idsLatest: now - 89 * day })
    const first = judge(finding, ip('source'), shippedTable, now)
    expect(first.until).toBe(now + day)
    expect(judge(finding, ip('source'), shippedTable, now + day - 1)).toEqual(first)
    expect(judge(finding, ip('source'), shippedTable, now + day).level).toBe('suspicious')
    expect(judge(finding, ip('source'), shippedTable, now).level).toBe('malicious')
    expect(judge(finding, ip('destination'), shippedTable, now).score).toBe(50)
  })
  it('keeps stale apart from fresh', () => {
    const finding = known({ flags: { is_malicious: true } })
    expect(judge(finding, ip('source'), shippedTable, now).stale).toBeUndefined()
    expect(judge({ ...finding, stale: true }, ip('source'), shippedTable, now).stale).toBe(true)
    expect(judge(finding, ip('source'), shippedTable, now).stale).toBeUndefined()
  })
  it('keeps many names of one domain apart', () => {
    const finding = known(host({ rating: 'low' }))
    for (let i = 0; i < 200; i++)
      expect(judge(finding, name(`h${i}.example.com`), shippedTable, now).level).toBe('clean')
    expect(judge(finding, name('h1.example.net'), shippedTable, now).reason).toBe('not_found')
  })
})

describe('judge: an unknown finding', () => {
  it('keeps its reason', () => {
    expect(judge({ status: 'unknown', reason: 'no_credit' }, ip('source'), shippedTable, now)).toEqual({
      level: 'unknown',
      reason: 'no_credit',
      flags: {},
      because: 'no credit',
    })
  })
})

describe('worstLevel', () => {
  it.each([
    ['the worst role', { inbound: 'low', outbound: 'critical' } as const, 'malicious'],
    ['scanning counts as it would for a source', { flags: { is_malicious: false, is_scanner: true } }, 'suspicious'],
    ['clean for every role', { flags: { is_malicious: false } }, 'clean'],
    ['nothing said', {}, 'unknown'],
  ])('of an address: %s', (_, facts, level) => {
    expect(worstLevel(known(facts), { type: 'ip', value: '198.51.100.60' }, shippedTable, now)).toBe(level)
  })
  it('of a domain is the worst of its hosts', () => {
    const facts = {
      domain: 'example.com',
      hosts: [
        { host: 'example.com', at: now, rating: 'safe' as const, issues: [] },
        { host: 'sites.example.com', at: now, rating: 'critical' as const, issues: [] },
      ],
    }
    expect(worstLevel(known(facts), { type: 'domain', value: 'example.com' }, shippedTable, now)).toBe('malicious')
  })
})

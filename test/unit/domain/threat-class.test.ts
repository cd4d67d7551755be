import { expect, it } from 'vitest'
import { classOfCategories } from '../../../src/domain/threat-class.js'
import { judge } from '../../../src/domain/judge.js'
import { shippedTable } from '../../../src/domain/judgement-table.js'
import type { Facts, Listing } from '../../../src/domain/finding.js'

it.each([
  [['c2'], 'serious'],
  [['scanner'], 'background'],
  [['brute-force', 'Port Scan', 'web_spam'], 'background'],
  [['ssh:bruteforce'], 'background'],
  [['tor exit node', 'VPN'], 'background'],
  [['anonymization'], 'background'],
  [['scanner', 'malware'], 'serious'],
  [['malware proxy'], 'serious'],
  [['attack (high)'], 'serious'],
  [[], 'uncategorized'],
  [[''], 'uncategorized'],
  [['malicious-activity', 'tlp:clear', 'osint:source-type="block-or-filter-list"'], 'uncategorized'],
  [['blocklist', 'scanner'], 'background'],
] as const)('takes the worst of the categories %j: %s', (categories, expected) => {
  expect(classOfCategories(categories)).toBe(expected)
})

const listing = (category: string, level: Listing['level'] = 'malicious'): Listing => ({
  feed: category,
  entry: '203.0.113.7',
  level,
  categories: category === '' ? [] : [category],
})
const classOf = (listings: readonly Listing[], facts: Partial<Facts> = {}): string | undefined =>
  judge(
    { status: 'known', facts: { flags: {}, categories: [], ...facts, listings }, source: 'service', at: 0 },
    { type: 'ip', value: '203.0.113.7', role: 'source' },
    shippedTable,
    0,
  ).threatClass

it('is that of the worst accuser, so that a second listing never lowers it', () => {
  expect(classOf([listing('scanner')])).toBe('background')
  expect(classOf([listing('scanner'), listing('')])).toBe('uncategorized')
  expect(classOf([listing('scanner'), listing(''), listing('c2')])).toBe('serious')
  expect(classOf([listing('c2'), listing('scanner')])).toBe('serious')
})

it('counts only who accuses at the level of the verdict', () => {
  expect(classOf([listing('scanner'), listing('c2', 'suspicious')])).toBe('background')
  expect(classOf([listing('scanner'), listing('c2', 'flag')])).toBe('background')
  expect(classOf([listing('c2', 'suspicious')])).toBe('serious')
})

it('knows what the provider says by its categories and flags', () => {
  expect(classOf([], { flags: { is_malicious: true } })).toBe('uncategorized')
  expect(classOf([], { flags: { is_malicious: true, is_scanner: true } })).toBe('background')
  expect(classOf([], { flags: { is_malicious: true, is_vpn: true }, categories: ['malware'] })).toBe('serious')
  expect(classOf([listing('scanner')], { flags: { is_malicious: true } })).toBe('uncategorized')
})

it('is absent where nobody accuses', () => {
  expect(classOf([listing('c2', 'flag')])).toBeUndefined()
  expect(classOf([], { flags: { is_malicious: false } })).toBeUndefined()
})

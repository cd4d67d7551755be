// What a source says becomes at most one listing; what is not as described is refused, and never a verdict.
import { describe, expect, it } from 'vitest'
import type { SourceDescription } from '../../../../src/domain/source-description.js'
import { readAnswer } from '../../../../src/provider/read-source-answer.js'
import { newYear } from '../../../support/clock.js'

const source: SourceDescription = {
  id: 'mine',
  name: 'Mine',
  terms: { url: 'https://intel.example.com', note: 'Free.' },
  limits: [],
  ask: { ip: 'https://intel.example.com/{value}', domain: 'https://intel.example.com/{value}' },
  statuses: {},
  subject: 'data.id',
  rows: [
    { path: 'data.trusted', equals: true, level: 'clean' },
    { path: 'data.score', atLeast: 80, level: 'malicious', score: 85 },
    { path: 'data.lists[].name', equals: 'c2', level: 'malicious', score: 90 },
    { path: 'data.lists', count: 2, level: 'suspicious', score: 60 },
  ],
  flags: { is_tor: 'data.tor', is_hosting: { path: 'data.usage', equals: 'hosting' } },
  categories: { path: 'data.lists[].name', words: { c2: 'c2', '18': 'brute force' } },
  since: 'data.seen',
  freshHours: 24,
  examples: [],
}
const ip = { type: 'ip', value: '203.0.113.7' } as const
const name = { type: 'domain', value: 'bad.example.com' } as const

const data = (members: object, id = '203.0.113.7'): Record<string, unknown> => ({ data: { id, ...members } })
const read = (
  answer: Record<string, unknown>,
  given: Partial<SourceDescription> = {},
  about: typeof ip | typeof name = ip,
) => readAnswer({ ...source, ...given }, about, answer, newYear)
const listing = (answer: Record<string, unknown>, given: Partial<SourceDescription> = {}) => {
  const result = read(answer, given)
  return 'facts' in result ? result.facts.listings?.[0] : result
}

describe('the answer of a source', () => {
  it('is one listing by the first row that matches, with its constant score and what was said as evidence', () => {
    expect(
      read(
        data({ score: 97, lists: [{ name: 'c2' }, { name: 18 }], tor: false, usage: 'hosting', seen: 1_700_000_000 }),
        {
          categories: { path: 'data.lists[].name', words: { c2: 'c2', '18': 'brute force' } },
          rows: source.rows.slice(0, 2),
        },
      ),
    ).toEqual({
      facts: {
        flags: {},
        categories: [],
        described: { is_tor: false, is_hosting: true },
        listings: [
          {
            feed: 'mine',
            entry: '203.0.113.7',
            level: 'malicious',
            score: 85,
            categories: ['c2', 'brute force'],
            since: 1_700_000_000_000,
            evidence: 'score 97',
            at: newYear,
          },
        ],
      },
    })
  })

  it.each([
    [
      'an entry of a list',
      data({ score: 1, lists: [{ name: 'x' }, { name: 'c2' }] }),
      { level: 'malicious', score: 90, evidence: 'name c2' },
    ],
    [
      'a list that is long enough',
      data({ score: 1, lists: [{ name: 'x' }, { name: 'y' }] }),
      { level: 'suspicious', evidence: 'lists 2' },
    ],
    ['the bound itself', data({ score: 80 }), { score: 85 }],
  ])('accuses by %s', (_, answer, expected) => {
    expect(listing(answer)).toMatchObject(expected)
  })

  it('is no opinion where no row matches, and says clean only by a row that does', () => {
    expect(read(data({ score: 0, lists: [] }))).toEqual({ facts: { flags: {}, categories: [] } })
    expect(read(data({ score: 99, trusted: true }))).toEqual({
      facts: { flags: {}, categories: [], clearedBy: ['mine'] },
    })
    const rows = [{ path: 'data.known', equals: true, level: 'nothing' }, ...source.rows] as const
    expect(read(data({ score: 99, known: true }), { rows })).toEqual({ facts: { flags: {}, categories: [] } })
  })

  it('never states what only the main provider may: that something is malicious or not, or a rating', () => {
    const result = read(data({ score: 99, is_malicious: false, inbound: 'safe', outbound: 'safe' }))
    expect('facts' in result && Object.keys(result.facts).toSorted()).toEqual(['categories', 'flags', 'listings'])
    expect('facts' in result && result.facts.flags).toEqual({})
  })

  it('is about the same address in another spelling, and the same name in capitals', () => {
    const about = { type: 'ip', value: '2001:db8::7' } as const
    expect(readAnswer(source, about, data({ score: 99 }, '2001:0DB8:0:0:0:0:0:7'), newYear)).toHaveProperty('facts')
    expect(read(data({ score: 99 }, 'BAD.example.com.'), {}, name)).toHaveProperty('facts')
  })

  it.each<[string, Record<string, unknown>, Partial<SourceDescription>?]>([
    ['about another address', data({ score: 99 }, '203.0.113.8')],
    ['about nothing', { data: { score: 99 } }],
    ['about a list of addresses', { data: { id: ['203.0.113.7'], score: 99 } }],
    ['about an object', { data: { id: { toString: '203.0.113.7' }, score: 99 } }],
    ['a score that is text', data({ score: '100' })],
    ['a score that is a list', data({ score: [100] })],
    ['a list that is an object', data({ score: 1, lists: { length: 5 } })],
    ['a list of texts where objects are described', data({ score: 1, lists: ['c2'] })],
    ['a flag that is text', data({ score: 99, tor: 'true' })],
    ['a trust that is a number', data({ score: 99, trusted: 1 })],
    ['a time that is an object', data({ score: 99, seen: {} })],
    [
      'a category that is an object',
      data({ score: 99, lists: [{ name: { c2: 1 } }] }),
      { rows: source.rows.slice(0, 2) },
    ],
    ['text where an object is described', { data: 'malicious' }],
    ['a list where an object is described', { data: [{ id: '203.0.113.7', score: 99 }] }],
    ['empty', {}],
    ['nothing of what the rows look for', data({})],
    ['nothing of it, without a subject', { score: 99 }, { subject: undefined as never }],
  ])('is refused where it is %s', (_, answer, given) => {
    expect(read(answer, given)).toHaveProperty('problem')
  })

  it.each([
    '__proto__.polluted',
    'constructor.name',
    'data.toString.length',
    'data.__proto__.score',
    'data.lists.length',
  ])('finds nothing along %s: only what the answer itself has', (path) => {
    const rows = [
      { path: 'data.score', atLeast: 101, level: 'malicious' },
      { path, atLeast: 0, level: 'malicious' },
    ] as const
    expect(listing(data({ score: 1 }), { rows })).toBeUndefined()
    const text = [rows[0], { path, equals: 'Object', level: 'malicious' }] as const
    expect(listing(data({ score: 1 }), { rows: text })).toBeUndefined()
  })

  it('reads a member named __proto__ as what it is, and pollutes nothing', () => {
    const answer = JSON.parse(
      '{"data":{"id":"203.0.113.7","score":1,"__proto__":{"score":100,"polluted":true}}}',
    ) as Record<string, unknown>
    expect(listing(answer)).toBeUndefined()
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it('is bounded: long lists, long texts and control characters', () => {
    const rows = [{ path: 'data.tags[]', equals: `a${'b'.repeat(150)}\u0000\n`, level: 'malicious' }] as const
    const found = listing(data({ tags: [`a${'b'.repeat(150)}\u0000\n`] }), { rows })
    expect((found as { evidence: string }).evidence).toMatch(/^tags ab{70,79}$/)
    const many = Array.from({ length: 100_000 }, (_, nth) => ({ name: nth === 99_999 ? 'c2' : 'x' }))
    expect(listing(data({ score: 1, lists: many }))).toMatchObject({ level: 'suspicious', categories: [] })
    const words = Object.fromEntries(Array.from({ length: 50 }, (_, nth) => [`k${nth}`, `word ${nth}`]))
    const all = Object.keys(words).map((each) => ({ name: each }))
    expect(
      listing(data({ score: 99, lists: all }), { categories: { path: 'data.lists[].name', words } }),
    ).toMatchObject({
      categories: Array.from({ length: 8 }, (_, nth) => `word ${nth}`),
    })
  })

  it('takes no time that is ahead of now', () => {
    expect(listing(data({ score: 99, seen: '2031-01-01T00:00:00Z' }))).not.toHaveProperty('since')
    expect(listing(data({ score: 99, seen: 'yesterday' }))).not.toHaveProperty('since')
  })
})

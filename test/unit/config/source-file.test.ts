// The file of a source: what is wrong with it is told with its line, and nothing in it reaches further than it should.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { describeProblem } from '../../../src/config/problem.js'
import { readSourceFile } from '../../../src/config/source-file.js'

const template = readFileSync(resolve(import.meta.dirname, '../../../examples/source.yaml'), 'utf8')

const read = (change: (content: Record<string, unknown>) => void): readonly string[] => {
  const content = parse(template) as Record<string, unknown>
  change(content)
  const result = readSourceFile({ name: 'mine.yaml', text: stringify(content) })
  return 'problems' in result ? result.problems.map(describeProblem) : []
}

describe('the file of a source', () => {
  it('is fine as the template shows it', () => {
    expect(read(() => undefined)).toEqual([])
  })

  it('needs no more than an id, a name, terms, a request and a row', () => {
    const text = `
id: small
name: Small
terms: { url: 'https://intel.example.com/terms', note: Free. }
ask: { ip: 'https://intel.example.com/{value}' }
rows: [{ path: bad, equals: true, level: malicious }]
`
    expect(readSourceFile({ name: 'small.yaml', text })).toMatchObject({
      source: { id: 'small', limits: [], statuses: {}, flags: {}, examples: [], freshHours: 24 },
    })
  })

  it('is told what is wrong by member and line', () => {
    const text = template.replace('  - { path: result.risk, atLeast: 80,', '  - { path: result.risk, atleast: 80,')
    const result = readSourceFile({ name: 'mine.yaml', text })
    const line = text.split('\n').findIndex((each) => each.includes('atleast')) + 1
    expect('problems' in result && result.problems.map(describeProblem)).toEqual([
      `rows.1 needs one of equals, atLeast, count, and only one (mine.yaml:${line})`,
      `rows.1.atleast is not a setting; did you mean atLeast? (mine.yaml:${line})`,
    ])
  })

  it.each<[string, (content: Record<string, unknown>) => void, string]>([
    [
      'a key that would travel in the clear',
      (c) => (c.ask = { ip: 'http://intel.example.com/{value}' }),
      'ask.ip must be https',
    ],
    [
      'two hosts for one key',
      (c) => (c.ask = { ip: 'https://a.example.com/{value}', domain: 'https://b.example.com/{value}' }),
      'ask must use the same host',
    ],
    ['an indicator that names the host', (c) => (c.ask = { domain: 'https://{value}/check' }), 'ask.domain'],
    [
      'an indicator that is part of the host',
      (c) => (c.ask = { domain: 'https://x.{value}/check' }),
      'ask.domain must have {value} behind the host',
    ],
    [
      'a password in the URL',
      (c) => (c.ask = { ip: 'https://me:secret@intel.example.com/{value}' }),
      'ask.ip must not contain a password',
    ],
    [
      'a request without the indicator',
      (c) => (c.ask = { ip: 'https://intel.example.com/ip' }),
      'ask.ip must be a URL with {value}',
    ],
    ['a flag that judges', (c) => (c.flags = { is_malicious: 'result.bad' }), 'flags.is_malicious is not a setting'],
    [
      'two limits of one period',
      (c) =>
        (c.limits = [
          { calls: 1, per: 'day' },
          { calls: 2, per: 'day' },
        ]),
      'limits.1 names day again',
    ],
    [
      'more calls a minute than can be counted',
      (c) => (c.limits = [{ calls: 5000, per: 'minute' }]),
      'limits.0.calls must be at most 1000',
    ],
    ['an expression for a path', (c) => (c.since = 'result.a || result.b'), 'since must be names with dots'],
    [
      'a row that tests two things',
      (c) => (c.rows = [{ path: 'a', equals: 1, atLeast: 2, level: 'clean' }]),
      'rows.0 needs one of equals, atLeast, count',
    ],
    [
      'a score for clean',
      (c) => (c.rows = [{ path: 'a', equals: 1, level: 'clean', score: 5 }]),
      'rows.0.score has no meaning for clean',
    ],
    ['a status that is not one', (c) => (c.statuses = { ok: 'answer' }), 'statuses'],
    [
      'both kinds of addresses twice',
      (c) => (c.ask = { ip: 'https://intel.example.com/{value}', ipv4: 'https://intel.example.com/{value}' }),
      'ask.ip covers both IPv4 and IPv6',
    ],
    ['an id that is no file name', (c) => (c.id = '../other'), 'id must be a short name'],
  ])('refuses %s', (_, change, message) => {
    expect(read(change).join('\n')).toContain(message)
  })
})

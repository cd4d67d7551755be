// Retro alerts are raised by rules: the bundled ones, and those that replace them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadRules } from '../../../src/alerts/load-rules.js'
import { retroMatchOf, type RetroMatch, type RetroSeen } from '../../../src/alerts/retro-rule.js'
import type { Traffic } from '../../../src/domain/sighting.js'
import { folder } from '../../support/feed-files.js'

const load = async (...texts: readonly string[]): ReturnType<typeof loadRules> => {
  const path = folder()
  for (const [nth, text] of texts.entries()) writeFileSync(join(path, `${nth}.yml`), text)
  return loadRules({ paths: [path], bundled: true, key: 'annotation' })
}
const seen = (traffic: readonly Traffic[], count = 3): Omit<RetroSeen, 'partition'> => ({
  indicator: { type: 'ip', value: '203.0.113.7' },
  verdict: { level: 'malicious', flags: {}, because: 'listed', feed: 'c2', categories: ['botnet'] },
  seen: { count, first: 0, last: 1000, peers: ['10.0.0.1'], otherSightings: 0, offsets: [1], traffic },
})
const said = (match: RetroMatch | undefined): unknown =>
  match && [match.rule.level, match.isSummarised, match.traffic.direction, match.traffic.action]

const blockedIn: Traffic = { direction: 'inbound', action: 'blocked' }
const allowedOut: Traffic = { direction: 'outbound', action: 'allowed' }
const blockedOut: Traffic = { direction: 'outbound', action: 'blocked' }
const rule = (id: string, level: string, selection: string): string => `title: Own
id: ${id}
logsource: { product: threatweave, service: retro }
detection: { selection: { ${selection} }, condition: selection }
level: ${level}
`

it('tests country and network of the indicator', async () => {
  const { retro, problems } = await load(
    rule('5b0d5a53-6c0f-4c56-9d0c-0f3e8a5f1a98', 'critical', 'threatweave.country: NL, threatweave.as.number: 64500'),
  )
  expect(problems).toEqual([])
  const about = seen([allowedOut])
  const network = { number: 64_500 }
  expect(said(retroMatchOf(retro, { ...about, geo: { country: 'NL', as: network } }))).toContain('critical')
  expect(said(retroMatchOf(retro, { ...about, geo: { country: 'DE', as: network } }))).not.toContain('critical')
  expect(said(retroMatchOf(retro, about))).not.toContain('critical')
})

describe('the bundled retro rules', () => {
  it.each<[string, readonly Traffic[], unknown]>([
    ['all that was blocked on its way in', [blockedIn], ['low', true, 'inbound', 'blocked']],
    [
      'what was let in once',
      [{ direction: 'inbound', action: 'allowed' }, blockedIn],
      ['high', false, 'inbound', 'allowed'],
    ],
    ['what was asked for from inside', [blockedOut, blockedIn], ['high', false, 'outbound', 'blocked']],
    ['what was counted by a former version', [], ['high', false, 'unknown', 'unknown']],
  ])('say of %s', async (_, traffic, expected) => {
    const { retro, problems } = await load()
    expect(problems).toEqual([])
    expect(said(retroMatchOf(retro, seen(traffic)))).toEqual(expected)
  })

  it('are not tested on events', async () => {
    const { set, rules, retro } = await load()
    expect([set.size, retro.size, rules.length]).toEqual([13, 2, 15])
  })

  it('are replaced by rules of the same id', async () => {
    const { retro } = await load(
      rule('7f3d9c1e-52ab-4c0e-9d64-1b8a6e5f2c18', 'critical', 'threatweave.feed: c2, threatweave.count|gte: 5'),
      rule('2b6c0c1d-84f1-4f6e-9f0a-6a1d3c5e7b90', 'medium', 'threatweave.categories: other'),
    )
    expect(said(retroMatchOf(retro, seen([allowedOut], 5)))).toEqual(['critical', false, 'outbound', 'allowed'])
    expect(retroMatchOf(retro, seen([allowedOut], 4))).toBeUndefined()
    expect(retroMatchOf(retro, seen([blockedIn], 4))).toBeUndefined()
  })
})

it.each([
  ['src_ip: 10.0.0.1', 'tests src_ip, but of past events only counts are kept'],
  ['threatweave.is_tor: true', 'the annotation has no member "is_tor"'],
  ['threatweave.action: denied', 'can never match: action is one of allowed, blocked, unknown'],
])('a retro rule cannot test %s', async (selection, problem) => {
  const { problems } = await load(rule('5b0d5a53-6c0f-4c56-9d0c-0f3e8a5f1a99', 'low', selection))
  expect(problems.map(({ message }) => message).join()).toContain(problem)
})

it('an event rule cannot test what only a retro rule has', async () => {
  const text = rule('5b0d5a53-6c0f-4c56-9d0c-0f3e8a5f1a99', 'low', 'threatweave.first_seen: x')
  const { problems } = await load(text.replace('service: retro', 'service: other'))
  expect(problems).toHaveLength(1)
})

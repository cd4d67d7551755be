// Retro alerts are raised by rules: the bundled ones, and those that replace them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { chooseMatches } from '../../../src/alerts/choose-matches.js'
import { bundledFolder, loadRules } from '../../../src/alerts/load-rules.js'
import { retroMatchOf, type RetroMatch, type RetroSeen } from '../../../src/alerts/retro-rule.js'
import { activities } from '../../../src/domain/activity.js'
import { seenAsIn } from '../../../src/domain/seen-as.js'
import { actions, directions, roles, type Kind, type Traffic } from '../../../src/domain/sighting.js'
import { kindsIn, kindsOfTraffic } from '../../../src/follow-up/kinds.js'
import { trafficBit } from '../../../src/follow-up/traffic.js'
import { annotation } from '../../support/rules.js'
import { folder } from '../../support/feed-files.js'

const load = async (...texts: readonly string[]): ReturnType<typeof loadRules> => {
  const path = folder()
  for (const [nth, text] of texts.entries()) writeFileSync(join(path, `${nth}.yml`), text)
  return loadRules({ paths: [path], bundled: true, key: 'annotation' })
}
const verdict: RetroSeen['verdict'] = {
  level: 'malicious',
  threatClass: 'serious',
  flags: {},
  because: 'listed',
  feed: 'c2',
  categories: ['botnet'],
}
const seen = (traffic: readonly Traffic[], count = 3, kinds = kindsOf(traffic)): Omit<RetroSeen, 'partition'> => ({
  indicator: { type: 'ip', value: '203.0.113.7' },
  verdict,
  seen: { count, first: 0, last: 1000, peers: ['10.0.0.1'], otherSightings: 0, offsets: [1], traffic, kinds },
})
/** As if counted by a version without kinds. */
const kindsOf = (traffic: readonly Traffic[]): readonly Kind[] =>
  kindsIn(kindsOfTraffic(traffic.reduce((bits, one) => bits | trafficBit(one), 0)))
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
    ['all that was blocked on its way in', [blockedIn], undefined],
    [
      'what was let in once',
      [{ direction: 'inbound', action: 'allowed' }, blockedIn],
      ['medium', false, 'inbound', 'allowed'],
    ],
    ['what may have been let in', [{ direction: 'inbound', action: 'unknown' }], ['low', true, 'inbound', 'unknown']],
    ['what was asked for from inside', [blockedOut, blockedIn], ['high', false, 'outbound', 'blocked']],
    ['what was counted by a former version', [], ['high', false, 'unknown', 'unknown']],
  ])('say of %s', async (_, traffic, expected) => {
    const { retro, problems } = await load()
    expect(problems).toEqual([])
    expect(said(retroMatchOf(retro, seen(traffic)))).toEqual(expected)
  })

  it('have the level that the rule of the event has, whatever the event was', async () => {
    const { set, retro } = await load()
    const wrong: unknown[] = []
    const accused = [
      { threatClass: 'serious', categories: ['c2'] },
      { threatClass: 'uncategorized' },
      { threatClass: 'background', categories: ['scanner'] },
      { threatClass: 'background', categories: ['vpn'] },
    ] as const
    const ports = [[50_000, 22], [50_000, 443], [22, 50_000], [443, 50_000]] as const // prettier-ignore
    for (const role of roles)
      for (const direction of directions)
        for (const action of actions)
          for (const activity of activities)
            for (const [sourcePort, destinationPort] of ports)
              for (const more of [{}, { password_accepted: true } as const])
                for (const one of accused) {
                  if ('password_accepted' in more && (activity !== 'login' || action !== 'blocked')) continue
                  const { threatClass, ...described } = one
                  const around = { direction, action, activity, ...more }
                  const about = {
                    ...annotation({ verdict: 'malicious', ...around, role, ...described, threat_class: threatClass }),
                    value: '203.0.113.7',
                  }
                  const event = { object: { source: { port: sourcePort }, destination: { port: destinationPort } } }
                  const [match] = chooseMatches(set.match([about], () => event))
                  const seen_as = seenAsIn(role, { ...around, sourcePort, destinationPort })
                  const later = retroMatchOf(retro, {
                    ...seen([{ direction, action }], 1, [{ seen_as, action }]),
                    verdict: { ...verdict, categories: [], ...one },
                  })
                  if (match?.rule.level !== later?.rule.level)
                    wrong.push([role, ...Object.values(around), destinationPort, seen_as, threatClass, match?.rule.level, later?.rule.level]) // prettier-ignore
                }
    expect(wrong).toEqual([])
  })

  it('know the same ports of administration as the rules of events', () => {
    const text = readFileSync(join(bundledFolder, 'threatweave_malicious_admin_access.yml'), 'utf8')
    const { detection } = parse(text) as { detection: { port_called: Record<string, unknown> } }
    const ports = Array.from({ length: 65_536 }, (_, port) => port).filter(
      (destinationPort) =>
        seenAsIn('source', { direction: 'inbound', action: 'allowed', destinationPort }) === 'administration',
    )
    expect(detection.port_called['destination.port']).toEqual(ports)
  })

  it('are not tested on events', async () => {
    const { set, rules, retro } = await load()
    expect([set.size, retro.size, rules.length]).toEqual([13, 3, 16])
  })

  it('are replaced by rules of the same id', async () => {
    const { retro } = await load(
      rule('7f3d9c1e-52ab-4c0e-9d64-1b8a6e5f2c18', 'critical', 'threatweave.feed: c2, threatweave.count|gte: 5'),
      rule('6fc9d3f6-74a1-4cb0-8b8c-5d6e7f8a9bdc', 'medium', 'threatweave.categories: other'),
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

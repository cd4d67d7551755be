// What is suppressed is said when its window closes: how many matches, and by whom.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { openAlerts, type Alerts } from '../../../src/alerts/open-alerts.js'
import type { AnnotatedEvent } from '../../../src/alerts/annotated-event.js'
import { readSchema } from '../../support/annotation-schema.js'
import { folder } from '../../support/feed-files.js'
import { annotation } from '../../support/rules.js'

const validate = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': true } }).compile(
  readSchema('alert'),
)
const hour = 3_600_000
const ruleId = '5b0d5a53-6c0f-4c56-9d0c-0f3e8a5f1a02'
const firing = `${ruleId} 203.0.113.7`
const ruleText = (block = ''): string => `title: Malicious
id: ${ruleId}
logsource: { category: firewall }
detection: { selection: { threatweave.verdict: malicious }, condition: selection }
level: high
${block}
`

const geo = { country: 'NL', as: { number: 64_500, name: 'EXAMPLE-HOSTING' } }

type Stage = { readonly alerts: Alerts; readonly clock: { at: number } }
const stage = async (block?: string, hasUpdates = true): Promise<Stage> => {
  const clock = { at: 10 * hour }
  const path = join(folder(), 'rule.yml')
  writeFileSync(path, ruleText(block))
  const alerts = await openAlerts(
    { rules: [path], bundled: false, suppressSeconds: 3600 },
    {
      key: 'threatweave',
      clock: { now: () => clock.at, after: () => () => undefined },
      eventTime: () => undefined,
      named: () => ({}),
      hasUpdates,
      pollMs: 0,
    },
  )
  if ('problems' in alerts) return expect.fail(JSON.stringify(alerts.problems))
  return { alerts, clock }
}

const match = (n: number, user: string, more: { time?: number; from?: string } = {}): AnnotatedEvent => {
  const about = annotation({
    verdict: 'malicious',
    type: 'ip',
    value: '203.0.113.7',
    role: 'destination',
    ...geo,
  })
  const { time = 10 * hour, from = '10.0.0.1' } = more
  const sighting = { field: 'f', evidence: 'field', type: 'ip' } as const
  return {
    origin: `firewall/0/${n}`,
    time,
    event: { bytes: Buffer.from('{}'), text: '{}', value: { user: { name: user } } },
    extraction: {
      sightings: [
        { ...sighting, role: 'source', value: from },
        { ...sighting, role: 'destination', value: '203.0.113.7' },
      ],
    },
    annotation: about,
    summary: about,
    others: [],
    judged: [],
  }
}
const matches = (count: number): AnnotatedEvent[] => Array.from({ length: count }, (_, n) => match(n, `user-${n % 5}`))

/** Raises the alerts of a chunk, and commits it. */
const deliver = ({ alerts }: Stage, events: readonly AnnotatedEvent[]): number => {
  const fired: (readonly [string, readonly string[]])[] = []
  const raised = alerts.raise(events, ({ origin }, ids) => void fired.push([origin, ids]))
  for (const [origin, ids] of fired) alerts.suppressed.commit(origin, ids)
  return raised.length
}

describe('an update', () => {
  it('says how many matches by how many users one alert stands for, when the window is over by the clock', async () => {
    const all = await stage()
    expect(deliver(all, matches(100))).toBe(1)
    all.clock.at = 11 * hour - 1
    expect(all.alerts.suppressed.takeDue()).toEqual([])
    all.clock.at = 11 * hour
    const [update, ...others] = all.alerts.suppressed.takeDue()
    expect(others).toEqual([])
    expect(validate(JSON.parse(JSON.stringify(update))), JSON.stringify(validate.errors)).toBe(true)
    expect(update?.threatweave).toMatchObject({
      kind: 'update',
      count: 99,
      users: ['user-1', 'user-2', 'user-3', 'user-4', 'user-0'],
      sources: ['10.0.0.1'],
      level: 'high',
      ...geo,
      origins: ['firewall/0/1', 'firewall/0/99'],
    })
    expect(update?.message).toContain('99 more matches by 5 users and 1 source')
    expect(all.alerts.suppressed.takeDue(true)).toEqual([])
  })

  it('has the group of its alert and an id of its own, and the next alert does not count it again', async () => {
    const all = await stage()
    const [alert] = all.alerts.raise([match(1, 'a')])
    deliver(all, [match(1, 'a'), match(2, 'b')])
    const [update] = all.alerts.suppressed.takeDue(true)
    expect(update?.threatweave.group_id).toBe(alert?.threatweave.group_id)
    expect(update?.threatweave.alert_id).not.toBe(alert?.threatweave.alert_id)
    const [next] = all.alerts.raise([match(3, 'c', { time: 11 * hour })])
    expect(next?.threatweave.count).toBe(1)
  })

  it('names a machine that is new within an hour, however long the window is', async () => {
    const all = await stage('threatweave: { suppress: { by: [threatweave.value], seconds: 86400 } }')
    deliver(all, [match(1, 'a'), match(2, 'b')])
    all.clock.at = 11 * hour
    expect(all.alerts.suppressed.takeDue()).toEqual([])
    deliver(all, [match(3, 'a', { from: '10.0.0.2' }), match(4, 'a')])
    all.clock.at = 12 * hour - 1
    expect(all.alerts.suppressed.takeDue()).toEqual([])
    all.clock.at = 12 * hour
    expect(all.alerts.suppressed.takeDue().map(({ threatweave: { count, peers } }) => [count, peers])).toEqual([
      [3, ['10.0.0.1', '10.0.0.2']],
    ])
    deliver(all, [match(5, 'a', { from: '10.0.0.2' })])
    all.clock.at = 14 * hour
    expect(all.alerts.suppressed.takeDue()).toEqual([])
  })

  it('is the alert where that was never written, and what follows it is an update', async () => {
    const all = await stage()
    all.alerts.raise([match(1, 'a')])
    deliver(all, [match(2, 'b'), match(3, 'b')])
    const [first] = all.alerts.suppressed.takeDue(true)
    expect(validate(JSON.parse(JSON.stringify(first))), JSON.stringify(validate.errors)).toBe(true)
    expect(first?.threatweave).toMatchObject({ count: 2, origins: ['firewall/0/2', 'firewall/0/3'] })
    expect(first?.threatweave.kind).toBeUndefined()
    expect(first?.message).toContain('2 matches by 1 user and 1 source: ')
    deliver(all, [match(4, 'c')])
    expect(all.alerts.suppressed.takeDue(true)[0]?.threatweave).toMatchObject({ kind: 'update', count: 1 })
  })

  it('is the alert where a late one was never written', async () => {
    const all = await stage()
    all.alerts.raiseLate([{ event: match(1, 'a'), fired: [] }])
    deliver(all, [match(2, 'b')])
    expect(all.alerts.suppressed.takeDue(true)[0]?.threatweave.kind).toBeUndefined()
  })

  it('counts what is committed, once, however often its chunk is repeated', async () => {
    const all = await stage()
    all.alerts.raise(matches(10))
    expect(all.alerts.suppressed.takeDue(true)).toEqual([])
    deliver(all, matches(10))
    deliver(all, matches(1))
    expect(all.alerts.suppressed.takeDue(true).map(({ threatweave }) => threatweave.count)).toEqual([9])
  })

  it('waits for a partition that is behind: its window is over by the clock all the time', async () => {
    const all = await stage()
    all.clock.at = 20 * hour
    deliver(all, matches(3))
    expect(all.alerts.suppressed.takeDue()).toEqual([])
    all.clock.at += 30_000
    expect(all.alerts.suppressed.takeDue()).toHaveLength(1)
  })

  it('counts a late match that an alert stands for already', async () => {
    const all = await stage()
    deliver(all, [match(1, 'a')])
    const { alerts, committed } = all.alerts.raiseLate([{ event: match(2, 'b'), fired: [] }])
    expect(alerts).toEqual([])
    committed()
    expect(all.alerts.suppressed.takeDue(true)[0]?.threatweave).toMatchObject({ count: 1, users: ['b'] })
  })

  it('is not made where the next alert counts what was suppressed', async () => {
    const all = await stage('', false)
    deliver(all, matches(3))
    expect(all.alerts.suppressed.takeDue(true)).toEqual([])
    expect(all.alerts.raise([match(9, 'c', { time: 11 * hour })])[0]?.threatweave.count).toBe(3)
  })
})

describe('a rule says', () => {
  it('which fields make a group', async () => {
    const all = await stage('threatweave: { suppress: { by: [user.name] } }')
    expect(deliver(all, matches(100))).toBe(5)
    const machines = await stage('threatweave: { suppress: { by: [threatweave.value] } }')
    expect(deliver(machines, [match(1, 'a'), match(2, 'a', { from: '10.0.0.2' })])).toBe(1)
    expect(machines.alerts.suppressed.takeDue(true)[0]?.threatweave.sources).toEqual(['10.0.0.2'])
  })

  it('how long the window is', async () => {
    const all = await stage('threatweave: { suppress: { seconds: 60 } }')
    const at = (n: number): AnnotatedEvent => match(n, 'a', { time: 10 * hour + 30_000 * n })
    expect(deliver(all, [0, 1, 2, 3].map(at))).toBe(2)
    const none = await stage('threatweave: { suppress: { seconds: 0 } }')
    expect(deliver(none, matches(4))).toBe(4)
  })

  it.each([
    ['threatweave: yes', 'threatweave takes suppress, with by and seconds'],
    ['threatweave: { suppress: { for: 5 } }', 'suppress takes by and seconds, not for'],
    ['threatweave: { suppress: { by: [] } }', 'by takes a list of 1 to 8 fields'],
    ['threatweave: { suppress: { by: [threatweave.vlaue] } }', 'the annotation has no member "vlaue"'],
    ['threatweave: { suppress: { seconds: -1 } }', 'seconds takes a whole number from 0 to 604800'],
  ])('nothing else: %s', async (block, problem) => {
    const path = join(folder(), 'rule.yml')
    writeFileSync(path, ruleText(block))
    const opened = await openAlerts(
      { rules: [path], bundled: false, suppressSeconds: 3600 },
      { key: 'threatweave', eventTime: () => undefined, named: () => ({}), pollMs: 0 },
    )
    expect('problems' in opened ? opened.problems.map(({ message }) => message) : []).toEqual([problem])
  })
})

it('an alert of a chunk that was given up suppresses nothing', async () => {
  const { alerts } = await stage()
  const [given, next, again] = [match(1, 'alice'), match(2, 'bob'), match(3, 'carol')]
  expect(alerts.raise([given])).toHaveLength(1)
  alerts.suppressed.giveUp(given.origin, [firing])
  expect(alerts.raise([next])).toHaveLength(1)
  alerts.suppressed.commit(next.origin, [firing])
  expect(alerts.raise([again])).toHaveLength(0)
  expect(alerts.raise([given])).toHaveLength(0)
})

it.each([true, false])(
  'what was suppressed for an alert that was given up is the alert soon (committed before: %s)',
  async (isBefore) => {
    const { alerts, clock } = await stage()
    const [given, next] = [match(1, 'alice'), match(2, 'bob')]
    alerts.raise([given, next])
    if (isBefore) alerts.suppressed.commit(next.origin, [firing])
    alerts.suppressed.giveUp(given.origin, [firing])
    if (!isBefore) alerts.suppressed.commit(next.origin, [firing])
    expect(alerts.suppressed.takeDue()).toEqual([])
    clock.at += 30_000
    expect(alerts.suppressed.takeDue().map(({ message }) => message)).toEqual([expect.stringMatching(/: 1 match /)])
  },
)

it('it waits for the end of its window if the alert is raised again', async () => {
  const { alerts, clock } = await stage()
  const [given, next] = [match(1, 'alice'), match(2, 'bob')]
  alerts.raise([given, next])
  alerts.suppressed.commit(next.origin, [firing])
  alerts.suppressed.giveUp(given.origin, [firing])
  expect(alerts.raise([given])).toHaveLength(1)
  alerts.suppressed.commit(given.origin, [firing])
  clock.at += 30_000
  expect(alerts.suppressed.takeDue()).toEqual([])
  clock.at += hour
  expect(alerts.suppressed.takeDue().map(({ message }) => message)).toEqual([
    expect.stringContaining('since the alert'),
  ])
})

it('what was suppressed for a late alert that may not be there is the alert, and says so', async () => {
  const { alerts } = await stage()
  const [first, next] = [match(1, 'alice'), match(2, 'bob')]
  const late = alerts.raiseLate([{ event: first, fired: [] }])
  expect(late.alerts).toHaveLength(1)
  alerts.raiseLate([{ event: next, fired: [] }]).committed()
  late.notWritten(false)
  late.committed()
  const [told] = alerts.suppressed.takeDue()
  expect(told?.message).toMatch(/^Malicious: 1 match /)
  expect(told?.message).not.toContain('since the alert')
})

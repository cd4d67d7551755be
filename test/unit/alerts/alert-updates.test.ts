// What is suppressed is said when its window closes: how many matches, and by whom.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { openAlerts, type Alerts, type PartitionAlerts } from '../../../src/alerts/open-alerts.js'
import type { AlertUpdate } from '../../../src/alerts/create-update.js'
import type { AnnotatedEvent } from '../../../src/alerts/annotated-event.js'
import { readSchema } from '../../support/annotation-schema.js'
import { folder } from '../../support/feed-files.js'
import { annotation } from '../../support/rules.js'

const validate = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': true } }).compile(
  readSchema('alert'),
)
const hour = 3_600_000
const ruleId = '5b0d5a53-6c0f-4c56-9d0c-0f3e8a5f1a02'
const ruleText = (block = ''): string => `title: Malicious
id: ${ruleId}
logsource: { category: firewall }
detection: { selection: { threatweave.verdict: malicious }, condition: selection }
level: high
${block}
`

const geo = { country: 'NL', as: { number: 64_500, name: 'EXAMPLE-HOSTING' } }

type Stage = { readonly alerts: Alerts; readonly partition: PartitionAlerts; readonly clock: { at: number } }
const stage = async (block?: string): Promise<Stage> => {
  const clock = { at: 10 * hour }
  const path = join(folder(), 'rule.yml')
  writeFileSync(path, ruleText(block))
  const alerts = await openAlerts(
    { rules: [path], bundled: false, suppressSeconds: 3600 },
    {
      key: 'threatweave',
      clock: { now: () => clock.at, after: () => () => undefined },
      named: () => ({}),
      pollMs: 0,
    },
  )
  if ('problems' in alerts) return expect.fail(JSON.stringify(alerts.problems))
  return { alerts, partition: alerts.open(), clock }
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
    eventTime: time,
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
const deliver = ({ partition }: Stage, events: readonly AnnotatedEvent[]): number => {
  const draft = partition.begin()
  const raised = draft.raise(events)
  draft.commit()
  return raised.length
}

/** The updates that are due, or all, once they are written. */
const tell = ({ partition }: Stage, all?: boolean): readonly AlertUpdate[] => {
  const draft = partition.begin()
  const updates = draft.updates(99, all)
  draft.commit()
  return updates
}

describe('an update', () => {
  it('says how many matches by how many users one alert stands for, when the window is over by the clock', async () => {
    const all = await stage()
    expect(deliver(all, matches(100))).toBe(1)
    all.clock.at = 11 * hour - 1
    expect(tell(all)).toEqual([])
    all.clock.at = 11 * hour
    const [update, ...others] = tell(all)
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
    expect(tell(all, true)).toEqual([])
  })

  it('has the group of its alert and an id of its own, and the next alert does not count it again', async () => {
    const all = await stage()
    const [alert] = all.partition.begin().raise([match(1, 'a')])
    deliver(all, [match(1, 'a'), match(2, 'b')])
    const [update] = tell(all, true)
    expect(update?.threatweave.group_id).toBe(alert?.threatweave.group_id)
    expect(update?.threatweave.alert_id).not.toBe(alert?.threatweave.alert_id)
    const [next] = all.partition.begin().raise([match(3, 'c', { time: 11 * hour })])
    expect(next?.threatweave.count).toBe(1)
  })

  it('names a machine that is new within an hour, however long the window is', async () => {
    const all = await stage('threatweave: { suppress: { by: [threatweave.value], seconds: 86400 } }')
    deliver(all, [match(1, 'a'), match(2, 'b')])
    all.clock.at = 11 * hour
    expect(tell(all)).toEqual([])
    deliver(all, [match(3, 'a', { from: '10.0.0.2' }), match(4, 'a')])
    all.clock.at = 12 * hour - 1
    expect(tell(all)).toEqual([])
    all.clock.at = 12 * hour
    expect(tell(all).map(({ threatweave: { count, peers } }) => [count, peers])).toEqual([
      [3, ['10.0.0.1', '10.0.0.2']],
    ])
    deliver(all, [match(5, 'a', { from: '10.0.0.2' })])
    all.clock.at = 14 * hour
    expect(tell(all)).toEqual([])
  })

  it('counts what is committed, once, however often its chunk is repeated', async () => {
    const all = await stage()
    const lost = all.partition.begin()
    lost.raise(matches(10))
    expect(tell(all, true)).toEqual([])
    lost.giveUp()
    deliver(all, matches(10))
    deliver(all, matches(1))
    expect(tell(all, true).map(({ threatweave }) => threatweave.count)).toEqual([9])
  })

  it('waits for a partition that is behind: its window is over by the clock all the time', async () => {
    const all = await stage()
    all.clock.at = 20 * hour
    deliver(all, matches(3))
    expect(tell(all)).toEqual([])
    all.clock.at += 30_000
    expect(tell(all)).toHaveLength(1)
  })

  it('counts a late match that an alert stands for already', async () => {
    const all = await stage()
    deliver(all, [match(1, 'a')])
    const late = all.partition.begin(true)
    expect(late.raiseLate([{ event: match(2, 'b'), fired: [] }]).alerts).toEqual([])
    late.commit()
    expect(tell(all, true)[0]?.threatweave).toMatchObject({ count: 1, users: ['b'] })
  })

  it('is not made where the next alert counts what was suppressed', async () => {
    const all = await stage()
    all.alerts.raise(matches(3))
    expect(all.alerts.raise([match(9, 'c', { time: 11 * hour })])[0]?.threatweave.count).toBe(3)
  })
})

describe('a rule says', () => {
  it('which fields make a group', async () => {
    const all = await stage('threatweave: { suppress: { by: [user.name] } }')
    expect(deliver(all, matches(100))).toBe(5)
    const machines = await stage('threatweave: { suppress: { by: [threatweave.value] } }')
    expect(deliver(machines, [match(1, 'a'), match(2, 'a', { from: '10.0.0.2' })])).toBe(1)
    expect(tell(machines, true)[0]?.threatweave.sources).toEqual(['10.0.0.2'])
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
      { key: 'threatweave', named: () => ({}), pollMs: 0 },
    )
    expect('problems' in opened ? opened.problems.map(({ message }) => message) : []).toEqual([problem])
  })
})

it('an alert of a chunk that was given up suppresses nothing', async () => {
  const { partition } = await stage()
  const [given, next, again] = [match(1, 'alice'), match(2, 'bob'), match(3, 'carol')]
  const lost = partition.begin()
  expect(lost.raise([given, again])).toHaveLength(1)
  lost.giveUp()
  const draft = partition.begin()
  expect(draft.raise([next])).toHaveLength(1)
  draft.commit()
  expect(partition.begin().raise([again])).toHaveLength(0)
  expect(partition.begin().raise([given])).toHaveLength(0)
})

it('what a write suppresses by an alert that is not committed yet is kept with the whole window', async () => {
  const { partition } = await stage()
  const late = partition.begin(true)
  expect(late.raiseLate([{ event: match(1, 'a'), fired: [] }]).alerts).toHaveLength(1)
  const chunk = partition.begin()
  expect(chunk.raise([match(2, 'b')])).toHaveLength(0)
  expect(chunk.opened()).toMatchObject([{ origin: 'firewall/0/1', upTo: 2, held: { count: 1 } }])
  expect(chunk.counted()).toEqual([])
  chunk.commit()
  late.giveUp()
  const next = partition.begin()
  next.raise([match(3, 'b')])
  expect(next.opened()).toEqual([])
  expect(next.counted()).toMatchObject([{ more: { count: 1 } }])
})

it('what could not be told is told next time, with what came since', async () => {
  const all = await stage()
  deliver(all, matches(3))
  const lost = all.partition.begin()
  expect(lost.updates(9, true)).toHaveLength(1)
  deliver(all, [match(3, 'user-9')])
  lost.giveUp()
  expect(tell(all, true)).toMatchObject([{ threatweave: { count: 3, origins: ['firewall/0/1', 'firewall/0/3'] } }])
})

it('another partition is suppressed by an alert that is committed, and tells what it suppresses itself', async () => {
  const all = await stage()
  const other = { ...all, partition: all.alerts.open() }
  const draft = all.partition.begin()
  const [alert] = draft.raise([match(1, 'a')])
  const beside = other.partition.begin()
  expect(beside.raise([match(1, 'b')])).toHaveLength(1)
  beside.giveUp()
  draft.commit()
  expect(deliver(other, [match(2, 'b'), match(3, 'b')])).toBe(0)
  const [update] = tell(other, true)
  expect(update?.threatweave).toMatchObject({ count: 2, group_id: alert?.threatweave.group_id })
  expect(tell(all, true)).toEqual([])
  all.partition.close()
  expect(deliver({ ...all, partition: all.alerts.open() }, [match(9, 'c')])).toBe(0)
})

it('of a match that is delivered again nothing is counted twice', async () => {
  const all = await stage()
  deliver(all, matches(5))
  deliver(all, [match(3, 'a'), match(4, 'a'), match(5, 'a')])
  expect(tell(all, true).map(({ threatweave }) => threatweave.count)).toEqual([5])
})

it('a window is forgotten once the clock and the events have passed its end, and it was quiet for as long', async () => {
  const all = await stage()
  deliver(all, [match(1, 'a')])
  all.clock.at = 11.5 * hour
  expect(all.partition.forget()).toEqual([])
  deliver(all, [match(2, 'a', { time: 11 * hour })])
  expect(all.partition.forget()).toMatchObject([{ number: 10 }])
  expect(deliver(all, [match(3, 'a', { time: 11 * hour })])).toBe(0)
})

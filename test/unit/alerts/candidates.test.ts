// Rules see every accused indicator of an event, one by one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Alert } from '../../../src/alerts/alert.js'
import { writtenCandidates } from '../../../src/alerts/candidates.js'
import { openAlerts, type Alerts } from '../../../src/alerts/open-alerts.js'
import { eventOf, type Sketch } from '../../support/judged-events.js'
import { ruleText } from '../../support/rules.js'

const hour = 3_600_000
const ruleId = '11111111-2222-4333-8444-555555555555'

const open = async (detections: readonly string[]): Promise<Alerts> => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-candidates-'))
  detections.forEach((text, n) => {
    writeFileSync(join(folder, `${n}.yml`), ruleText(text).replace(ruleId, ruleId.replace(/^1/, String(n + 1))))
  })
  const alerts = await openAlerts(
    { rules: [folder], bundled: false, suppressSeconds: 3600 },
    {
      key: 'threatweave',
      clock: { now: () => hour, after: () => () => undefined },
      named: () => ({}),
      pollMs: 0,
    },
  )
  if ('problems' in alerts) return expect.fail(JSON.stringify(alerts.problems))
  onTestFinished(async () => {
    await alerts.close()
    rmSync(folder, { recursive: true })
  })
  return alerts
}

const told = (alerts: readonly Alert[]): unknown =>
  alerts.map(({ rule, threatweave: { value, indicators } }) => [rule.id[0], value, ...(indicators ?? [])])

const inside: Sketch = { value: '10.0.0.5', role: 'source' }
const address = (more: Partial<Sketch> = {}): Sketch => ({ value: '203.0.113.7', role: 'destination', ...more })
const name = (more: Partial<Sketch> = {}): Sketch => ({ value: 'bad.example', role: 'query', ...more })

describe('a rule', () => {
  it('fires for an indicator that did not decide, and looks at nothing but that one in the flat places', async () => {
    const { raise } = await open([
      'sel:\n    threatweave.type: domain\n    threatweave.verdict: malicious\ncondition: sel',
      'sel:\n    threatweave.type: domain\n    threatweave.score: 90\ncondition: sel',
    ])
    const event = eventOf('a', [inside, address({ level: 'malicious', score: 90 }), name({ level: 'malicious' })])
    expect(event.annotation.value).toBe('203.0.113.7')
    expect(told(raise([event]))).toEqual([['1', 'bad.example']])
  })

  it('sees a flagged indicator next to an accused one', async () => {
    const { raise } = await open(['sel:\n    threatweave.is_tor: true\ncondition: sel'])
    const event = eventOf('a', [address({ flags: { is_tor: true } }), name({ level: 'malicious' })])
    expect(told(raise([event]))).toEqual([['1', '203.0.113.7']])
  })

  it('names the worst indicator that matches and lists the others, in whatever order the event has them', async () => {
    const sketches = [
      inside,
      address({ level: 'malicious', score: 60 }),
      name({ level: 'malicious', score: 90 }),
      name({ value: 'susp.example', role: 'url', level: 'suspicious', score: 99 }),
    ]
    for (const order of [sketches, sketches.toReversed()]) {
      const { raise } = await open([
        'sel:\n    threatweave.verdict:\n        - malicious\n        - suspicious\ncondition: sel',
      ])
      const alerts = raise([eventOf('a', order)])
      expect(told(alerts)).toEqual([['1', 'bad.example', '203.0.113.7', 'susp.example']])
      expect(alerts[0]?.related).toEqual({ ip: ['203.0.113.7', '10.0.0.5'], hosts: ['bad.example', 'susp.example'] })
    }
  })

  it('with a negation holds for each indicator that it holds for', async () => {
    const { raise } = await open([
      'sel:\n    threatweave.action: allowed\nbad:\n    threatweave.verdict: malicious\ncondition: sel and not bad',
    ])
    expect(told(raise([eventOf('a', [address({ level: 'malicious' })])]))).toEqual([])
    expect(told(raise([eventOf('b', [address({ level: 'malicious' }), name({ level: 'suspicious' })])]))).toEqual([
      ['1', 'bad.example'],
    ])
  })
})

describe('suppression', () => {
  const any = 'sel:\n    threatweave.verdict: malicious\ncondition: sel'

  it('is per indicator: one that had no alert yet has its own, and lists the one that had', async () => {
    const { raise } = await open([any])
    expect(told(raise([eventOf('a', [inside, address({ level: 'malicious', score: 90 })])]))).toHaveLength(1)
    const both = [inside, address({ level: 'malicious', score: 90 }), name({ level: 'malicious' })]
    expect(told(raise([eventOf('b', both)]))).toEqual([['1', 'bad.example', '203.0.113.7']])
    expect(raise([eventOf('c', both), eventOf('d', [inside, name({ level: 'malicious' })])])).toEqual([])
  })

  it('of an indicator that was only listed is told as more matches of the alert that lists it', async () => {
    const partition = (await open([any])).open()
    const fired = new Map<string, readonly string[]>()
    const deliver = (...events: readonly ReturnType<typeof eventOf>[]): readonly Alert[] => {
      const draft = partition.begin()
      const alerts = draft.raise(events, (one, firings) => fired.set(one.origin, firings))
      draft.commit()
      return alerts
    }
    const [alert] = deliver(
      eventOf('a', [inside, address({ level: 'malicious', score: 90 }), name({ level: 'malicious' })]),
    )
    expect(fired.get('a')).toEqual([`${ruleId} 203.0.113.7`, `${ruleId} bad.example`])
    expect(deliver(eventOf('b', [inside, name({ level: 'malicious' })]))).toEqual([])
    expect(partition.begin().updates(9, true)).toMatchObject([
      { threatweave: { kind: 'update', count: 1, value: 'bad.example', group_id: alert?.threatweave.group_id } },
    ])
  })
})

describe('a late answer', () => {
  const any = 'sel:\n    threatweave.verdict:\n        - malicious\n        - suspicious\ncondition: sel'
  const both = [inside, address({ level: 'malicious', score: 90 }), name({ level: 'suspicious' })]

  it('about another indicator raises an alert of a rule that fired before', async () => {
    const { raiseLate } = await open([any])
    const { alerts, fired } = raiseLate([{ event: eventOf('a', both), fired: [`${ruleId} bad.example`] }])
    expect(told(alerts)).toEqual([['1', '203.0.113.7']])
    expect(fired).toEqual([[`${ruleId} bad.example`, `${ruleId} 203.0.113.7`]])
  })

  it('about what an older note calls fired, without the indicator, raises none', async () => {
    const { raiseLate } = await open([any])
    expect(raiseLate([{ event: eventOf('a', both), fired: [ruleId] }]).alerts).toEqual([])
  })
})

it('are read from a written annotation as they were when it was written', () => {
  const { annotation, others } = eventOf('a', [
    inside,
    address({ level: 'malicious', score: 90 }),
    name({ level: 'suspicious', flags: { is_hosting: true } }),
  ])
  const [worst, second, ...more] = writtenCandidates(JSON.parse(JSON.stringify(annotation)) as typeof annotation)
  expect(more).toEqual([])
  expect(worst).toEqual(annotation)
  const { summary: _, ...members } = others[0] ?? {}
  expect(second).toMatchObject(members)
  expect(Object.keys(second ?? {}).toSorted()).toEqual(
    [...Object.keys(members), 'summary', 'enrichment_id', 'indicators'].toSorted(),
  )
})

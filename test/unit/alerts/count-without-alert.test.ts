// The count of accused events without an alert.
import { writeFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { AnnotatedEvent } from '../../../src/alerts/annotated-event.js'
import { openAlerts } from '../../../src/alerts/open-alerts.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { createFakeClock } from '../../support/clock.js'
import { eventOf, type Sketch } from '../../support/judged-events.js'
import { ruleText } from '../../support/rules.js'

const open = async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'without-alert-')), 'rule.yml')
  writeFileSync(path, ruleText('selection:\n    threatweave.verdict: malicious\ncondition: selection'))
  const events: TelemetryEvent[] = []
  const alerts = await openAlerts(
    { rules: [path], bundled: false, suppressSeconds: 3600 },
    {
      key: 'threatweave',
      clock: createFakeClock(),
      named: () => ({}),
      emit: (event) => events.push(event),
    },
  )
  if ('problems' in alerts) throw new Error(JSON.stringify(alerts.problems))
  return { alerts, counted: () => events.filter(({ event }) => event === 'accused_without_alert') }
}

const inside: Sketch = { value: '10.0.0.5', role: 'destination' }
const scan = (n: number, level: Sketch['level'], value = '203.0.113.9'): AnnotatedEvent =>
  eventOf(`fw/0/${n}`, [{ value, role: 'source', level: level ?? 'clean' }, inside], { action: 'blocked' })

const waiting = (event: AnnotatedEvent): AnnotatedEvent =>
  Object.assign(Object.create(event) as AnnotatedEvent, {
    judged: event.judged.map((one, at) => (at === 1 ? { ...one, late: new Promise(() => undefined) } : one)),
  })

it('counts the accused events of a chunk by reason, and nothing of the others', async () => {
  const { alerts, counted } = await open()
  expect(
    alerts.raise([scan(1, 'malicious'), scan(2, 'malicious'), scan(3, 'suspicious'), scan(4, 'clean')]),
  ).toHaveLength(1)
  expect(counted()).toEqual([{ event: 'accused_without_alert', reasons: { suppressed: 1, blocked_inbound: 1 } }])
  expect(alerts.status().withoutAlert).toEqual({ suppressed: 1, blocked_inbound: 1 })
  await alerts.close()
})

it('counts an event that waits for an answer once it has it', async () => {
  const { alerts, counted } = await open()
  alerts.raise([waiting(scan(1, 'suspicious'))])
  alerts.raiseLate([{ event: waiting(scan(1, 'suspicious')), fired: [] }])
  expect(counted()).toEqual([])
  alerts.raiseLate([{ event: scan(1, 'suspicious'), fired: [] }])
  expect(counted()).toEqual([{ event: 'accused_without_alert', reasons: { blocked_inbound: 1 } }])
  await alerts.close()
})

it('counts no event whose rule has fired before its last answer', async () => {
  const { alerts, counted } = await open()
  const late = alerts.raiseLate([{ event: scan(1, 'malicious'), fired: [] }])
  alerts.raiseLate([{ event: scan(1, 'malicious'), fired: late.fired[0] ?? [] }])
  expect(counted()).toEqual([])
  await alerts.close()
})

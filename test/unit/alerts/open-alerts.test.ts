import type { Judged, Verdict } from '../../../src/domain/verdict.js'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Alert } from '../../../src/alerts/alert.js'
import type { AnnotatedEvent } from '../../../src/alerts/annotated-event.js'
import { openAlerts, type Alerts } from '../../../src/alerts/open-alerts.js'
import type { Finding } from '../../../src/domain/finding.js'
import type { Sighting } from '../../../src/domain/sighting.js'
import { conclude } from '../../../src/pipeline/annotate/conclude.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { readSchema } from '../../support/annotation-schema.js'
import { createFakeClock } from '../../support/clock.js'
import { ruleText } from '../../support/rules.js'

type AlertsSettings = Parameters<typeof openAlerts>[0]

type AlertsOptions = Parameters<typeof openAlerts>[1]

const validate = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': true } }).compile(
  readSchema('alert'),
)
const valid = (alerts: readonly Alert[]): readonly Alert[] => {
  for (const alert of alerts) {
    validate(JSON.parse(JSON.stringify(alert)))
    expect(validate.errors ?? []).toEqual([])
  }
  return alerts
}

const sighting = (value: string, role: 'source' | 'destination'): Sighting => ({
  type: 'ip',
  value,
  field: role === 'source' ? 'src' : 'dst',
  role,
  evidence: 'field',
})
const verdictOf = (level: 'malicious' | 'clean'): Verdict => ({
  level,
  ...(level === 'malicious' && { threatClass: 'serious' }),
  flags: {},
  because: 'reported',
  source: 'service',
  at: 0,
})
const pending: Verdict = { level: 'unknown', reason: 'pending', flags: {}, because: 'pending' }

type Sketch = { n: number; peer?: string; at?: string; verdict?: Verdict; late?: Promise<Finding>; more?: object }

/** An allowed connection from a public address to an inside one. */
const event = ({
  n,
  peer = '10.0.0.5',
  at = '2026-11-15T08:00:00Z',
  verdict,
  late,
  more = {},
}: Sketch): AnnotatedEvent => {
  const origin = `firewall/0/${n}`
  const value = { time: at, src: '198.51.100.60', dst: peer, ...more }
  const judged: Judged[] = [
    {
      sighting: sighting('198.51.100.60', 'source'),
      decision: { decision: 'lookup', ask: { type: 'ip', value: '198.51.100.60' } },
      verdict: verdict ?? (late ? pending : verdictOf('malicious')),
      ...(late && { late }),
    },
    {
      sighting: sighting(peer, 'destination'),
      decision: { decision: 'skip', reason: 'private_address' },
      verdict: { level: 'unknown', reason: 'private_address', flags: {}, because: '' },
    },
  ]
  const annotation = conclude({
    extraction: { action: 'allowed', truncated: false },
    rows: judged,
    direction: 'inbound',
    origin,
  })
  const extraction = { sightings: judged.map((row) => row.sighting) }
  return {
    origin,
    eventTime: Date.parse(at),
    key: Buffer.from('k'),
    event: { bytes: Buffer.from(JSON.stringify(value)), text: JSON.stringify(value), value },
    extraction,
    annotation,
    summary: annotation,
    others: [],
    judged,
  }
}

const malicious = ruleText(
  'sel:\n    threatweave.verdict: malicious\ncondition: sel',
  'level: high\ntags: [attack.t1190]\n',
)

describe('alerts', () => {
  let folder = ''
  const told: TelemetryEvent[] = []
  const clock = createFakeClock()
  const open: Alerts[] = []
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'threatweave-rules-'))
    writeFileSync(join(folder, 'malicious.yml'), malicious)
    told.length = 0
  })
  afterEach(async () => {
    for (const alerts of open.splice(0)) await alerts.close()
    rmSync(folder, { recursive: true })
  })

  const options = (): AlertsOptions => ({
    emit: (one) => told.push(one),
    clock,
    key: 'threatweave',
    named: () => ({}),
  })
  const start = async (settings: Partial<AlertsSettings> = {}, more: Partial<AlertsOptions> = {}): Promise<Alerts> => {
    const opened = await openAlerts(
      { rules: [folder], bundled: false, suppressSeconds: 3600, ...settings },
      { ...options(), ...more },
    )
    if ('problems' in opened) throw new Error(JSON.stringify(opened.problems))
    open.push(opened)
    return opened
  }

  it('name the rule, the event and what matched', async () => {
    const { raise } = await start()
    const [alert] = valid(raise([event({ n: 1 })]))
    expect(alert).toMatchObject({
      '@timestamp': '2026-11-15T08:00:00.000Z',
      event: { kind: 'alert', severity: 4 },
      rule: { id: '11111111-2222-4333-8444-555555555555', name: 'A rule' },
      tags: ['attack.t1190'],
      threat: { indicator: { type: 'ipv4-addr', ip: '198.51.100.60' } },
      threat_match_field: 'src',
      threat_match_value: '198.51.100.60',
      threatweave: {
        level: 'high',
        origin: 'firewall/0/1',
        key: 'k',
        count: 1,
        peer: '10.0.0.5',
        verdict: 'malicious',
        summary: '198.51.100.60 is malicious: reported',
        matched: [{ field: 'threatweave.verdict', value: 'malicious' }],
      },
    })
    expect(raise([event({ n: 2, verdict: verdictOf('clean') })])).toEqual([])
  })

  it('are suppressed within an hour of event time for the same rule, indicator and peer, and counted', async () => {
    const { raise, status } = await start()
    expect(raise([event({ n: 1 }), event({ n: 2, at: '2026-11-15T08:59:59Z' })])).toHaveLength(1)
    expect(raise([event({ n: 3, peer: '10.0.0.6' })])).toHaveLength(1)
    expect(raise([event({ n: 4, at: '2026-11-15T09:00:00Z' })])[0]?.threatweave.count).toBe(2)
    expect(raise([event({ n: 5, at: '2026-11-15T08:30:00Z' })])).toEqual([])
    expect(status()).toMatchObject({ rules: 1, raised: 3, suppressed: 2 })
  })

  it('are all raised without suppression, each with its own id', async () => {
    const { raise } = await start({ suppressSeconds: 0 })
    const ids = raise([event({ n: 1 }), event({ n: 2 })]).map(({ event: { id } }) => id)
    expect(new Set(ids).size).toBe(2)
  })

  it('have an id of their own after a restart, and the same group, but not in another window', async () => {
    const raised = async (n: number, at?: string): Promise<Alert['threatweave'] | undefined> =>
      (await start()).raise([event({ n, ...(at !== undefined && { at }) })])[0]?.threatweave
    const [first, again, other] = [await raised(1), await raised(1), await raised(2)]
    expect(again).toEqual(first)
    expect(other?.alert_id).not.toBe(first?.alert_id)
    expect(other?.group_id).toBe(first?.group_id)
    expect((await raised(3, '2026-11-15T09:00:00Z'))?.group_id).not.toBe(first?.group_id)
  })

  it('are raised again with the same id when their chunk is repeated', async () => {
    const { raise } = await start()
    const chunk = [event({ n: 1 }), event({ n: 2 })]
    const ids = (): string[] => raise(chunk).map(({ event: { id } }) => id)
    expect(ids()).toEqual(ids())
  })

  it('are not raised if alerts are off', async () => {
    const { raise } = await start({ rules: [] })
    expect(raise([event({ n: 1 })])).toEqual([])
  })

  describe('for events that are looked at again after a late answer', () => {
    const again = (
      n: number,
      peer?: string,
      fired: readonly string[] = [],
    ): Parameters<Alerts['raiseLate']>[0][number] => ({
      event: event({ n, ...(peer !== undefined && { peer }) }),
      fired,
    })

    it('are marked as late and name the events', async () => {
      const { raiseLate, raise } = await start()
      const { alerts } = raiseLate([again(1), again(2)])
      expect(valid(alerts)).toHaveLength(1)
      expect(alerts[0]?.threatweave).toMatchObject({
        late: true,
        origins: ['firewall/0/1', 'firewall/0/2'],
        count: 2,
        verdict: 'malicious',
        key: 'k',
      })
      expect(alerts[0]?.['@timestamp']).toBe('2026-11-15T08:00:00.000Z')
      expect(raise([event({ n: 3 })])).toEqual([])
    })

    it('name every inside host, however often another one was seen', async () => {
      const { raiseLate } = await start()
      const often = Array.from({ length: 20 }, (_, n) => again(n, '10.0.0.1'))
      const { alerts } = raiseLate([...often, again(20, '10.0.0.2')])
      expect(valid(alerts).map(({ threatweave: { peer, count } }) => [peer, count])).toEqual([
        ['10.0.0.1', 20],
        ['10.0.0.2', 1],
      ])
      expect(alerts[0]?.threatweave).toMatchObject({ origins_omitted: 4 })
      expect(alerts[0]?.threatweave.origins).toHaveLength(16)
    })

    it('name the other machines of a group that is without them', async () => {
      const block = 'level: high\nthreatweave: { suppress: { by: [threatweave.value] } }\n'
      writeFileSync(
        join(folder, 'malicious.yml'),
        ruleText('sel:\n    threatweave.verdict: malicious\ncondition: sel', block),
      )
      const { raiseLate } = await start()
      const { alerts } = raiseLate([again(1, '10.0.0.1'), again(2, '10.0.0.2'), again(3, '10.0.0.1')])
      expect(valid(alerts).map(({ threatweave: { peer, peers, count } }) => [peer, peers, count])).toEqual([
        ['10.0.0.1', ['10.0.0.2'], 3],
      ])
    })

    it('are not raised by a rule that has fired before, and say which have fired now', async () => {
      const { raise, raiseLate } = await start()
      const told: (readonly string[])[] = []
      const late = event({ n: 1, late: new Promise<Finding>(() => undefined), verdict: verdictOf('malicious') })
      expect(raise([late], (one, firings) => told.push([one.origin, ...firings]))).toHaveLength(1)
      const ruleId = '11111111-2222-4333-8444-555555555555'
      const firing = `${ruleId} 198.51.100.60`
      expect(told).toEqual([['firewall/0/1', firing]])
      expect(raiseLate([again(1, undefined, [firing])])).toMatchObject({ alerts: [], fired: [[firing]] })
      // An older note names the rule alone.
      expect(raiseLate([again(1, undefined, [ruleId])])).toMatchObject({ alerts: [], fired: [[ruleId]] })
      expect(raiseLate([again(7, '10.0.0.7')]).fired).toEqual([[firing]])
    })

    it('are not raised again for a member of a batch of which another member waited, whether it was suppressed or not', async () => {
      const { raise, raiseLate } = await start()
      const origin = (n: number, member: number): string => `firewall/0/${n}#${member}`
      const listed = (n: number, member: number): AnnotatedEvent => ({ ...event({ n }), origin: origin(n, member) })
      const told = new Map<string, readonly string[]>()
      const members = [listed(1, 0), listed(1, 1)]
      expect(raise(members, (one, firings) => told.set(one.origin, firings))).toHaveLength(1)
      expect(raiseLate(members.map((one) => ({ event: one, fired: told.get(one.origin) ?? [] }))).alerts).toEqual([])
    })

    it('are the same when they are raised again because they could not be written', async () => {
      const partition = (await start()).open()
      const ids = (): string[] => {
        const draft = partition.begin(true)
        const alerts = draft.raiseLate([again(1), again(2)]).alerts.map(({ event: { id } }) => id)
        draft.giveUp()
        return alerts
      }
      expect(ids()).toEqual(ids())
      expect(ids()).toHaveLength(1)
    })

    it('go to whichever event matches next when they could not be written', async () => {
      const partition = (await start()).open()
      const late = partition.begin(true)
      late.raiseLate([again(1)])
      late.giveUp()
      expect(partition.begin().raise([event({ n: 3 })])).toHaveLength(1)
    })
  })

  it('follow changed rule files once they are stable, and keep the old rules if the new ones are broken', async () => {
    const { raise, status, reload } = await start()
    writeFileSync(join(folder, 'broken.yml'), ruleText('sel:\n    a|near: x\ncondition: sel'))
    await reload()
    expect(told).toContainEqual(expect.objectContaining({ event: 'rules_refused', line: 7 }))
    expect(status()).toMatchObject({ rules: 1, problems: [{ line: 7 }] })
    expect(raise([event({ n: 1 })])).toHaveLength(1)

    writeFileSync(
      join(folder, 'broken.yml'),
      ruleText('sel:\n    a: x\ncondition: sel').replace('11111111', '22222222'),
    )
    await vi.waitFor(
      async () => {
        await clock.advance(5000)
        expect(status()).toMatchObject({ rules: 2, problems: [] })
      },
      { timeout: 600_000, interval: 5 },
    )
  })

  it('refuse to start on a broken rule, naming every problem', async () => {
    writeFileSync(join(folder, 'same.yml'), malicious)
    const opened = await openAlerts(
      { rules: [folder, join(folder, 'absent.yml')], bundled: false, suppressSeconds: 1 },
      options(),
    )
    expect('problems' in opened && opened.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/cannot be read: ENOENT/),
      expect.stringMatching(/has the same id as/),
    ])
  })

  it('come from the bundled rules by default', async () => {
    const { raise, status } = await start({ rules: [], bundled: true })
    expect(status().rules).toBe(16)
    expect(raise([event({ n: 1 })]).map(({ rule }) => rule.name)).toEqual(['Malicious Address Was Let In'])
  })
})

import { describe, expect, it } from 'vitest'
import type { Annotation } from '../../../src/domain/annotation.js'
import type { Reason } from '../../../src/domain/reason.js'
import { createMetrics, type MetricsSources } from '../../../src/telemetry/metrics.js'
import { createTally } from '../../../src/telemetry/tally.js'
import { openProvider, runningConsumer, seen } from '../../support/ops.js'

const open = (over: Partial<MetricsSources> = {}) => {
  const tally = createTally(['ip/malicious-info'], ['squid', 'acme'])
  const metrics = createMetrics({
    counts: tally.read,
    provider: () => openProvider,
    consumer: () => runningConsumer(0),
    allowed: { hour: 0, day: 1000 },
    version: '1.2.3',
    ...over,
  })
  const line = async (start: string): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((one) => one.startsWith(`threatweave_${start}`))
  const series = async (): Promise<number> =>
    (await metrics.text()).split('\n').filter((one) => one !== '' && !one.startsWith('#')).length
  return { tally, metrics, line, series }
}

describe('metrics', () => {
  it('counts events by status and verdict, and indicators by decision and reason', async () => {
    const { tally, line } = open()
    tally.chunkRead(2)
    for (const event of [seen(), seen({ status: 'partial', verdict: 'unknown' })]) tally.eventLeft(event)
    expect(await line('events_read_total')).toEqual(['threatweave_events_read_total 2'])
    expect(await line('events_total{status="complete",verdict="malicious"}')).toEqual([
      'threatweave_events_total{status="complete",verdict="malicious"} 1',
    ])
    expect(await line('events_total{status="partial",verdict="unknown"}')).toEqual([
      'threatweave_events_total{status="partial",verdict="unknown"} 1',
    ])
    expect(await line('indicators_total{decision="skip",reason="private_address"}')).toEqual([
      'threatweave_indicators_total{decision="skip",reason="private_address"} 2',
    ])
    expect(await line('indicators_total{decision="lookup",reason="none"}')).toEqual([
      'threatweave_indicators_total{decision="lookup",reason="none"} 2',
    ])
  })

  it('counts events by the format that recognised them, each loaded format from the start and no other', async () => {
    const { tally, line } = open()
    for (const format of ['acme', 'pairs', 'not-loaded']) tally.eventLeft({ ...seen(), extraction: { format } })
    expect(await line('events_by_format_total')).toEqual([
      'threatweave_events_by_format_total{format="squid"} 0',
      'threatweave_events_by_format_total{format="acme"} 1',
      'threatweave_events_by_format_total{format="none"} 1',
    ])
  })

  it('tells a miss that began a call from one that joined a call under way, and neither from a refresh', async () => {
    const { tally, line } = open()
    tally.recalled('missed')
    tally.recalled('missed')
    tally.joined()
    tally.recalled('refreshed')
    tally.joined()
    tally.recalled('stale')
    tally.recalled('fresh')
    expect(await line('memory_asks_total')).toEqual([
      'threatweave_memory_asks_total{kind="fresh"} 1',
      'threatweave_memory_asks_total{kind="stale"} 1',
      'threatweave_memory_asks_total{kind="coalesced"} 1',
      'threatweave_memory_asks_total{kind="cooling"} 0',
      'threatweave_memory_asks_total{kind="miss"} 1',
    ])
  })

  it('counts calls by operation and code, dead letters by reason, alerts by level', async () => {
    const { tally, line } = open()
    tally.tell({ event: 'service_answered', operation: 'ip/malicious-info', ms: 20 })
    tally.tell({
      event: 'service_call_failed',
      operation: 'ip/malicious-info',
      reason: 'timeout',
      detail: '',
      ms: 3000,
    })
    const where = { topic: 'firewall', partition: 0, offset: '1' }
    tally.tell({ event: 'record_reduced', ...where, to: 'compact', reason: 'too_large' })
    tally.tell({ event: 'record_reduced', ...where, to: 'pointer', reason: 'too_large' })
    tally.tell({ event: 'alerts_raised', alerts: 2, late: true, levels: ['high', 'critical'] })
    expect(await line('calls_total{operation="ip/malicious-info",code="ok"}')).toHaveLength(1)
    expect(await line('calls_total{operation="ip/malicious-info",code="timeout"}')).toEqual([
      'threatweave_calls_total{operation="ip/malicious-info",code="timeout"} 1',
    ])
    expect(await line('dead_letters_total{reason="too_large"}')).toEqual([
      'threatweave_dead_letters_total{reason="too_large"} 1',
    ])
    expect(await line('alerts_total{level="high"}')).toEqual(['threatweave_alerts_total{level="high"} 1'])
    expect(await line('late_alerts_total')).toEqual(['threatweave_late_alerts_total 2'])
    expect(await line('call_seconds_count')).toEqual(['threatweave_call_seconds_count 2'])
    expect(await line('call_seconds_bucket{le="0.025"}')).toEqual(['threatweave_call_seconds_bucket{le="0.025"} 1'])
    expect(await line('call_seconds_bucket{le="+Inf"}')).toEqual(['threatweave_call_seconds_bucket{le="+Inf"} 2'])
  })

  it('weighs the age of a delivered chunk by its events, and takes no word of a record that lies about its time', async () => {
    const { tally, line } = open()
    const chunk = { event: 'chunk_delivered', topic: 'firewall', partition: 0, events: 500 } as const
    tally.tell({ ...chunk, oldestMs: 40 })
    tally.tell({ ...chunk, oldestMs: 1.7e12 })
    tally.tell({ ...chunk, oldestMs: NaN })
    expect(await line('events_delivered_total')).toEqual(['threatweave_events_delivered_total 1500'])
    expect(await line('end_to_end_seconds_count')).toEqual(['threatweave_end_to_end_seconds_count 500'])
    expect(await line('end_to_end_seconds_sum')).toEqual(['threatweave_end_to_end_seconds_sum 20'])
  })

  it('shows the state of provider and consumer, lag by partition, and what runs', async () => {
    const { line } = open({ provider: () => ({ ...openProvider, state: 'breaker_open' }) })
    expect(await line('provider_state{state="breaker_open"}')).toEqual([
      'threatweave_provider_state{state="breaker_open"} 1',
    ])
    expect(await line('provider_state{state="open"}')).toEqual(['threatweave_provider_state{state="open"} 0'])
    expect(await line('lag{topic="firewall",partition="0"}')).toEqual([
      'threatweave_lag{topic="firewall",partition="0"} 12',
    ])
    expect(await line('credits_total')).toEqual(['threatweave_credits_total 40'])
    expect(await line('credits_allowed{window="day"}')).toEqual(['threatweave_credits_allowed{window="day"} 1000'])
    expect((await line('build_info'))[0]).toContain('version="1.2.3"')
  })

  it('has the same number of series after 100,000 hostile events', async () => {
    const { tally, series } = open()
    const before = await series()
    for (let index = 0; index < 1000; index++) {
      const hostile = `"}\n evil{x="${index}" <script> \u001b[31m __proto__`
      tally.chunkRead(100)
      for (let times = 0; times < 100; times++)
        tally.eventLeft({
          status: hostile as Annotation['status'],
          verdict: '__proto__' as Annotation['verdict'],
          extraction: { format: hostile },
          judged: [
            { decision: { decision: 'skip', reason: hostile as Reason }, verdict: { reason: hostile as Reason } },
          ],
        })
      tally.tell({ event: 'service_answered', operation: hostile, ms: index })
      tally.tell({ event: 'service_call_failed', operation: hostile, reason: hostile as Reason, detail: '', ms: 1 })
      tally.tell({
        event: 'record_reduced',
        topic: hostile,
        partition: index,
        offset: hostile,
        to: 'pointer',
        reason: hostile,
      })
      tally.tell({ event: 'alerts_raised', alerts: 1, late: false, levels: [hostile] })
    }
    expect(tally.read().read).toBe(100_000)
    expect(await series()).toBe(before)
  })
})

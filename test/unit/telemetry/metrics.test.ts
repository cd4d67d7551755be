import { describe, expect, it } from 'vitest'
import type { Annotation } from '../../../src/domain/annotation.js'
import type { Reason } from '../../../src/domain/reason.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { createCounters } from '../../../src/telemetry/counters.js'
import { openProvider, runningConsumer, seen } from '../../support/ops.js'

type MetricsSources = Parameters<typeof createMetrics>[0]

const open = (over: Partial<MetricsSources> = {}) => {
  const counters = createCounters(['ip/malicious-info'], ['squid', 'acme'])
  const metrics = createMetrics({
    counts: counters.read,
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
  return { counters, metrics, line, series }
}

describe('metrics', () => {
  it('counts events by status and verdict, and indicators by decision and reason', async () => {
    const { counters, line } = open()
    counters.chunkRead(2)
    for (const event of [seen(), seen({ status: 'partial', verdict: 'unknown' })]) counters.eventAnnotated(event)
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

  it('says nothing about the folder of the memory where there is none', async () => {
    const { metrics } = open()
    expect(await metrics.text()).not.toMatch(/^threatweave_memory_writable/m)
  })

  it('escapes what a label may hold', async () => {
    const { line } = open({ rules: () => [{ id: 'a', title: 'say "no"\\\n', alerts: 1, matches: 2 }] })
    expect(await line('rule_alerts')).toEqual(['threatweave_rule_alerts_total{id="a",rule="say \\"no\\"\\\\\\n"} 1'])
  })

  it('counts for a server how often bulk connections reached a limit, by the limit', async () => {
    const { counters, line } = open({ kind: 'server' })
    for (const reason of ['questions', 'questions', 'unread'] as const)
      counters.emit({ event: 'bulk_limit_reached', key: 'soar', reason })
    expect(await line('bulk_limits_reached_total')).toEqual([
      'threatweave_bulk_limits_reached_total{limit="connections"} 0',
      'threatweave_bulk_limits_reached_total{limit="questions"} 2',
      'threatweave_bulk_limits_reached_total{limit="unread"} 1',
    ])
  })

  it('counts events by the format that recognised them, each loaded format from the start and no other', async () => {
    const { counters, line } = open()
    for (const format of ['acme', 'pairs', 'not-loaded']) counters.eventAnnotated({ ...seen(), extraction: { format } })
    expect(await line('events_by_format_total')).toEqual([
      'threatweave_events_by_format_total{format="squid"} 0',
      'threatweave_events_by_format_total{format="acme"} 1',
      'threatweave_events_by_format_total{format="none"} 1',
    ])
  })

  it('counts a miss that started a call, a miss that joined a call in flight, and a refresh separately', async () => {
    const { counters, line } = open()
    counters.recalled('missed')
    counters.recalled('missed')
    counters.joined()
    counters.recalled('refreshed')
    counters.joined()
    counters.recalled('stale')
    counters.recalled('fresh')
    expect(await line('memory_lookups_total')).toEqual([
      'threatweave_memory_lookups_total{result="fresh"} 1',
      'threatweave_memory_lookups_total{result="stale"} 1',
      'threatweave_memory_lookups_total{result="coalesced"} 1',
      'threatweave_memory_lookups_total{result="cooling"} 0',
      'threatweave_memory_lookups_total{result="miss"} 1',
    ])
  })

  it('counts calls by operation and code, dead letters by reason, alerts by level', async () => {
    const { counters, line } = open()
    counters.emit({ event: 'provider_answered', operation: 'ip/malicious-info', ms: 20 })
    counters.emit({
      event: 'provider_call_failed',
      operation: 'ip/malicious-info',
      reason: 'timeout',
      detail: '',
      ms: 3000,
    })
    const where = { topic: 'firewall', partition: 0, offset: '1' }
    counters.emit({ event: 'record_reduced', ...where, to: 'compact', reason: 'too_large' })
    counters.emit({ event: 'record_reduced', ...where, to: 'pointer', reason: 'too_large' })
    counters.emit({ event: 'alerts_raised', alerts: 2, late: true, levels: ['high', 'critical'] })
    counters.emit({ event: 'events_corrected', events: 3 })
    counters.emit({ event: 'late_events_dropped', events: 4, why: 'too_many' })
    expect(await line('provider_calls_total{operation="ip/malicious-info",code="ok"}')).toHaveLength(1)
    expect(await line('provider_calls_total{operation="ip/malicious-info",code="timeout"}')).toEqual([
      'threatweave_provider_calls_total{operation="ip/malicious-info",code="timeout"} 1',
    ])
    expect(await line('dead_letters_total{reason="too_large"}')).toEqual([
      'threatweave_dead_letters_total{reason="too_large"} 1',
    ])
    expect(await line('alerts_total{level="high"}')).toEqual(['threatweave_alerts_total{level="high"} 1'])
    expect(await line('late_alerts_total')).toEqual(['threatweave_late_alerts_total 2'])
    expect(await line('events_corrected_total')).toEqual(['threatweave_events_corrected_total 3'])
    expect(await line('events_not_followed_up_total')).toEqual(['threatweave_events_not_followed_up_total 4'])
    expect(await line('provider_call_duration_seconds_count')).toEqual([
      'threatweave_provider_call_duration_seconds_count 2',
    ])
    expect(await line('provider_call_duration_seconds_bucket{le="0.025"}')).toEqual([
      'threatweave_provider_call_duration_seconds_bucket{le="0.025"} 1',
    ])
    expect(await line('provider_call_duration_seconds_bucket{le="+Inf"}')).toEqual([
      'threatweave_provider_call_duration_seconds_bucket{le="+Inf"} 2',
    ])
  })

  it('weighs the age of a delivered chunk by its events, and ignores a record with an impossible timestamp', async () => {
    const { counters, line } = open()
    const chunk = { event: 'chunk_delivered', topic: 'firewall', partition: 0, events: 500 } as const
    counters.emit({ ...chunk, oldestMs: 40 })
    counters.emit({ ...chunk, oldestMs: 1.7e12 })
    counters.emit({ ...chunk, oldestMs: NaN })
    expect(await line('events_delivered_total')).toEqual(['threatweave_events_delivered_total 1500'])
    expect(await line('end_to_end_latency_seconds_count')).toEqual(['threatweave_end_to_end_latency_seconds_count 500'])
    expect(await line('end_to_end_latency_seconds_sum')).toEqual(['threatweave_end_to_end_latency_seconds_sum 20'])
  })

  it('shows the state of provider and consumer, lag by partition, and the version', async () => {
    const { line } = open({ provider: () => ({ ...openProvider, state: 'breaker_open' }) })
    expect(await line('provider_state{state="breaker_open"}')).toEqual([
      'threatweave_provider_state{state="breaker_open"} 1',
    ])
    expect(await line('provider_state{state="open"}')).toEqual(['threatweave_provider_state{state="open"} 0'])
    expect(await line('consumer_lag{topic="firewall",partition="0"}')).toEqual([
      'threatweave_consumer_lag{topic="firewall",partition="0"} 12',
    ])
    expect(await line('credits_total')).toEqual(['threatweave_credits_total 40'])
    expect(await line('budget_limit{window="day"}')).toEqual(['threatweave_budget_limit{window="day"} 1000'])
    expect((await line('build_info'))[0]).toContain('version="1.2.3"')
  })

  it('has the same number of series after 100,000 hostile events', async () => {
    const { counters, series } = open()
    const before = await series()
    for (let index = 0; index < 1000; index++) {
      const hostile = `"}\n evil{x="${index}" <script> \u001b[31m __proto__`
      counters.chunkRead(100)
      for (let times = 0; times < 100; times++)
        counters.eventAnnotated({
          status: hostile as Annotation['status'],
          verdict: '__proto__' as Annotation['verdict'],
          extraction: { format: hostile },
          judged: [
            { decision: { decision: 'skip', reason: hostile as Reason }, verdict: { reason: hostile as Reason } },
          ],
        })
      counters.emit({ event: 'provider_answered', operation: hostile, ms: index })
      counters.emit({ event: 'provider_call_failed', operation: hostile, reason: hostile as Reason, detail: '', ms: 1 })
      counters.emit({
        event: 'record_reduced',
        topic: hostile,
        partition: index,
        offset: hostile,
        to: 'pointer',
        reason: hostile,
      })
      counters.emit({ event: 'alerts_raised', alerts: 1, late: false, levels: [hostile] })
    }
    expect(counters.read().read).toBe(100_000)
    expect(await series()).toBe(before)
  })
})

it('measures each database of places: its age, and how often a changed file was refused', async () => {
  const { line } = open({ geo: () => [{ file: 'asn.mmdb', built: Date.now() - 60_000, refusals: 2 }] })
  const [age] = await line('geo_database_age_seconds{file="asn.mmdb"}')
  expect(Number(age?.split(' ')[1])).toBeGreaterThanOrEqual(60)
  expect(await line('geo_database_refusals')).toEqual(['threatweave_geo_database_refusals_total{file="asn.mmdb"} 2'])
})

it('measures each feed: entries, age, what was skipped, fetches and failures', async () => {
  const { line } = open({
    feeds: () => [
      {
        name: 'ours',
        state: 'loaded',
        addresses: 3,
        endpoints: 4,
        names: 2,
        urls: 5,
        modified: Date.now() - 60_000,
        skipped: { unusable: 1, not_looked_up: 4 },
        fetch: { fetches: 5, failures: 1 },
      },
      { name: 'missing', state: 'missing', addresses: 0, endpoints: 0, names: 0, urls: 0, skipped: {} },
      { name: 'hashes', state: 'empty', addresses: 0, endpoints: 0, names: 0, urls: 0, skipped: { not_looked_up: 2 } },
    ],
  })
  expect(await line('feed_entries{feed="ours"')).toEqual([
    'threatweave_feed_entries{feed="ours",type="ip"} 3',
    'threatweave_feed_entries{feed="ours",type="ip_port"} 4',
    'threatweave_feed_entries{feed="ours",type="domain"} 2',
    'threatweave_feed_entries{feed="ours",type="url"} 5',
  ])
  expect(Number((await line('feed_age_seconds'))[0]?.split(' ')[1])).toBeGreaterThanOrEqual(60)
  expect(await line('feed_age_seconds')).toHaveLength(1)
  expect(await line('feed_entries_skipped{feed="ours"')).toEqual([
    'threatweave_feed_entries_skipped{feed="ours",reason="unusable"} 1',
    'threatweave_feed_entries_skipped{feed="ours",reason="not_looked_up"} 4',
  ])
  expect(await line('feed_empty')).toEqual([
    'threatweave_feed_empty{feed="ours"} 0',
    'threatweave_feed_empty{feed="hashes"} 1',
  ])
  expect(await line('feed_fetch')).toEqual([
    'threatweave_feed_fetches_total{feed="ours"} 5',
    'threatweave_feed_fetch_failures_total{feed="ours"} 1',
  ])
})

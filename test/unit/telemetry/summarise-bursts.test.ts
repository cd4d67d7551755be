import { describe, expect, it } from 'vitest'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { summariseBursts } from '../../../src/telemetry/summarise-bursts.js'
import { sentenceOf } from '../../../src/telemetry/wording.js'
import { createFakeClock } from '../../support/clock.js'

const failed = (detail: string, reason: 'timeout' | 'unavailable' = 'timeout'): TelemetryEvent => ({
  event: 'provider_call_failed',
  operation: 'ip/malicious-info',
  reason,
  detail,
  ms: 1,
})

const open = () => {
  const clock = createFakeClock()
  const logged: string[] = []
  return { clock, logged, ...summariseBursts((event) => logged.push(sentenceOf(event)), clock, 30_000) }
}

describe('bursts of the same failure', () => {
  it('are logged once, then as a count, then no longer', async () => {
    const { clock, logged, emit } = open()
    for (let index = 0; index < 1000; index++) emit(failed(`attempt ${index}`))
    expect(logged).toEqual(['ip/malicious-info failed: timeout, attempt 0'])
    await clock.advance(30_000)
    expect(logged.slice(1)).toEqual(['999 more times within 30 s: ip/malicious-info failed: timeout, attempt 999'])
    await clock.advance(300_000)
    expect(logged).toHaveLength(2)
    expect(clock.timers()).toBe(0)
    emit(failed('again'))
    expect(logged.at(-1)).toBe('ip/malicious-info failed: timeout, again')
  })

  it('say what was counted in all of them', async () => {
    const { clock, logged, emit } = open()
    const skipped = { event: 'offsets_skipped', topic: 'firewall', partition: 3 } as const
    for (const count of [5, 100, 20]) emit({ ...skipped, count })
    emit({ ...skipped, partition: 4, count: 7 })
    await clock.advance(30_000)
    expect(logged.map((line) => /\d+ (?:more times|records|offsets)/.exec(line)?.[0])).toHaveLength(3)
    expect(logged.join('\n')).toContain(sentenceOf({ ...skipped, count: 120 }))
  })

  it('are distinguished by what failed and why', () => {
    const { logged, emit } = open()
    emit(failed('a'))
    emit(failed('b', 'unavailable'))
    emit(failed('c'))
    expect(logged).toHaveLength(2)
  })

  it('do not hide a dead letter behind a record that only became smaller', () => {
    const { logged, emit } = open()
    const reduced = {
      event: 'record_reduced',
      topic: 'firewall',
      partition: 0,
      offset: '7',
      reason: 'too_large',
    } as const
    emit({ ...reduced, to: 'compact' })
    emit({ ...reduced, to: 'dead_letter' })
    expect(logged).toHaveLength(2)
  })

  it('are flushed before a stop', () => {
    const { logged, emit, flush } = open()
    emit(failed('a'))
    emit(failed('b'))
    flush()
    flush()
    expect(logged.slice(1)).toEqual(['1 more times within 30 s: ip/malicious-info failed: timeout, b'])
  })

  it('do not affect events that are no failure', () => {
    const { logged, emit } = open()
    emit({ event: 'lookups_resumed' })
    emit({ event: 'lookups_resumed' })
    expect(logged).toHaveLength(2)
  })
})

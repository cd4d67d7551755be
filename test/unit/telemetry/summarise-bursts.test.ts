import { describe, expect, it } from 'vitest'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { summariseBursts } from '../../../src/telemetry/summarise-bursts.js'
import { sentenceOf } from '../../../src/telemetry/wording.js'
import { createFakeClock } from '../../support/clock.js'

const failed = (detail: string, reason: 'timeout' | 'unavailable' = 'timeout'): TelemetryEvent => ({
  event: 'service_call_failed',
  operation: 'ip/malicious-info',
  reason,
  detail,
  ms: 1,
})

const open = () => {
  const clock = createFakeClock()
  const told: string[] = []
  return { clock, told, ...summariseBursts((event) => told.push(sentenceOf(event)), clock, 30_000) }
}

describe('bursts of the same failure', () => {
  it('are told once, then as a count, then not at all when they are over', async () => {
    const { clock, told, tell } = open()
    for (let index = 0; index < 1000; index++) tell(failed(`attempt ${index}`))
    expect(told).toEqual(['ip/malicious-info failed: timeout, attempt 0'])
    await clock.advance(30_000)
    expect(told.slice(1)).toEqual(['999 times more within 30 s: ip/malicious-info failed: timeout, attempt 999'])
    await clock.advance(300_000)
    expect(told).toHaveLength(2)
    expect(clock.timers()).toBe(0)
    tell(failed('again'))
    expect(told.at(-1)).toBe('ip/malicious-info failed: timeout, again')
  })

  it('are told apart by what failed and why', () => {
    const { told, tell } = open()
    tell(failed('a'))
    tell(failed('b', 'unavailable'))
    tell(failed('c'))
    expect(told).toHaveLength(2)
  })

  it('do not hide a dead letter behind a record that only became smaller', () => {
    const { told, tell } = open()
    const reduced = {
      event: 'record_reduced',
      topic: 'firewall',
      partition: 0,
      offset: '7',
      reason: 'too_large',
    } as const
    tell({ ...reduced, to: 'compact' })
    tell({ ...reduced, to: 'dead_letter' })
    expect(told).toHaveLength(2)
  })

  it('are counted to the last before the end', () => {
    const { told, tell, flush } = open()
    tell(failed('a'))
    tell(failed('b'))
    flush()
    flush()
    expect(told.slice(1)).toEqual(['1 times more within 30 s: ip/malicious-info failed: timeout, b'])
  })

  it('leave alone what is no failure', () => {
    const { told, tell } = open()
    tell({ event: 'asking_resumed' })
    tell({ event: 'asking_resumed' })
    expect(told).toHaveLength(2)
  })
})

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/domain/finding.js'
import type { Ask, Source } from '../../../src/domain/lookup.js'
import { keyOf } from '../../../src/domain/indicator.js'
import { createAdmission, type AdmissionSettings } from '../../../src/lookup/admission/admission.js'
import { admit } from '../../../src/lookup/admit.js'
import { createFakeClock, type FakeClock } from '../../support/clock.js'
import { admissionSettings, ask, createSource, indicator, known, outbound, unknown } from '../../support/lookup.js'

const setUp = (
  settings: Partial<AdmissionSettings> = {},
  answer?: (nth: number, clock: FakeClock) => Finding | Promise<Finding>,
  tookMs = 10,
) => {
  const clock = createFakeClock()
  const times: number[] = []
  const source = createSource(clock, (_indicator, nth) => answer?.(nth, clock) ?? known(clock.now()), tookMs)
  const start = clock.now()
  const timed: Source = (asked, how, call) =>
    source(asked, how, (send) =>
      call(() => {
        times.push(clock.now() - start)
        return send()
      }),
    )
  const admission = createAdmission({ ...admissionSettings, ...settings }, clock)
  const lookup = admit(keyOf, admission)(timed)
  const many = (count: number, how: Ask = ask, from = 0) =>
    Array.from({ length: count }, (_, nth) => lookup(indicator(from + nth), how))
  return { clock, source, admission, lookup, many, times }
}
const never = new Promise<Finding>(() => undefined)
const tally = async (found: readonly (Finding | Promise<Finding>)[]): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const each of found) {
    const finding = await each
    const name = finding.status === 'known' ? 'known' : finding.reason
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

describe('admit', () => {
  it.each([1, 3])('has no more than %i calls in flight', async (inFlight) => {
    const { clock, source, many } = setUp({ inFlight })
    const found = many(50)
    await clock.advance(10_000)
    expect(await tally(found)).toEqual({ known: 50 })
    expect(source.most()).toBe(inFlight)
  })

  it('pays for nothing that an outside client wrote, whoever asks', async () => {
    const { clock, source, many } = setUp()
    const found = many(3, { ...ask, role: 'claimed' })
    await clock.advance(10_000)
    expect(await tally(found)).toEqual({ feeds_only: 3 })
    expect(source.most()).toBe(0)
  })

  it('counts each call of a lookup that needs several', async () => {
    const clock = createFakeClock()
    const admission = createAdmission({ ...admissionSettings, perRun: 3 }, clock)
    let sent = 0
    const two: Source = async (_indicator, _ask, call) => {
      const first = await call(() => Promise.resolve(known(++sent)))
      return first.status === 'unknown' ? first : call(() => Promise.resolve(known(++sent)))
    }
    const lookup = admit(keyOf, admission)(two)
    expect(await lookup(indicator(1), ask)).toEqual(known(2))
    expect(await lookup(indicator(2), ask)).toMatchObject({ reason: 'budget_spent' })
    expect(lookup(indicator(3), ask)).toMatchObject({ reason: 'budget_spent' })
    expect([sent, admission.state().spent.run]).toEqual([3, 3])
  })

  it('holds one call in flight even when a lookup sends several at once', async () => {
    const clock = createFakeClock()
    let under = 0
    let most = 0
    const send = async (): Promise<Finding> => {
      most = Math.max(most, ++under)
      await new Promise<void>((resolve) => clock.after(10, resolve))
      under--
      return known(0)
    }
    const source: Source = async (_indicator, _ask, call) =>
      (await Promise.all([call(send), call(send), call(send)]))[0]
    const found = admit(keyOf, createAdmission(admissionSettings, clock))(source)(indicator(1), ask)
    await clock.advance(100)
    expect(await found).toEqual(known(0))
    expect(most).toBe(1)
  })

  it('sends exactly the budget and says budget_spent to the rest, until the next hour', async () => {
    const { clock, source, many, lookup } = setUp({ perHour: 20 })
    const found = many(100)
    await clock.advance(60_000)
    expect(await tally(found)).toEqual({ known: 20, budget_spent: 80 })
    expect(lookup(indicator(500), ask)).toMatchObject({ reason: 'budget_spent', retryAfterMs: 3_540_000 })
    await clock.advance(3_540_000)
    expect(lookup(indicator(500), ask)).toBeInstanceOf(Promise)
    await clock.advance(1000)
    expect(source.calls.length).toBe(21)
  })

  it.each(['busy', 'throttled'] as const)(
    'sends not one further call after %s before the pause ends, then one, then the rest',
    async (reason) => {
      const { clock, many, times } = setUp({ inFlight: 4 }, (nth) => (nth <= 4 ? unknown(reason) : known(0)), 100)
      const found = many(20)
      await clock.advance(2099)
      expect(times).toEqual([0, 0, 0, 0])
      await clock.advance(1)
      expect(times).toEqual([0, 0, 0, 0, 2100])
      await clock.advance(99)
      expect(times.length).toBe(5)
      await clock.advance(1)
      expect(times.length).toBe(9)
      await clock.advance(5000)
      expect(await tally(found)).toEqual({ known: 16, [reason]: 4 })
    },
  )

  it('keeps to a Retry-After to the millisecond', async () => {
    const { clock, many, times } = setUp({}, (nth) =>
      nth === 1 ? unknown('throttled', { retryAfterMs: 12_345 }) : known(0),
    )
    const found = many(3)
    await clock.advance(20_000)
    expect(times).toEqual([0, 10 + 12_345, 20 + 12_345])
    expect(await tally(found)).toEqual({ known: 2, throttled: 1 })
  })

  it('lets nobody wait in a pause that is longer than the longest', async () => {
    const { clock, many, lookup } = setUp({}, () => unknown('throttled', { retryAfterMs: 3_600_000 }))
    const found = many(10)
    await clock.advance(100)
    expect(await tally(found)).toEqual({ throttled: 10 })
    expect(lookup(indicator(99), ask)).toEqual(unknown('throttled', { retryAfterMs: 3_599_910 }))
  })

  it('opens the breaker after failures in a row, empties the queue, and tries again with one call', async () => {
    const { clock, source, many, lookup } = setUp({}, (nth) => (nth <= 6 ? unknown('unavailable') : known(0)))
    const found = many(100)
    await clock.advance(1000)
    expect(await tally(found)).toEqual({ unavailable: 5, breaker_open: 95 })
    expect(lookup(indicator(200), ask)).toMatchObject({ reason: 'breaker_open' })
    await clock.advance(9050)
    const probes = many(10, ask, 300)
    await clock.advance(100)
    expect(await tally(probes)).toEqual({ unavailable: 1, breaker_open: 9 })
    expect(source.calls.length).toBe(6)
    await clock.advance(20_000)
    const good = many(10, ask, 400)
    await clock.advance(1000)
    expect(await tally(good)).toEqual({ known: 10 })
  })

  it.each(['bad_key', 'no_credit'] as const)('sends nothing for a while after %s, said twice', async (reason) => {
    const { clock, source, many, lookup } = setUp({}, () => unknown(reason))
    const found = many(100)
    await clock.advance(3000)
    expect(await tally(found)).toEqual({ [reason]: 100 })
    expect(source.calls.length).toBe(2)
    await clock.advance(299_200)
    void lookup(indicator(7), ask)
    await clock.advance(100)
    expect(source.calls.length).toBe(3)
  })

  it('gives up a call that never comes back, so that the next one can go', async () => {
    const { clock, many } = setUp({}, (nth) => (nth === 1 ? never : known(0)))
    const found = many(2)
    await clock.advance(31_000)
    expect(await tally(found)).toEqual({ timeout: 1, known: 1 })
  })

  it('estimates from the place in the queue, the latency and the pause', async () => {
    const { clock, many, admission } = setUp({}, undefined, 100)
    for (let nth = 0; nth < 40; nth++) void many(1, ask, 1000 + nth)
    await clock.advance(10_000)
    expect(admission.state().latencyMs).toBeCloseTo(100, 0)
    void many(11)
    await clock.advance(0)
    expect(admission.estimateMs(keyOf(indicator(0)))).toBeCloseTo(100, -1)
    expect(admission.estimateMs(keyOf(indicator(10)))).toBeCloseTo(1100, -1)
    expect(admission.estimateMs(keyOf(indicator(99)))).toBeUndefined()
    await clock.advance(50)
    expect(admission.estimateMs(keyOf(indicator(0)))).toBeCloseTo(50, -1)
    expect(admission.estimateMs(keyOf(indicator(10)))).toBeCloseTo(1050, -1)
  })

  it('expects less and less of a call that does not come back', async () => {
    const { clock, many, admission } = setUp({}, () => never)
    void many(2)
    await clock.advance(20_000)
    expect(admission.estimateMs(keyOf(indicator(0)))).toBe(20_000)
    expect(admission.estimateMs(keyOf(indicator(1)))).toBe(20_100)
  })

  it('shows its state', async () => {
    const { clock, many, admission } = setUp({}, () => unknown('busy'))
    void many(5)
    await clock.advance(5)
    expect(admission.state()).toMatchObject({ waiting: 4, inFlight: 1, state: 'open', spent: { run: 0 } })
    await clock.advance(10)
    expect(admission.state()).toMatchObject({ waiting: 4, inFlight: 0, state: 'paused', spent: { run: 1 } })
  })
})

describe('a flood', () => {
  const flood = 1_000_000

  it('of a million indicators against a source that hangs leaves a bounded queue and says queue_full', async () => {
    const { clock, lookup, admission, source } = setUp({ maxWaiting: 10_000 }, () => never)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    collect()
    const before = process.memoryUsage().heapUsed
    let full = 0
    let waiting = 0
    for (let nth = 0; nth < flood; nth++) {
      const found = lookup(indicator(nth), ask)
      if (found instanceof Promise) waiting++
      else if (found.status === 'unknown' && found.reason === 'queue_full') full++
    }
    await clock.advance(0)
    expect([waiting, full]).toEqual([10_001, flood - 10_001])
    expect(admission.state()).toMatchObject({ waiting: 10_000, inFlight: 1 })
    expect(source.calls.length).toBe(1)
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * 1024 * 1024)
  })

  it('of a million random sources does not keep ten outbound ones from being answered first, within the budget', async () => {
    const { clock, lookup, many, source } = setUp({ maxWaiting: 10_000, perRun: 50 })
    for (let nth = 0; nth < flood; nth++) void lookup(indicator(nth), ask)
    const found = many(10, outbound, flood)
    await clock.advance(60_000)
    expect(await tally(found)).toEqual({ known: 10 })
    expect(source.calls.length).toBe(50)
    // One flood source was already under way.
    expect(source.calls.slice(1, 11)).toEqual(
      Array.from({ length: 10 }, (_, nth) => `ip:${indicator(flood + nth).value}`),
    )
  })
})

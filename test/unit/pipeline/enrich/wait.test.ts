import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../../src/domain/finding.js'
import type { Extraction } from '../../../../src/domain/sighting.js'
import { createWaitBudget } from '../../../../src/pipeline/enrich/wait-budget.js'
import { createFakeClock, newYear } from '../../../support/clock.js'
import { elapsed, event, never, setUp, words } from '../../../support/enriching.js'
import { known, unknown } from '../../../support/lookup.js'

const many = (count: number, from = 0): Extraction[] => Array.from({ length: count }, (_, nth) => event(from + nth))
const always = (): boolean => true

describe('the time that a process which is behind may wait', () => {
  const open = (share: number) => {
    const clock = createFakeClock()
    let waitedMs = 0
    const budget = createWaitBudget(share, clock.now, clock.now, (ms) => void (waitedMs += ms))
    return { clock, budget, waitedMs: () => waitedMs }
  }

  it('is two seconds, and a share of what passes', async () => {
    const { clock, budget, waitedMs } = open(0.2)
    expect(budget.leftMs()).toBe(2000)
    budget.began()
    await clock.advance(2000)
    expect(budget.leftMs()).toBeCloseTo(400)
    await clock.advance(500)
    budget.ended()
    expect(budget.leftMs()).toBeCloseTo(0)
    await clock.advance(1000)
    expect(budget.leftMs()).toBeCloseTo(200)
    expect(waitedMs()).toBe(2500)
  })

  it('passes once, however many wait at the same time', async () => {
    const { clock, budget, waitedMs } = open(0.2)
    budget.began()
    budget.began()
    await clock.advance(1000)
    budget.ended()
    await clock.advance(500)
    budget.ended()
    expect(waitedMs()).toBe(1500)
    expect(budget.leftMs()).toBeCloseTo(2000 - 1500 + 300)
  })

  it('is only spent while the process is idle', async () => {
    const clock = createFakeClock()
    let idle = 0
    const budget = createWaitBudget(0.2, clock.now, () => idle)
    budget.began()
    await clock.advance(1000)
    expect(budget.leftMs()).toBe(2000)
    idle = 400
    await clock.advance(1000)
    expect(budget.leftMs()).toBeCloseTo(2000 - 400 + 200)
  })

  it('is not saved up beyond the two seconds', async () => {
    const { clock, budget } = open(0.5)
    await clock.advance(86_400_000)
    expect(budget.leftMs()).toBe(2000)
  })

  it('is none where the share is 0', async () => {
    const { clock, budget } = open(0)
    await clock.advance(1000)
    expect(budget.leftMs()).toBe(0)
  })
})

describe('events of a partition that is behind', () => {
  it('wait for all that was asked, past the deadline of the head, as long as answers come', async () => {
    const { clock, enrich, waitedMs } = setUp(undefined, { tookMs: 10, catchUpShare: 0.2 })
    const rows = Promise.resolve(enrich(many(150), true))
    expect(await elapsed(clock, rows)).toBe(1500)
    expect(new Set(words(await rows).flat())).toEqual(new Set(['clean']))
    expect(waitedMs()).toBe(1500)
  })

  it('leave as pending when the time is used up, and what is asked for most was asked first', async () => {
    const { clock, enrich, source, waitedMs } = setUp(undefined, { tookMs: 300, catchUpShare: 0.2 })
    const wanted = Array.from({ length: 30 }, () => event(77))
    const rows = Promise.resolve(enrich([...many(50), ...wanted], true))
    expect(await elapsed(clock, rows)).toBe(2500)
    expect(waitedMs()).toBe(2500)
    expect(source.calls[1]).toBe(`ip:${event(77).sightings[0]?.value}`)
    expect(words(await rows).filter(([word]) => word === 'clean')).toHaveLength(30 + 7)
    expect(words(await rows).filter(([word]) => word === 'pending')).toHaveLength(50 - 7)
  })

  it('wait no longer than a second when no answer ever comes, and the next ones not at all', async () => {
    const { clock, enrich, waitedMs } = setUp(() => never, { catchUpShare: 0.2 })
    expect(await elapsed(clock, Promise.resolve(enrich(many(10), true)))).toBe(1000)
    for (let batch = 1; batch < 20; batch++) {
      const rows = enrich(many(10, batch * 10), true)
      expect(rows).not.toBeInstanceOf(Promise)
      expect(new Set(words(await rows).flat())).toEqual(new Set(['pending']))
      await clock.advance(100)
    }
    expect(waitedMs()).toBe(1000)
  })

  it('do not wait again for a provider that hangs because its calls timed out', async () => {
    const timedOut = (): Promise<Finding> => new Promise((done) => clock.after(5_000, () => done(unknown('timeout'))))
    const { clock, enrich, waitedMs } = setUp(() => timedOut(), { catchUpShare: 0.2 })
    for (let batch = 0; batch < 20; batch++) {
      const rows = Promise.resolve(enrich(many(10, batch * 10), true))
      await elapsed(clock, rows)
      await clock.advance(2_000)
    }
    expect(waitedMs()).toBeLessThanOrEqual(1_700)
  })

  it('wait no longer than four times what a lookup takes, once it is known what it takes', async () => {
    let hangs = false
    const { clock, enrich } = setUp(() => (hangs ? never : known(newYear)), { catchUpShare: 0.2, tookMs: 50 })
    expect(await elapsed(clock, Promise.resolve(enrich(many(20), true)))).toBe(1000)
    hangs = true
    const ms = await elapsed(clock, Promise.resolve(enrich(many(20, 100), true)))
    expect(ms).toBeGreaterThanOrEqual(200)
    expect(ms).toBeLessThanOrEqual(250)
  })

  it('wait again when answers come again', async () => {
    let answer: (() => void) | undefined
    const { clock, enrich } = setUp(
      (_, nth) => (nth === 1 ? new Promise((resolve) => (answer = () => resolve(known(newYear)))) : known(newYear)),
      { catchUpShare: 0.2 },
    )
    expect(await elapsed(clock, Promise.resolve(enrich(many(5), true)))).toBe(1000)
    await clock.advance(600)
    answer?.()
    await clock.advance(0)
    const rows = enrich(many(5), true)
    expect(rows).toBeInstanceOf(Promise)
    await clock.advance(200)
    expect(new Set(words(await rows).flat())).toEqual(new Set(['clean']))
  })

  it('are left where they are at a stop, at once', async () => {
    const { clock, enrichWith, waits } = setUp(undefined, { tookMs: 300, catchUpShare: 0.2 })
    let goesOn = true
    const rows = Promise.resolve(
      enrichWith(
        many(50),
        waits.catchUp(() => goesOn),
      ),
    )
    await clock.advance(500)
    goesOn = false
    expect(await elapsed(clock, rows)).toBeLessThanOrEqual(50)
    expect(await rows).toEqual([])
  })

  it('do not wait while the circuit breaker is open', async () => {
    const { clock, enrich, admission } = setUp(() => unknown('unavailable'), { catchUpShare: 0.9, tookMs: 1 })
    for (let round = 0; admission.state().state === 'open'; round++) {
      void enrich(many(20, round * 20), true)
      await clock.advance(5000)
    }
    expect(enrich(many(20, 4000), true)).not.toBeInstanceOf(Promise)
  })

  it('never wait where the share is 0', () => {
    const { enrich } = setUp(undefined, { catchUpShare: 0 })
    expect(enrich(many(5), true)).not.toBeInstanceOf(Promise)
  })
})

describe('events of a topic that are to be complete', () => {
  it('wait for the end of an outage, through an open circuit breaker', async () => {
    let isDown = true
    const { clock, enrichWith, waits, admission } = setUp(
      () => (isDown ? unknown('unavailable') : known(newYear)),
      {},
      { forOutages: false },
    )
    const state = { isDone: false }
    const rows = Promise.resolve(enrichWith(many(10), waits.throughOutages(always)))
    void rows.then(() => (state.isDone = true))
    await clock.advance(200_000)
    expect(admission.state().state).not.toBe('open')
    expect(state.isDone).toBe(false)
    isDown = false
    await clock.advance(400_000)
    expect(state.isDone).toBe(true)
    expect(new Set(words(await rows).flat())).toEqual(new Set(['clean']))
  })

  it('are left where they are at a stop, whatever they wait for', async () => {
    for (const answer of [() => never, () => unknown('unavailable')]) {
      const { clock, enrichWith, waits } = setUp(answer, {}, { forOutages: false })
      let goesOn = true
      const rows = Promise.resolve(
        enrichWith(
          many(10),
          waits.throughOutages(() => goesOn),
        ),
      )
      await clock.advance(60_000)
      goesOn = false
      expect(await elapsed(clock, rows)).toBeLessThanOrEqual(200)
      expect(await rows).toEqual([])
    }
  })

  it('leave with what no waiting changes', async () => {
    const { clock, enrichWith, waits } = setUp(() => unknown('bad_input'))
    const rows = Promise.resolve(enrichWith(many(2), waits.throughOutages(always)))
    expect(await elapsed(clock, rows, 10_000)).toBeLessThan(10_000)
    expect(words(await rows)).toEqual([['bad_input'], ['bad_input']])
  })
})

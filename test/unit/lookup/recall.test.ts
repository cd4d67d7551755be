import { describe, expect, it } from 'vitest'
import type { Facts, Finding } from '../../../src/domain/finding.js'
import { keyOf } from '../../../src/domain/indicator.js'
import { createCooldown } from '../../../src/lookup/memory/cooldown.js'
import { createMemory } from '../../../src/lookup/memory/memory.js'
import { indicators } from '../../../src/lookup/question.js'
import { recall } from '../../../src/lookup/recall.js'
import { createFakeClock, type FakeClock } from '../../support/clock.js'
import {
  ask,
  classify,
  clean,
  cooldownSettings,
  createSource,
  indicator,
  known,
  malicious,
  memorySettings,
  unknown,
} from '../../support/lookup.js'
import { createStack } from '../../support/stacks.js'

const hour = 3_600_000

/** Answers with the facts the first time, and as told from then on. */
const setUp = async (facts: Facts, later: (clock: FakeClock) => Finding) => {
  const clock = createFakeClock()
  const source = createSource(clock, (_indicator, nth) => (nth === 1 ? known(clock.now(), facts) : later(clock)))
  const { lookup } = createStack(source, clock, { retry: { times: 0 } })
  void lookup(indicator(1), ask)
  await clock.advance(1000)
  return { clock, source, look: () => lookup(indicator(1), ask) }
}
const down = (): Finding => unknown('unavailable')
const up = (clock: FakeClock): Finding => known(clock.now(), clean)

describe('recall', () => {
  it('answers from memory at once while a finding is fresh, and asks nobody', async () => {
    const { clock, source, look } = await setUp(malicious, up)
    await clock.advance(20 * hour)
    expect(look()).toEqual(known(clock.now() - 20 * hour - 990, malicious))
    expect(source.calls.length).toBe(1)
  })

  it('serves bad news past its life as stale while the source is down', async () => {
    const { clock, source, look } = await setUp(malicious, down)
    await clock.advance(25 * hour)
    expect(look()).toMatchObject({ status: 'known', facts: malicious, stale: true })
    await clock.advance(1000)
    expect(source.calls.length).toBe(2)
    expect(look()).toMatchObject({ status: 'known', facts: malicious, stale: true })
  })

  it('keeps the time of the facts when it serves them stale', async () => {
    const { clock, look } = await setUp(malicious, down)
    const at = clock.now() - 990
    await clock.advance(30 * hour)
    expect(look()).toMatchObject({ at, stale: true })
  })

  it('does not serve bad news past the longest staleness', async () => {
    const { clock, look } = await setUp(malicious, down)
    await clock.advance((24 + 7 * 24) * hour)
    const found = look()
    await clock.advance(1000)
    expect(await found).toEqual(unknown('unavailable'))
  })

  it('never serves good news past its life', async () => {
    const { clock, look } = await setUp(clean, down)
    await clock.advance(12 * hour)
    const found = look()
    await clock.advance(1000)
    expect(await found).toEqual(unknown('unavailable'))
    expect(look()).toEqual(unknown('cooling_down'))
  })

  it('replaces stale bad news by what the refresh behind it found', async () => {
    const { clock, source, look } = await setUp(malicious, up)
    await clock.advance(25 * hour)
    expect(look()).toMatchObject({ stale: true })
    await clock.advance(1000)
    expect(look()).toMatchObject({ status: 'known', facts: clean })
    expect(look()).not.toHaveProperty('stale')
    expect(source.calls.length).toBe(2)
  })

  it('fetches anew shortly before the end of a life, once, when still asked for', async () => {
    const { clock, source, look } = await setUp(clean, up)
    await clock.advance(11 * hour)
    for (let nth = 0; nth < 1000; nth++) expect(look()).not.toBeInstanceOf(Promise)
    await clock.advance(1000)
    expect(source.calls.length).toBe(2)
    await clock.advance(2 * hour)
    expect(look()).toMatchObject({ status: 'known', facts: clean })
    expect(source.calls.length).toBe(2)
  })

  it('asks a gateway once in a while, and not with every ask, as long as it has nothing newer to say', async () => {
    const obtained = createFakeClock().now()
    const { clock, source, look } = await setUp(malicious, () => known(obtained, malicious))
    await clock.advance(23 * hour)
    for (let nth = 0; nth < 5; nth++) {
      void look()
      await clock.advance(1000)
    }
    expect(source.calls.length).toBe(2)
    await clock.advance(10_000)
    void look()
    await clock.advance(1000)
    expect(source.calls.length).toBe(3)
  })

  it('does not fetch anew what nobody asks for', async () => {
    const { clock, source } = await setUp(clean, up)
    await clock.advance(24 * hour)
    expect(source.calls.length).toBe(1)
  })

  it('does not hammer a source that fails with refreshes', async () => {
    const { clock, source, look } = await setUp(malicious, down)
    await clock.advance(25 * hour)
    for (let second = 0; second < 300; second++) {
      void look()
      await clock.advance(1000)
    }
    // 30 s, 60 s, 120 s and 240 s of cooling down.
    expect(source.calls.length).toBeLessThanOrEqual(1 + 4)
    expect(source.calls.length).toBeGreaterThan(1)
  })

  it('tries a refresh once in a while and not with every ask, also when nobody can be asked', () => {
    const clock = createFakeClock()
    const memory = createMemory(memorySettings, keyOf, classify)
    let asked = 0
    const lookup = recall(
      indicators,
      memory,
      createCooldown(cooldownSettings, clock.now),
      clock.now,
    )(() => {
      asked++
      return unknown('budget_spent')
    })
    memory.set(indicator(1), known(clock.now() - 25 * hour, malicious))
    for (let nth = 0; nth < 1000; nth++) expect(lookup(indicator(1), ask)).toMatchObject({ stale: true })
    expect(asked).toBe(1)
  })

  it('remembers for a short time only that nothing was found', async () => {
    const clock = createFakeClock()
    const source = createSource(clock, () => unknown('not_found', { at: clock.now() }))
    const { lookup } = createStack(source, clock)
    void lookup(indicator(1), ask)
    await clock.advance(1000)
    expect(lookup(indicator(1), ask)).toMatchObject(unknown('not_found'))
    await clock.advance(hour)
    expect(lookup(indicator(1), ask)).toBeInstanceOf(Promise)
  })
})

import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/domain/finding.js'
import type { Layer } from '../../../src/domain/lookup.js'
import { stack } from '../../../src/lookup/stack.js'
import { createFakeClock } from '../../support/clock.js'
import { ask, createSource, indicator, known, malicious, unknown } from '../../support/lookup.js'
import { createStack } from '../../support/stacks.js'

const allOf = async (found: readonly (Finding | Promise<Finding>)[]): Promise<Finding[]> => {
  const findings: Finding[] = []
  for (const each of found) findings.push(await each)
  return findings
}

const microtasks = async (count: number): Promise<void> => {
  for (let nth = 0; nth < count; nth++) await Promise.resolve()
}

describe('stack', () => {
  it('asks the first layer first and the source last', () => {
    const order: string[] = []
    const note =
      (name: string): Layer =>
      (inner) =>
      (asked, how) => {
        order.push(name)
        return inner(asked, how)
      }
    const lookup = stack(
      note('outer'),
      note('middle'),
      note('inner'),
    )(() => {
      order.push('source')
      return unknown('not_found')
    })
    expect(lookup(indicator(1), ask)).toEqual({ status: 'unknown', reason: 'not_found' })
    expect(order).toEqual(['outer', 'middle', 'inner', 'source'])
  })
})

describe('an indicator is paid for once', () => {
  const askAll = (lookup: ReturnType<typeof createStack>['lookup']): (Finding | Promise<Finding>)[] =>
    Array.from({ length: 10_000 }, (_, nth) => lookup(indicator(nth % 100), ask))

  it.each([
    ['with a memory for all', 1000],
    ['with a memory of 5 entries', 5],
  ])('when 10,000 asks over 100 indicators come together, %s', async (_title, maxEntries) => {
    const clock = createFakeClock()
    const source = createSource(clock)
    const { lookup } = createStack(source, clock, { memory: { maxEntries }, admission: { inFlight: 7 } })
    const found = askAll(lookup)
    await clock.advance(60_000)
    const findings = await allOf(found)
    expect(findings.every(({ status }) => status === 'known')).toBe(true)
    expect(source.calls.length).toBe(100)
    expect(new Set(source.calls).size).toBe(100)
    expect(source.most()).toBe(7)
  })

  it('when every caller has left before the answer comes', async () => {
    const clock = createFakeClock()
    const source = createSource(clock, undefined, 2000)
    const { lookup } = createStack(source, clock)
    const timedOut = await Promise.race([lookup(indicator(1), ask), Promise.resolve('left')])
    expect(timedOut).toBe('left')
    await clock.advance(5000)
    expect(lookup(indicator(1), ask)).toMatchObject({ status: 'known' })
    expect(source.calls.length).toBe(1)
  })

  it('when asked on every microtask around the moment its lookup settles', async () => {
    const clock = createFakeClock()
    let answer: (finding: Finding) => void = () => undefined
    const calls: number[] = []
    const { lookup } = createStack(
      (_indicator, _ask, call) =>
        call(() => {
          calls.push(clock.now())
          return new Promise<Finding>((resolve) => (answer = resolve))
        }),
      clock,
      { keep: () => microtasks(20) },
    )
    const found = [lookup(indicator(1), ask)]
    await clock.advance(0)
    answer(known(clock.now(), malicious))
    for (let microtask = 0; microtask < 100; microtask++) {
      found.push(lookup(indicator(1), ask))
      await Promise.resolve()
    }
    expect(calls.length).toBe(1)
    expect(found.at(0)).toBeInstanceOf(Promise)
    expect(found.at(-1)).not.toBeInstanceOf(Promise)
    expect(new Set(await allOf(found)).size).toBe(1)
  })

  it('and a failure opens no moment for a second call either', async () => {
    const clock = createFakeClock()
    let answer: (finding: Finding) => void = () => undefined
    let calls = 0
    const { lookup } = createStack(
      (_indicator, _ask, call) =>
        call(() => {
          calls++
          return new Promise<Finding>((resolve) => (answer = resolve))
        }),
      clock,
    )
    const found = [lookup(indicator(1), ask)]
    await clock.advance(0)
    answer(unknown('bad_answer'))
    for (let microtask = 0; microtask < 100; microtask++) {
      found.push(lookup(indicator(1), ask))
      await Promise.resolve()
    }
    expect(calls).toBe(1)
    expect(await found.at(0)).toEqual(unknown('bad_answer'))
    expect(found.at(-1)).toEqual(unknown('cooling_down'))
  })
})

// What every lookup promises, layer by layer and as a whole: run it against anything that is built around a source.
import { describe, expect, it } from 'vitest'
import type { Finding } from '../../src/domain/finding.js'
import type { Lookup, Source } from '../../src/domain/lookup.js'
import { reasons } from '../../src/domain/reason.js'
import { createFakeClock, type FakeClock } from '../support/clock.js'
import { ask, createSource, indicator, known, malicious, unknown } from '../support/lookup.js'

export type CreateLookup = (source: Source, clock: FakeClock) => Lookup

/** Asks and lets time pass until there is an answer. */
const answer = async (lookup: Lookup, clock: FakeClock, nth = 1): Promise<Finding> => {
  let finding: Finding | undefined
  const found = lookup(indicator(nth), ask)
  if (!(found instanceof Promise)) return found
  void found.then((result) => (finding = result))
  for (let minutes = 0; minutes < 30 && !finding; minutes++) await clock.advance(60_000)
  return finding ?? expect.fail('no answer within half an hour')
}

export const describeLookup = (name: string, create: CreateLookup): void => {
  describe(`${name} keeps the promises of a lookup`, () => {
    const cases: readonly [title: string, source: (clock: FakeClock) => Source][] = [
      [
        'throws',
        () => () => {
          throw new Error('a bug')
        },
      ],
      ['rejects', () => () => Promise.reject(new Error('a bug'))],
      [
        'throws in a call',
        () => (_indicator, _ask, call) =>
          call(() => {
            throw new Error('a bug')
          }),
      ],
      ['rejects in a call', () => (_indicator, _ask, call) => call(() => Promise.reject(new Error('a bug')))],
      ['answers undefined', () => () => undefined as unknown as Finding],
      ['answers null later', () => () => Promise.resolve(null as unknown as Finding)],
      ['answers something else', () => () => Promise.resolve({ status: 200 } as unknown as Finding)],
    ]
    it.each(cases)('answers unknown with a reason when its source %s', async (_title, source) => {
      const clock = createFakeClock()
      const finding = await answer(create(source(clock), clock), clock)
      expect(finding).toMatchObject({ status: 'unknown', reason: 'bad_answer' })
    })

    it('hands through what the source found', async () => {
      const clock = createFakeClock()
      const lookup = create(
        createSource(clock, () => known(clock.now(), malicious)),
        clock,
      )
      expect(await answer(lookup, clock)).toEqual({
        status: 'known',
        facts: malicious,
        source: 'service',
        at: expect.any(Number) as number,
      })
    })

    it.each(reasons)('turns a source that says %s into nothing but unknown', async (reason) => {
      const clock = createFakeClock()
      const finding = await answer(
        create(
          createSource(clock, () => unknown(reason)),
          clock,
        ),
        clock,
      )
      expect(finding.status).toBe('unknown')
    })

    it('asks about the indicator it was asked about', async () => {
      const clock = createFakeClock()
      const source = createSource(clock)
      const lookup = create(source, clock)
      await answer(lookup, clock, 1)
      await answer(lookup, clock, 2)
      expect(source.calls).toEqual(['ip:2001:db8::1', 'ip:2001:db8::2'])
    })

    it('answers every one of many asks at the same time', async () => {
      const clock = createFakeClock()
      const lookup = create(createSource(clock), clock)
      let answered = 0
      for (let nth = 0; nth < 200; nth++) {
        const found = lookup(indicator(nth % 50), ask)
        if (found instanceof Promise) void found.then(() => answered++)
        else answered++
      }
      for (let minutes = 0; minutes < 30 && answered < 200; minutes++) await clock.advance(60_000)
      expect(answered).toBe(200)
    })
  })
}

import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/domain/finding.js'
import type { Source } from '../../../src/domain/lookup.js'
import { reasons } from '../../../src/domain/reason.js'
import { retry } from '../../../src/lookup/retry.js'
import { createFakeClock } from '../../support/clock.js'
import { ask, createSource, indicator, known, retrySettings, unknown } from '../../support/lookup.js'
import { direct } from '../../support/stacks.js'

const run = async (answer: (nth: number) => Finding) => {
  const clock = createFakeClock()
  const start = clock.now()
  const times: number[] = []
  const source = createSource(
    clock,
    (_indicator, nth) => {
      times.push(clock.now() - start)
      return answer(nth)
    },
    0,
  )
  const found = direct(retry(retrySettings, clock, () => 1)(source))(indicator(1), ask)
  await clock.advance(60_000)
  return { finding: await found, times }
}

describe('retry', () => {
  it('makes a call that failed for a passing reason again, after a longer wait each time', async () => {
    const { finding, times } = await run(() => unknown('unavailable'))
    expect(finding).toEqual(unknown('unavailable'))
    expect(times).toEqual([0, 200, 600])
  })

  it('stops at the first answer', async () => {
    const { finding, times } = await run((nth) => (nth === 2 ? known(1) : unknown('timeout')))
    expect(finding).toEqual(known(1))
    expect(times).toEqual([0, 200])
  })

  it('waits as long as the failure asks for', async () => {
    const { times } = await run(() => unknown('throttled', { retryAfterMs: 3000 }))
    expect(times).toEqual([0, 3000, 6000])
  })

  it('does not hold on for a failure that asks for too long', async () => {
    const { times } = await run(() => unknown('throttled', { retryAfterMs: 5001 }))
    expect(times).toEqual([0])
  })

  it('repeats nothing that asking again does not change', async () => {
    const repeated: string[] = []
    for (const reason of reasons) {
      const { times } = await run(() => unknown(reason))
      if (times.length > 1) repeated.push(reason)
    }
    expect(repeated).toEqual(['throttled', 'busy', 'unavailable', 'timeout'])
  })

  it('repeats the one call that failed and none that was already paid for', async () => {
    const clock = createFakeClock()
    const sent: string[] = []
    const source: Source = async (_indicator, _ask, call) => {
      await call(() => Promise.resolve({ status: `first ${sent.push('first')}` }))
      const second = await call<Finding>(() =>
        Promise.resolve(sent.push('second') < 4 ? unknown('unavailable') : known(7)),
      )
      return second
    }
    const found = direct(retry(retrySettings, clock, () => 1)(source))(indicator(1), ask)
    await clock.advance(10_000)
    expect(await found).toEqual(known(7))
    expect(sent).toEqual(['first', 'second', 'second', 'second'])
  })
})

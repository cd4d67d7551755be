import { describe, expect, it } from 'vitest'
import { afterRunning } from '../../../src/base/after-running.js'
import { createFakeClock } from '../../support/clock.js'

describe('a limit on others', () => {
  it('is over after its time, and not if it is cancelled', async () => {
    const clock = createFakeClock()
    const began = clock.now()
    const over: number[] = []
    afterRunning(clock, 2_500, () => over.push(clock.now() - began))
    const cancel = afterRunning(clock, 2_500, () => expect.fail('it is cancelled'))
    await clock.advance(2_000)
    cancel()
    await clock.advance(2_000)
    expect(over).toEqual([2_500])
    expect(clock.timers()).toBe(0)
  })

  it('does not count the time in which the process did not run', async () => {
    const clock = createFakeClock()
    let frozenMs = 0
    const began = clock.now()
    const over: number[] = []
    afterRunning({ after: clock.after, now: () => clock.now() + frozenMs }, 3_000, () => over.push(clock.now() - began))
    await clock.advance(1_500)
    frozenMs = 41_000
    await clock.advance(1_400)
    expect(over).toEqual([])
    await clock.advance(2_000)
    expect(over).toEqual([4_000])
  })
})

import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createCallers, type CallerResult } from '../../../src/server/callers.js'
import { openCredits } from '../../../src/server/credits.js'
import { soleKey, type Key } from '../../../src/server/keys.js'
import { ignoreTelemetry } from '../../../src/telemetry/event.js'
import { createFakeClock } from '../../support/clock.js'
import { newFolder } from '../../support/lookup-service.js'

/** Counts how often the clock is read, which every attempt to take a token does. */
const open = (plan: Key['plan']) => {
  const clock = createFakeClock()
  const read = { times: 0 }
  const counted = { ...clock, now: () => (read.times++, clock.now()) }
  const credits = openCredits(join(newFolder(), 'credits.txt'), clock.now, ignoreTelemetry)
  onTestFinished(credits.close)
  return { clock, read, callers: createCallers([soleKey('a-key', plan)], credits, counted) }
}

it('lets one call in at a time where the plan says so, and the next when it has left', () => {
  const { callers } = open({ name: 'team', inFlight: 1 })
  const first = callers.enter('a-key')
  expect(callers.enter('a-key')).toMatchObject({
    failure: { http: 200, status: 400, message: 'unable to call api at the same time' },
  })
  if ('leave' in first) first.leave()
  expect(callers.enter('a-key')).toHaveProperty('caller')
})

it('lets those who wait in one after another, in the order in which they came', async () => {
  const { callers } = open({ name: 'team', inFlight: 2 })
  const entered: number[] = []
  const enter = async (nth: number): Promise<void> => {
    const entrance = await callers.enterWhenFree('a-key')
    entered.push(nth)
    await Promise.resolve()
    if ('leave' in entrance) entrance.leave()
  }
  await Promise.all(Array.from({ length: 100 }, (_, nth) => enter(nth)))
  expect(entered).toEqual(Array.from({ length: 100 }, (_, nth) => nth))
})

it('spends work on the calls that a plan per second lets in, and none on those that wait on', async () => {
  const { clock, callers, read } = open({ name: 'team', inFlight: 100_000, perSecond: 10 })
  let letIn = 0
  const count = (entrance: CallerResult): void => void (letIn += 'leave' in entrance ? 1 : 0)
  for (let nth = 0; nth < 10_000; nth++) void callers.enterWhenFree('a-key').then(count)
  await clock.advance(100_000)
  expect(letIn).toBe(1_010)
  expect(read.times).toBeLessThan(2_000)
  expect(clock.timers()).toBe(1)
})

it('refuses a wrong key at once', async () => {
  const { callers } = open({ name: 'team', inFlight: 1 })
  expect(await callers.enterWhenFree('another-key')).toMatchObject({ failure: { reason: 'bad_key' } })
})

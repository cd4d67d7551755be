// Late alerts.
import { describe, expect, it } from 'vitest'
import { createLate, type LateLimits, type Waiter } from '../../../src/alerts/late.js'
import type { Finding } from '../../../src/domain/finding.js'

const finding: Finding = { status: 'unknown', reason: 'not_found' }
const waiter = (origin: string, bytes = 10): Waiter => ({ rows: [], origin, fired: new Set(), bytes })

const flight = () => {
  let land: (finding: Finding) => void = () => undefined
  let crash: (error: Error) => void = () => undefined
  const promise = new Promise<Finding>((resolve, reject) => {
    land = resolve
    crash = reject
  })
  return { promise, land, crash }
}

const open = (over: Partial<LateLimits> = {}) => {
  const arrivals: { finding: Finding; origins: string[]; more: number }[] = []
  const late = createLate<Waiter>(
    (found, _, waiters, more) =>
      void arrivals.push({ finding: found, origins: waiters.map(({ origin }) => origin), more }),
    { maxIndicators: 2, maxOrigins: 2, maxBytes: 100, ...over },
  )
  return { late, arrivals }
}

describe('events that wait for a late answer', () => {
  it('are all notified once when it arrives', async () => {
    const { late, arrivals } = open()
    const { promise, land } = flight()
    expect(late.wait(new Set([promise]), () => waiter('a'))).toBe(true)
    expect(late.wait(new Set([promise]), () => waiter('b'))).toBe(true)
    expect(late.size()).toBe(1)
    land(finding)
    await late.idle()
    expect(arrivals).toEqual([{ finding, origins: ['a', 'b'], more: 0 }])
    expect(late.size()).toBe(0)
  })

  it('are notified of each of several answers, and created only once', async () => {
    const { late, arrivals } = open()
    const [one, two] = [flight(), flight()]
    let made = 0
    late.wait(new Set([one.promise, two.promise]), () => (made++, waiter('a')))
    two.land(finding)
    one.land(finding)
    await late.idle()
    expect(made).toBe(1)
    expect(arrivals.map(({ origins }) => origins)).toEqual([['a'], ['a']])
  })

  it('are counted if more wait for one answer than are tracked', async () => {
    const { late, arrivals } = open()
    const { promise, land } = flight()
    for (const origin of ['a', 'b', 'c', 'd']) late.wait(new Set([promise]), () => waiter(origin))
    land(finding)
    await late.idle()
    expect(arrivals).toEqual([{ finding, origins: ['a', 'b'], more: 2 }])
  })

  it('are not tracked beyond the limit of answers, which is reported', () => {
    const { late } = open()
    const flights = [flight(), flight(), flight()]
    expect(flights.map(({ promise }) => late.wait(new Set([promise]), () => waiter('a')))).toEqual([true, true, false])
    expect(late.size()).toBe(2)
  })

  it('are not tracked beyond the memory limit, which is reported, until an answer frees some', async () => {
    const { late } = open()
    const [one, two] = [flight(), flight()]
    expect(late.wait(new Set([one.promise]), () => waiter('a', 100))).toBe(true)
    expect(late.wait(new Set([two.promise]), () => waiter('b'))).toBe(false)
    one.land(finding)
    await one.promise
    await Promise.resolve()
    expect(late.wait(new Set([two.promise]), () => waiter('b'))).toBe(true)
  })

  it('get a bad answer from a lookup that threw', async () => {
    const { late, arrivals } = open()
    const { promise, crash } = flight()
    late.wait(new Set([promise]), () => waiter('a'))
    crash(new Error('broken'))
    await late.idle()
    expect(arrivals).toEqual([{ finding: { status: 'unknown', reason: 'bad_answer' }, origins: ['a'], more: 0 }])
  })

  it('are not notified after close', async () => {
    const { late, arrivals } = open()
    const { promise, land } = flight()
    late.wait(new Set([promise]), () => waiter('a'))
    late.close()
    land(finding)
    await promise
    await late.idle()
    expect(arrivals).toEqual([])
  })
})

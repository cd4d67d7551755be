// The number of calls in flight that is found, against servers that differ in what they take; time is virtual.
import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../../src/domain/finding.js'
import { createAdmission } from '../../../../src/lookup/admission/admission.js'
import type { InFlight } from '../../../../src/lookup/admission/in-flight-limit.js'
import { createFakeClock, type FakeClock } from '../../../support/clock.js'
import { admissionSettings, known, outbound, unknown } from '../../../support/lookup.js'

/** How long a call takes that is one of so many, or that it is refused. */
type Server = (inFlight: number, now: number) => number | 'throttled' | 'busy'

const allows =
  (most: number, ms: number): Server =>
  (inFlight) =>
    inFlight > most ? 'busy' : ms

/** Beyond its workers calls wait for one another; `exponent` above 1: they are in one another's way. */
const queues =
  (workers: number, ms: number, exponent = 1): Server =>
  (inFlight) =>
    ms * Math.max(1, inFlight / workers) ** exponent

const perSecond = (most: number, ms: number): Server => {
  const times: number[] = []
  return (_inFlight, now) => {
    while (times[0] !== undefined && times[0] <= now - 1000) times.shift()
    if (times.length >= most) return 'throttled'
    times.push(now)
    return ms
  }
}

const priority = { role: outbound.role, action: outbound.action, urgency: 'live' } as const
const runMs = 120_000

/** Lookups always wait; what a server answers in two minutes. */
const drive = async (server: Server, inFlight: InFlight, clock: FakeClock = createFakeClock()) => {
  const admission = createAdmission({ ...admissionSettings, inFlight }, clock)
  let active = 0
  let answered = 0
  let refused = 0
  let most = 0
  let sent = 0
  let nth = 0
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))
  const send = async (): Promise<Finding> => {
    active++
    sent++
    most = Math.max(most, active)
    const taken = server(active, clock.now())
    // Real latencies differ by a third in either direction.
    const spread = 0.67 + ((sent * 7919) % 67) / 100
    await sleep(typeof taken === 'number' ? taken * spread : 5)
    active--
    if (typeof taken === 'number') {
      answered++
      return known(0)
    }
    refused++
    return unknown(taken)
  }
  const ask = (): void => {
    nth++
    void Promise.resolve(admission.run(`q${nth}`, priority, (call) => call(send))).then(ask)
  }
  for (let asker = 0; asker < 100; asker++) ask()
  await clock.advance(runMs)
  return { answered, refused, most, allowed: admission.state().allowed }
}

const servers: readonly (readonly [string, () => Server])[] = [
  ['takes one call', () => allows(1, 100)],
  ['takes four calls', () => allows(4, 100)],
  ['takes 64 calls', () => allows(64, 100)],
  ['takes 64 slow calls', () => allows(64, 800)],
  ['has eight workers', () => queues(8, 80)],
  ['is slowed down by more calls than it has workers', () => queues(8, 80, 2)],
  ['gets slower with every call', () => (inFlight) => 50 + 5 * inFlight],
  ['takes 45 calls a second', () => perSecond(45, 60)],
]

describe('concurrency that finds itself', () => {
  it.each(servers)(
    'gets nine tenths of what the best number gets, and few refusals, where the server %s',
    async (name, makeServer) => {
      const fixed = []
      for (const inFlight of [1, 2, 3, 4, 8, 16, 32]) fixed.push((await drive(makeServer(), inFlight)).answered)
      const best = Math.max(...fixed)
      const auto = await drive(makeServer(), 'auto')
      process.stdout.write(`${name}: ${fixed.join(' ')}, auto ${auto.answered}, refused ${auto.refused}\n`)
      expect(auto.answered / best).toBeGreaterThanOrEqual(0.9)
      expect(auto.refused / (auto.answered + auto.refused)).toBeLessThan(0.02)
      expect(auto.most).toBeLessThanOrEqual(32)
    },
  )

  it('stays at one call while nothing waits', async () => {
    const clock = createFakeClock()
    const admission = createAdmission({ ...admissionSettings, inFlight: 'auto' }, clock)
    for (let nth = 0; nth < 50; nth++) {
      void admission.run(`q${nth}`, priority, (call) => call(() => Promise.resolve(known(0))))
      await clock.advance(100)
    }
    expect(admission.state().allowed).toBe(1)
  })

  it('halves after a call that timed out', async () => {
    let isHanging = false
    const clock = createFakeClock()
    const admission = createAdmission({ ...admissionSettings, inFlight: 'auto', callTimeoutMs: 1000 }, clock)
    const send = (): Promise<Finding> =>
      isHanging ? new Promise(() => undefined) : new Promise((resolve) => void clock.after(50, () => resolve(known(0))))
    for (let nth = 0; nth < 500; nth++) void admission.run(`q${nth}`, priority, (call) => call(send))
    await clock.advance(1000)
    const before = admission.state().allowed
    isHanging = true
    await clock.advance(1100)
    expect(admission.state().allowed).toBe(before / 2)
  })
})

// How old a gateway's answer is travels with it: the life of a finding counts from when it was obtained, over any number of processes.
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock, type Clock } from '../../../src/base/clock.js'
import type { Finding } from '../../../src/domain/finding.js'
import type { Indicator } from '../../../src/domain/indicator.js'
import { startAsker, startGateway, type GatewayPlace } from '../../support/askers.js'
import { ask, newFolder, sampleKey } from '../../support/lookup-service.js'
import { outbound } from '../../support/lookup.js'
import { startScriptedService, type Asked } from '../../support/scripted-service.js'

const hourMs = 3_600_000
const clean: Indicator = { type: 'ip', value: '198.51.100.1' }
const malicious: Indicator = { type: 'ip', value: '198.51.100.2' }
const absent: Indicator = { type: 'ip', value: '198.51.100.3' }
const domain: Indicator = { type: 'domain', value: 'example.com' }

const answers = ({ path, query: { ip } }: Asked): unknown => {
  if (path.includes('/domain/report'))
    return {
      status: 200,
      data: { count: 1, reports: [{ scan_id: 7, url: 'https://example.com/', score: 'Critical' }] },
    }
  if (path.includes('suspicious_info')) return { status: 200, ip, score: { inbound: 'Dangerous', outbound: 'Low' } }
  if (ip === absent.value) return { status: 404, message: 'not found' }
  return { status: 200, ip, is_malicious: ip === malicious.value }
}

type ShiftedClock = Clock & { shiftMs: number }
const shifted = (shiftMs: number): ShiftedClock => {
  const clock: ShiftedClock = { ...systemClock, shiftMs, now: () => Date.now() + clock.shiftMs }
  return clock
}

/** Clocks of two machines differ. */
const asked = async (way: Way) => {
  const upstream = await startScriptedService(answers)
  onTestFinished(upstream.close)
  const gatewayClock = shifted(0)
  const askerClock = shifted(-50 * hourMs)
  const place = (): GatewayPlace => ({ state: newFolder(), clock: gatewayClock })
  const first = await startGateway(upstream.baseUrl, place())
  const gateway =
    way === 'through two gateways' ? await startGateway(first.url, { ...place(), upstreamKey: sampleKey }) : first
  const over = way === 'in bulk' ? {} : { admit: { perRun: 1_000 } }
  const asker = await startAsker(gateway.url, over, 30_000, askerClock)
  // From the first answer on an asker knows that bulk is offered.
  if (way === 'in bulk') {
    let nth = 100
    while (asker.admission?.state().spent.run !== 0)
      await asker.lookup({ type: 'ip', value: `198.51.100.${nth++}` }, outbound)
  }
  return { upstream, gateway: first, asker, gatewayClock, askerClock }
}

const ways = ['in bulk', 'by single calls', 'through two gateways'] as const
type Way = (typeof ways)[number]

describe.each(ways)('an answer that a gateway remembers, asked for %s', (way) => {
  it.each([
    ['a clean address', clean, 4],
    ['a malicious address', malicious, 4],
    ['a domain', domain, 4],
    ['what is not found', absent, 0.25],
  ])('is as old as it is at the gateway: %s', async (_, indicator, hours) => {
    const { gateway, asker, gatewayClock, askerClock } = await asked(way)
    const other = await startAsker(gateway.url, { admit: { perRun: 1_000 } })
    await other.lookup(indicator, outbound)
    gatewayClock.shiftMs += hours * hourMs
    const finding: Finding = await asker.lookup(indicator, outbound)
    const ageMs = askerClock.now() - (finding.at ?? NaN)
    expect(ageMs).toBeGreaterThanOrEqual(hours * hourMs)
    expect(ageMs).toBeLessThan((hours + 0.2) * hourMs)
  })

  it('ends with the life that it began there, and is asked for anew', async () => {
    const { upstream, gateway, asker, gatewayClock, askerClock } = await asked(way)
    const calls = (): number => upstream.asked.filter(({ query }) => query.ip === clean.value).length
    const other = await startAsker(gateway.url, { admit: { perRun: 1_000 } })
    await other.lookup(clean, outbound)
    gatewayClock.shiftMs += 9.5 * hourMs
    await asker.lookup(clean, outbound)
    expect(calls()).toBe(1)
    for (const clock of [gatewayClock, askerClock]) clock.shiftMs += 2.6 * hourMs
    const again = await asker.lookup(clean, outbound)
    expect(calls()).toBe(2)
    expect(askerClock.now() - (again.at ?? NaN)).toBeLessThan(hourMs)
  })
})

describe('an operation over HTTP', () => {
  it('says how many milliseconds old its answer is', async () => {
    const { gateway, gatewayClock } = await asked('by single calls')
    const ageMs = async (): Promise<number> =>
      Number((await ask(gateway.url, `/v1/ip/malicious-info?ip=${clean.value}`)).headers.get('x-threatweave-age'))
    expect(await ageMs()).toBeLessThan(hourMs)
    gatewayClock.shiftMs += 2 * hourMs
    expect(await ageMs()).toBeGreaterThanOrEqual(2 * hourMs)
    expect(await ageMs()).toBeLessThan(3 * hourMs)
  })
})

// Promise: of several gateways one calls; another takes over when it dies, never more calls are in flight than the key allows, and nothing shared is paid for again.
// The program with a stop and a kill; when it stands still, is cut off or dies at any other moment: test/simulation/gateways-execution.ts.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import {
  callerKey,
  openAsker,
  openFleet,
  sessionMs,
  theCaller,
  type Fleet,
  type GatewayProcess,
} from '../../support/gateways.js'
import { readTopic } from '../../support/kafka.js'
import { startLimitedProvider, type LimitedProvider } from '../../support/limited-provider.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close()
})

const allowed = 4

type Setting = {
  readonly provider: LimitedProvider
  readonly fleet: Fleet
  readonly gateways: GatewayProcess[]
  /** Asks about this many further addresses; resolves when all are answered. */
  readonly askNew: (count: number) => Promise<void>
  readonly distinct: () => number
}

const setUp = async (env: Readonly<Record<string, string>> = {}): Promise<Setting> => {
  const provider = await startLimitedProvider(allowed, 20)
  closers.push(provider.close)
  const fleet = await openFleet(4, provider.url, {
    THREATWEAVE_INTEL_SERVICE_CONCURRENCY: String(allowed),
    ...env,
  })
  closers.push(fleet.close)
  const gateways = [0, 1, 2].map(fleet.start)
  await Promise.all(gateways.map(({ opsUrl }) => opsUrl))
  await theCaller(gateways)
  // One begins with each of them.
  const askers = [0, 1, 2].map((first) => openAsker(fleet.urls, first))
  for (const asker of askers) closers.push(asker.close)
  let next = 0
  return {
    provider,
    fleet,
    gateways,
    askNew: async (count) => {
      const addresses = Array.from({ length: count }, () => addressOf(next++))
      // Everyone asks everything.
      await Promise.all(askers.flatMap((asker) => addresses.map((ip) => asker.ask(ip))))
    },
    distinct: () => next,
  }
}

const addressOf = (nth: number): string => `2001:db8:35::${(nth + 1).toString(16)}`

/** Addresses that were asked about more than once, although what was paid for was on the topic when the one that paid died. */
const paidAgain = async ({ provider, fleet }: Setting, ends: readonly number[]): Promise<readonly string[]> => {
  const records = await readTopic(fleet.topics.verdicts, () => true, { calmMs: 2_000 })
  const appended = new Map<string, number>()
  for (const { key, timestamp } of records) {
    const name = String(key)
    appended.set(name, Math.min(appended.get(name) ?? Infinity, Number(timestamp)))
  }
  const times = new Map<string, { readonly at: number }[]>()
  for (const { ip, at } of provider.calls) times.set(ip, [...(times.get(ip) ?? []), { at }])
  return [...times]
    .filter(([ip, calls]) =>
      calls.some(({ at }, nth) => {
        const before = calls[nth - 1]?.at
        if (before === undefined) return false
        const end = ends.find((moment) => moment >= before - 1_000 && moment <= at)
        return end === undefined || (appended.get(`service|ip:${ip}`) ?? Infinity) < end
      }),
    )
    .map(([ip]) => ip)
}

const expectKept = ({ provider }: Setting): void => {
  expect(provider.mostInFlight).toBeLessThanOrEqual(allowed)
  expect(provider.refused).toBe(0)
}

/** More than is asked about before the last step. */
const perDay = 800
/** What is reserved of it at a time. */
const block = 8

it('each of three answers, and the next one calls when the one that does is replaced or killed; budget and answers survive', async () => {
  const setting = await setUp({ THREATWEAVE_ADMIT_PER_DAY: String(perDay) })
  const { provider, gateways, fleet, askNew, distinct } = setting

  // Over HTTP as well, whoever calls.
  const ask = async ({ url }: GatewayProcess, ip: string, key = callerKey): Promise<unknown> =>
    (await fetch(`${url}/v1/ip/malicious-info?ip=${ip}`, { headers: { 'x-api-key': key } })).json()
  for (const gateway of gateways)
    expect(await ask(gateway, '2001:db8:36::1')).toMatchObject({ status: 200, is_malicious: false })
  expect(provider.calls).toHaveLength(1)
  for (const gateway of gateways) expect(await ask(gateway, '2001:db8:36::2', 'wrong')).toMatchObject({ status: 401 })
  const standby = gateways.find((gateway) => !gateway.isCalling()) as GatewayProcess
  const metrics = await (await fetch(`${await standby.opsUrl}/metrics`)).text()
  expect(metrics).toContain('threatweave_gateway_calls 0\n')
  expect(metrics).toMatch(/^threatweave_gateway_passed_on_total [1-9]/m)

  // Replaced as in a rolling update, with questions open: the new one is ready before the old one is told to end.
  const fresh = fleet.start(3)
  await fresh.opsUrl
  const old = await theCaller(gateways)
  const askingFirst = askNew(200)
  while (provider.calls.length < 50) await sleep(5)
  old.kill('SIGTERM')
  expect(await old.exit).toBe(0)
  gateways.splice(gateways.indexOf(old), 1, fresh)
  const second = await theCaller(gateways)
  await askingFirst
  // It did not have to wait for calls of the one before, which had said that there were none.
  const began = second.events.find(({ event }) => event === 'calling_began')
  expect(began?.waitedMs).toBeLessThan(sessionMs)
  expect(provider.calls).toHaveLength(1 + distinct())

  // Killed, with questions open.
  const asking = askNew(200)
  const before = provider.calls.length
  while (provider.calls.length < before + 50) await sleep(5)
  second.kill('SIGKILL')
  const killed = Date.now()
  await asking
  expect((await theCaller(gateways)).pid).not.toBe(second.pid)
  expectKept(setting)
  expect(provider.asked.size).toBe(1 + distinct())
  expect(await paidAgain(setting, [killed])).toEqual([])

  // At most a block of the budget is lost with each that ended.
  await askNew(perDay)
  expectKept(setting)
  expect(provider.calls.length).toBeLessThanOrEqual(perDay)
  expect(provider.calls.length).toBeGreaterThanOrEqual(perDay - 2 * block)
})

// Promise: of several gateways one calls; another takes over when it dies, never more calls are in flight than the key allows, and nothing shared is paid for again.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import {
  callerKey,
  openAsker,
  openFleet,
  sessionMs,
  theCaller,
  type Asker,
  type Fleet,
  type GatewayProcess,
} from '../support/gateways.js'
import { readTopic, soak } from '../support/kafka.js'
import { startLimitedProvider, type LimitedProvider } from '../support/limited-provider.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close()
})

const allowed = 4

type Setting = {
  readonly provider: LimitedProvider
  readonly fleet: Fleet
  readonly gateways: GatewayProcess[]
  readonly askers: readonly Asker[]
  /** Asks about this many further addresses; resolves when all are answered. */
  readonly askNew: (count: number) => Promise<void>
  readonly distinct: () => number
}

const setUp = async (env: Readonly<Record<string, string>> = {}): Promise<Setting> => {
  const provider = await startLimitedProvider(allowed, 20)
  closers.push(provider.close)
  const fleet = await openFleet(6, provider.url, {
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
    askers,
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

it('the next one takes over when the one that calls is killed, stopped or cut off, and when all start again', async () => {
  const setting = await setUp()
  const { provider, gateways, fleet, askNew, askers, distinct } = setting
  const ends: number[] = []
  await askNew(200)
  expect(provider.calls).toHaveLength(distinct())

  // Killed, with questions open.
  const first = await theCaller(gateways)
  const asking = askNew(600)
  while (provider.calls.length < 350) await sleep(5)
  first.kill('SIGKILL')
  ends.push(Date.now())
  await first.exit
  gateways.splice(gateways.indexOf(first), 1, fleet.start(gateways.indexOf(first)))
  await asking

  // Stopped for longer than its session, with questions open, and then it goes on.
  const second = await theCaller(gateways)
  expect(second.pid).not.toBe(first.pid)
  const askingOn = askNew(600)
  const before = provider.calls.length
  while (provider.calls.length < before + 100) await sleep(5)
  second.kill('SIGSTOP')
  ends.push(Date.now())
  const third = await theCaller(gateways.filter((gateway) => gateway !== second))
  second.kill('SIGCONT')
  await askingOn
  await expect.poll(() => second.isCalling()).toBe(false)
  expect(third.isCalling()).toBe(true)

  // Cut off from the brokers, but not from the provider.
  const askingStill = askNew(600)
  const beforeCut = provider.calls.length
  while (provider.calls.length < beforeCut + 100) await sleep(5)
  third.kill('SIGUSR2')
  // What it could not append is paid for again: it goes on for a session.
  ends.push(Date.now())
  const fourth = await theCaller(gateways.filter((gateway) => gateway !== third))
  ends.push(Date.now())
  await askingStill
  third.kill('SIGUSR2')
  await expect.poll(() => third.isCalling()).toBe(false)
  expect(fourth.isCalling()).toBe(true)

  // All of them at once, on empty disks.
  await sleep(2_000)
  const paid = provider.calls.length
  for (const gateway of gateways) gateway.kill('SIGKILL')
  ends.push(Date.now())
  await Promise.all(gateways.map(({ exit }) => exit))
  gateways.splice(0, 3, ...[0, 1, 2].map(fleet.start))
  await theCaller(gateways)
  await Promise.all(askers.map((asker) => asker.ask(addressOf(0))))
  expect(provider.calls).toHaveLength(paid)
  await askNew(50)

  expectKept(setting)
  expect(provider.asked.size).toBe(distinct())
  expect(await paidAgain(setting, ends)).toEqual([])
  if (soak)
    process.stderr.write(`calls ${provider.calls.length} for ${distinct()}, most in flight ${provider.mostInFlight}\n`)
})

it('one after the other is replaced, in the order of a rolling update, and no question is unanswered', async () => {
  const setting = await setUp()
  const { provider, gateways, fleet, askNew, distinct } = setting
  const done = new AbortController()
  const asking = (async () => {
    while (!done.signal.aborted) await askNew(20)
  })()
  for (let nth = 0; nth < 3; nth++) {
    // The new one is ready before the old one is told to end, as with maxSurge 1 and maxUnavailable 0.
    const fresh = fleet.start(3 + nth)
    await fresh.opsUrl
    const old = gateways[nth] as GatewayProcess
    old.kill('SIGTERM')
    expect(await old.exit).toBe(0)
    gateways[nth] = fresh
    const calls = provider.calls.length
    while (provider.calls.length < calls + 40) await sleep(10)
  }
  done.abort()
  await asking
  // Nobody had to wait for calls of the one before: it had said that there were none.
  for (const { events } of gateways)
    for (const event of events.filter((each) => each.event === 'calling_began'))
      expect(event.waitedMs).toBeLessThan(sessionMs)
  expectKept(setting)
  expect(provider.calls).toHaveLength(distinct())
})

it('a budget survives every death, and at most a block of it is lost each time', async () => {
  const perDay = 300
  const setting = await setUp({ THREATWEAVE_ADMIT_PER_DAY: String(perDay) })
  const { provider, gateways, fleet, askNew } = setting
  const block = 3
  const asking = askNew(400)
  let deaths = 0
  for (const calls of [60, 150]) {
    while (provider.calls.length < calls) await sleep(5)
    const caller = await theCaller(gateways)
    caller.kill('SIGKILL')
    deaths++
    await caller.exit
    gateways.splice(gateways.indexOf(caller), 1, fleet.start(gateways.indexOf(caller)))
    await theCaller(gateways)
  }
  await asking
  expectKept(setting)
  expect(provider.calls.length).toBeLessThanOrEqual(perDay)
  expect(provider.calls.length).toBeGreaterThanOrEqual(perDay - deaths * block)
})

it('a gateway that does not call answers over HTTP what the one that calls answers', async () => {
  const { gateways, provider } = await setUp()
  const ask = async ({ url }: GatewayProcess, ip: string, key = callerKey): Promise<unknown> =>
    (await fetch(`${url}/v1/ip/malicious-info?ip=${ip}`, { headers: { 'x-api-key': key } })).json()
  for (const gateway of gateways)
    expect(await ask(gateway, '2001:db8:35::77')).toMatchObject({ status: 200, is_malicious: false })
  expect(provider.calls).toHaveLength(1)
  for (const gateway of gateways) expect(await ask(gateway, '2001:db8:35::78', 'wrong')).toMatchObject({ status: 401 })
  const standby = gateways.find((gateway) => !gateway.isCalling()) as GatewayProcess
  const metrics = await (await fetch(`${await standby.opsUrl}/metrics`)).text()
  expect(metrics).toContain('threatweave_gateway_calls 0\n')
  expect(metrics).toMatch(/^threatweave_gateway_passed_on_total [1-9]/m)
})

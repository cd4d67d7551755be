// One execution of several gateways: who calls is settled over a simulated cluster, under faults, and the provider counts whose calls are in flight.
import { createCluster } from './broker/cluster.js'
import { createNetwork } from './network.js'
import { below, between, createRandom, createWorld, oneOf, type Process, type WorldOptions } from './world.js'
import type { Clock } from '../../src/base/clock.js'
import type { joinElection } from '../../src/election/join-election.js'
import type { Election } from '../../src/election/election.js'
import type { KafkaSettings } from '../../src/kafka/settings.js'
import type { createAdmission, AdmissionSettings } from '../../src/lookup/admission/admission.js'

/** What is loaded only after the globals of the world are installed. */
export type GatewaysProgram = {
  readonly joinElection: typeof joinElection
  readonly createAdmission: typeof createAdmission
  readonly admissionLimits: Omit<AdmissionSettings, 'inFlight' | 'perHour' | 'perDay' | 'perRun'>
  readonly systemClock: Clock
}

const actKinds = [
  'kill',
  'kill_and_lose',
  'stop',
  'pause',
  'cut',
  'lose_answer',
  'broker_away',
  'all_brokers_away',
  'move_coordinators',
] as const
type Act = {
  readonly atMs: number
  readonly kind: (typeof actKinds)[number]
  /** By its number; -1: the one that calls, if any. */
  readonly gateway: number
  readonly forMs: number
}

export type GatewaysScenario = {
  readonly seed: number
  readonly brokers: number
  readonly gateways: number
  readonly concurrency: number
  readonly perDay: number
  readonly latencyMs: readonly [number, number]
  readonly acts: readonly Act[]
}

export const gatewayPromises = ['never two callers', 'somebody calls', 'the budget is kept'] as const
type GatewayPromise = (typeof gatewayPromises)[number]

export type GatewaysExecuted = {
  readonly broken: readonly { readonly promise: GatewayPromise; readonly what: string }[]
  readonly done: readonly string[]
  readonly atStake: readonly GatewayPromise[]
  readonly digest: string
  readonly timeline: readonly string[]
  readonly events: number
  readonly virtualMs: number
  readonly calls: number
}

const topic = 'gateways'
const sessionMs = 6_000
/** Longer than a session: what a killed one has in flight outlives its place in the group. */
const callMs = 15_000
/** How long it may take after the last fault until somebody calls: sessions end, a rebalance waits for one, and the wait of a successor. */
const calmMs = 120_000

export const drawGateways = (seed: number): GatewaysScenario => {
  const random = createRandom(seed, 'gateways')
  const gateways = 2 + below(random, 2)
  const isBudgeted = random() < 0.4
  let atMs = 8_000
  const acts = Array.from({ length: 2 + below(random, 7) }, (): Act => {
    atMs += between(random, 500, 25_000)
    return {
      atMs,
      kind: oneOf(random, actKinds),
      gateway: random() < 0.6 ? -1 : below(random, gateways),
      forMs: Math.round(between(random, 300, 25_000)),
    }
  })
  return {
    seed,
    brokers: random() < 0.5 ? 1 : 3,
    gateways,
    concurrency: 1 + below(random, 3),
    perDay: isBudgeted ? 100 + below(random, 400) : 0,
    latencyMs: random() < 0.3 ? [200, callMs - 1] : [5, 200],
    acts,
  }
}

type Gateway = { process?: Process; stop: AbortController; election?: Election; deaths: number }

export const executeGateways = async (
  scenario: GatewaysScenario,
  program: GatewaysProgram,
  options: WorldOptions = {},
): Promise<GatewaysExecuted> => {
  const world = createWorld(scenario.seed, options)
  try {
    return await executeIn(world, scenario, program)
  } finally {
    world.close()
  }
}

const executeIn = async (
  world: ReturnType<typeof createWorld>,
  scenario: GatewaysScenario,
  program: GatewaysProgram,
): Promise<GatewaysExecuted> => {
  const network = createNetwork(world)
  const random = world.random('execution')
  const cluster = createCluster(world, network, {
    brokers: scenario.brokers,
    topics: {
      [topic]: { partitions: 1, replicationFactor: scenario.brokers, configs: { 'cleanup.policy': 'compact' } },
    },
    times: { lateMarkersOneIn: 7 },
  })
  const broken: { promise: GatewayPromise; what: string }[] = []

  // ---- the provider: a call is in flight there until it is answered, whatever has become of who sent it ----

  const inFlight = new Map<string, number>()
  const latency = world.random('provider')
  let calls = 0
  let lastCallMs = -Infinity
  const call = (process: Process): Promise<{ readonly status: string }> => {
    calls++
    lastCallMs = world.ms
    inFlight.set(process.label, (inFlight.get(process.label) ?? 0) + 1)
    const others = [...inFlight].filter(([label, count]) => label !== process.label && count > 0)
    const all = [...inFlight.values()].reduce((sum, count) => sum + count, 0)
    world.log(`${process.label} calls the provider`)
    if ((others.length > 0 || all > scenario.concurrency) && broken.length < 3)
      broken.push({
        promise: 'never two callers',
        what: `at ${Math.round(world.ms)} ms ${process.label} calls while ${others.map(([label]) => label).join(', ') || 'too many of its own'} are in flight`,
      })
    return new Promise((resolve) => {
      world.after(
        between(latency, ...scenario.latencyMs),
        () => {
          inFlight.set(process.label, (inFlight.get(process.label) ?? 0) - 1)
          if (process.isAlive) process.post(() => resolve({ status: 'answer' }))
        },
        world.outside,
      )
    })
  }

  // ---- gateways ----

  const settings: KafkaSettings = {
    brokers: [...cluster.addresses],
    clientId: 'threatweave',
    groupId: 'threatweave',
    input: { topics: [], pattern: '', start: 'earliest' },
    output: { topic: '', partitionBy: 'input', compression: 'none' },
    deadLetterTopic: '',
    gatewaysTopic: topic,
    verdictsKey: 'a key that nobody else has, of 40 letters',
    delivery: 'at-least-once',
    transactionalIdPrefix: 'threatweave',
    tls: { enabled: false, caFile: '', certificateFile: '', keyFile: '', keyPassphrase: '', serverName: '' },
    sasl: { mechanism: 'none', username: '', password: '', tokenFile: '' },
    sockets: network.socketFactory as unknown as KafkaSettings['sockets'],
    limits: {
      chunkEvents: 1,
      chunkBytes: 1,
      sendBytes: 1,
      chunkDeadlineMs: 1,
      drainMs: 1,
      behindEvents: 1,
      sessionTimeoutMs: sessionMs,
      concurrentPartitions: 1,
      pendingEvents: 1,
      refreshMs: 1,
    },
  }
  const run = async (self: Process, gateway: Gateway, nth: number, signal: AbortSignal): Promise<void> => {
    const election = program.joinElection(settings, {
      address: `http://gateway-${nth}:8787`,
      sessionMs,
      callMs,
      budget: { perHour: 0, perDay: scenario.perDay },
      clock: program.systemClock,
      emit: (event) => world.log(JSON.stringify(event)),
    })
    gateway.election = election
    const admission = program.createAdmission(
      {
        ...program.admissionLimits,
        callTimeoutMs: callMs,
        inFlight: scenario.concurrency,
        perHour: 0,
        perDay: 0,
        perRun: 0,
      },
      program.systemClock,
      () => undefined,
      undefined,
      election.permit,
    )
    let asked = 0
    const ask = async (): Promise<void> => {
      while (!signal.aborted) {
        const key = `${self.label} ${asked++}`
        const found = await admission.run(key, { role: 'destination', action: 'allowed' }, (send) =>
          send(() => call(self)),
        )
        if (found.status === 'unknown') await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
    // More questions than calls: there is always one that waits.
    const asking = Promise.all(Array.from({ length: scenario.concurrency + 2 }, ask))
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    await election.close()
    await asking
  }
  const gateways = Array.from({ length: scenario.gateways }, (): Gateway => ({
    stop: new AbortController(),
    deaths: 0,
  }))
  let isEnding = false
  const launch = (nth: number): void => {
    const gateway = gateways[nth]
    if (!gateway || isEnding || gateway.process?.isAlive === true) return
    const stop = new AbortController()
    gateway.stop = stop
    gateway.process = world.start(`g${nth + 1}`, (self) => run(self, gateway, nth, stop.signal))
    gateway.process.onExit((exit) => {
      if (exit.how === 'failed' || exit.how === 'crashed')
        broken.push({ promise: 'somebody calls', what: `a gateway ended by itself: ${String(exit.error)}` })
    })
  }
  for (const nth of gateways.keys()) world.after(100 * nth, () => launch(nth))

  // ---- faults ----

  const done: string[] = []
  let busyUntilMs = 20_000
  const numberOf = (wanted: number): number => {
    if (wanted >= 0) return wanted
    const calling = gateways.findIndex(
      ({ process, election }) => process?.isAlive === true && election?.role().kind === 'calls',
    )
    return Math.max(0, calling)
  }
  const perform = ({ kind, gateway: wanted, forMs }: Act): void => {
    const nth = numberOf(wanted)
    const gateway = gateways[nth]
    const process = gateway?.process
    const aliveBrokers = cluster.ids.filter((id) => cluster.broker(id).isUp)
    if (!gateway || process?.isAlive !== true) return
    done.push(kind)
    world.log(`fault: ${kind} of ${process.label} for ${forMs} ms`)
    busyUntilMs = Math.max(busyUntilMs, world.ms + forMs + 10_000)
    switch (kind) {
      case 'kill_and_lose':
        // The next one's claim is repeated: its record is there, and it does not know.
        cluster.atRequest({ api: 'EndTxn', nth: 1, moment: 'after' }, () => 'lose')
        gateway.deaths++
        process.kill()
        world.after(forMs, () => launch(nth))
        return
      case 'kill':
        gateway.deaths++
        process.kill()
        world.after(forMs, () => launch(nth))
        return
      case 'stop':
        process.resume()
        process.post(() => gateway.stop.abort())
        gateway.deaths++
        process.onExit(() => world.after(forMs, () => launch(nth)))
        return
      case 'pause':
        process.pause()
        world.after(forMs, () => process.resume())
        return
      case 'cut':
        for (const connection of network.connections({ process })) connection.cut()
        return
      case 'lose_answer':
        cluster.atRequest(
          {
            api: oneOf(random, ['Heartbeat', 'JoinGroup', 'SyncGroup', 'EndTxn', 'InitProducerId'] as const),
            nth: 1,
            moment: 'after',
          },
          () => 'lose',
        )
        return
      case 'broker_away': {
        const id = oneOf(random, cluster.ids)
        if (!cluster.broker(id).isUp) return
        cluster.crashBroker(id)
        world.after(forMs, () => cluster.startBroker(id))
        return
      }
      case 'all_brokers_away':
        for (const id of cluster.ids) network.block(cluster.addressOf(id))
        world.after(forMs, () => {
          for (const id of cluster.ids) network.unblock(cluster.addressOf(id))
        })
        return
      case 'move_coordinators':
        if (aliveBrokers.length === 0) return
        cluster.moveGroup(topic, oneOf(random, aliveBrokers))
        cluster.moveTransactions(`threatweave-${topic}-${topic}-0`, oneOf(random, aliveBrokers))
    }
  }
  for (const act of scenario.acts) world.after(act.atMs, () => perform(act))

  const last = scenario.acts.at(-1)?.atMs ?? 0
  await world.run(last + 1)
  await world.run(Math.max(busyUntilMs, last) + calmMs)
  const isSpent = scenario.perDay > 0 && calls >= scenario.perDay - blockOf(scenario) * (1 + deathsOf(gateways, done))
  if (world.ms - lastCallMs > callMs + 10_000 && !isSpent)
    broken.push({
      promise: 'somebody calls',
      what: `nobody has called since ${Math.round(lastCallMs)} ms; it is ${Math.round(world.ms)} ms`,
    })
  if (scenario.perDay > 0 && calls > scenario.perDay)
    broken.push({ promise: 'the budget is kept', what: `${calls} calls were made of ${scenario.perDay}` })
  isEnding = true
  for (const { process, stop } of gateways) process?.post(() => stop.abort())
  await world.run(world.ms + 30_000)
  return {
    broken,
    done,
    atStake: [
      ...(done.some((kind) => kind !== 'lose_answer') ? (['never two callers'] as const) : []),
      ...(scenario.perDay === 0 ? (['somebody calls'] as const) : (['the budget is kept'] as const)),
    ],
    digest: world.digest(),
    timeline: world.timeline(),
    events: world.events,
    virtualMs: world.ms,
    calls,
  }
}

/** Every claim of the control topic may cost a block. */
const deathsOf = (gateways: readonly Gateway[], done: readonly string[]): number =>
  gateways.reduce((sum, { deaths }) => sum + deaths, 0) + 3 * done.length

const blockOf = ({ perDay }: GatewaysScenario): number => Math.max(1, Math.floor(perDay / 100))

// One execution: runs a scenario's workers against a simulated cluster and provider, with its faults, and records everything.
import { createCluster } from './broker/cluster.js'
import { check as checkRun, type Checked, type Happened } from './checks.js'
import { createDisturbances } from './disturbances.js'
import { createActs } from './execution/acts.js'
import { scheduleFaults } from './execution/faults.js'
import { writeFile } from './execution/folder.js'
import { createInput, isOut } from './execution/input.js'
import { observe } from './execution/observations.js'
import { configOf, files, ruleOf, topicsOf } from './execution/worker-config.js'
import { createWorkers, type Program } from './execution/workers.js'
import { inWorld, traceOf, type Trace } from './in-world.js'
import { createNetwork } from './network.js'
import { createProvider } from './provider.js'
import { checkReplay } from './replay-checks.js'
import { replayTopic, startReplay } from './replay-process.js'
import { addresses, maliciousAtProvider, type Act, type Scenario } from './scenario.js'
import type { World, WorldOptions } from './world.js'

export type Executed = Checked &
  Trace & {
    readonly scenario: Scenario
    readonly done: readonly Act['kind'][]
    readonly paths: ReadonlyMap<string, number>
  }

/** More events than this in one second of virtual time mean an endless loop. */
const busyEvents = 200_000
/** Time for all output after the last fault: sessions expire, groups form, and added partitions are discovered. */
const outMs = 75_000
/** Time for follow-ups after the last fault. After failed lookups it includes retries, with a pause of 30 s that doubles five times. */
const lateMs = 75_000
const repeatsMs = 1_200_000
/** The provider's time for lookups of all addresses. */
const slowMs = ({ latencyMs: [, most], concurrency }: Scenario): number => (most * addresses.length) / concurrency
/** Time for a replay after the last fault: it looks up every address again, within its rate limit. */
const replayMs = 600_000

export const execute = (scenario: Scenario, program: Program, options: WorldOptions = {}): Promise<Executed> =>
  inWorld(scenario.seed, options, async (world) => {
    const stage = setUp(world, scenario, program)
    const checked = await play(world, scenario, stage)
    return { ...checked, ...traceOf(world), scenario, done: stage.acts.done, paths: stage.cluster.paths }
  })

type Stage = ReturnType<typeof setUp>

/** Creates all participants and schedules their events. */
const setUp = (world: World, scenario: Scenario, program: Program) => {
  let busyUntilMs = Math.max(30_000, ...scenario.workersMs)
  const keepBusy = (ms: number): void => {
    busyUntilMs = Math.max(busyUntilMs, Math.ceil(world.ms + ms))
  }
  const network = createNetwork(world)
  const random = world.random('execution')
  const cluster = createCluster(world, network, {
    brokers: scenario.brokers,
    topics: topicsOf(scenario),
    times: { lateMarkersOneIn: 7 },
  })
  const provider = createProvider(world, {
    isMalicious: (address) => maliciousAtProvider.has(address),
    latencyMs: scenario.latencyMs,
  })
  const input = createInput(scenario, { world, cluster, random, keepBusy })
  const observed = observe({ world, cluster, input })
  const config = configOf(scenario, cluster.addresses, program.load)
  const disturbances = createDisturbances({ world, cluster, network, random })
  const around = { world, cluster, program, config, keepBusy }
  const workers = createWorkers(scenario.workersMs, { ...around, network, provider })
  const replay =
    scenario.replay &&
    startReplay(scenario.replay, {
      ...around,
      disturbances,
      aroundOf: (process, signal) => ({ env: {}, signal, emit: workers.emit, runtime: workers.runtimeFor(process) }),
      input: input.current,
    })
  writeFile(files.rule, ruleOf(scenario))
  const acts = createActs({ world, cluster, disturbances, provider, workers, input, replay, scenario, keepBusy })
  const endFaults = scheduleFaults(scenario, world, cluster, acts.perform)
  /** Ends all faults and resumes paused processes. */
  const calm = (): void => {
    endFaults()
    provider.setMood('well')
    disturbances.end()
    for (const nth of scenario.workersMs.keys()) {
      workers.fleet.processOf(nth)?.resume()
      workers.fleet.launch(nth)
    }
    replay?.calm()
  }
  return { cluster, provider, input, observed, workers, replay, acts, busyUntilMs: () => busyUntilMs, calm }
}

/** Runs until all follow-ups are done. */
const play = async (world: World, scenario: Scenario, stage: Stage): Promise<Checked> => {
  const { input, observed, workers, replay, acts } = stage
  const advance = (untilMs: number): Promise<void> => runUntil(world, untilMs)
  const check = async (end?: End): Promise<Checked> => checkAll(await happenedIn(scenario, stage, end))
  while (world.ms < stage.busyUntilMs()) await advance(stage.busyUntilMs())
  const overMs = Math.ceil(world.ms)
  stage.calm()
  const outUntilMs = overMs + outMs + (scenario.mode === 'complete' ? slowMs(scenario) : 0)
  while (world.ms < outUntilMs && !isOut(input, observed.acknowledged)) await advance(world.ms + 1_000)
  while (world.ms < overMs + replayMs && replay?.isOver() === false) await advance(world.ms + 1_000)
  let checked = await check()
  while (checked.broken.some(isPassing) && world.ms < outUntilMs) {
    await advance(world.ms + 4_000)
    checked = await check()
  }
  const lateUntilMs = overMs + lateMs + slowMs(scenario) + (acts.done.includes('provider') ? repeatsMs : 0)
  while (checked.broken.some(isLate) && world.ms < lateUntilMs) {
    await advance(world.ms + 5_000)
    checked = await check()
  }
  // Duplicates may arrive later than the expected records.
  await advance(world.ms + 5_000)
  const end = { alive: aliveIn(stage), atMs: world.ms }
  workers.stop()
  await advance(world.ms + 30_000)
  workers.expectStopped()
  return check(end)
}

/** A process in an endless loop counts as a failure too. */
const runUntil = async (world: World, untilMs: number): Promise<void> => {
  while (world.ms < untilMs) {
    const before = world.events
    await world.run(Math.min(untilMs, world.ms + 1_000))
    if (world.events - before > busyEvents)
      throw new Error(`seed ${world.seed}: ${world.events - before} events in one second, at ${world.ms} ms`)
  }
}

/** The time at which the workers were stopped, and the workers that ran then. */
type End = { readonly alive: ReadonlySet<string>; readonly atMs: number }

const aliveIn = ({ workers }: Stage): ReadonlySet<string> => new Set(workers.fleet.alive().map(({ label }) => label))

const happenedIn = async (scenario: Scenario, stage: Stage, end: End | undefined): Promise<Happened> => {
  const { cluster, provider, input, observed, workers, replay, acts } = stage
  const logStart = new Map<number, number>()
  for (let partition = 0; partition < cluster.partitionCount('input'); partition++)
    logStart.set(partition, cluster.log('input', partition).start)
  return {
    scenario,
    input: input.records,
    topics: input.topicNumber() + 1,
    said: workers.said,
    areOffsetsLost: observed.areOffsetsLost() || acts.done.includes('delete_offsets'),
    logStart,
    output: await observed.read('output'),
    dead: await observed.read('dead'),
    alerts: await observed.read('alerts'),
    corrections: await observed.read('corrections'),
    verdicts: await observed.read('verdicts'),
    alive: end?.alive ?? aliveIn(stage),
    endingMs: end?.atMs ?? Infinity,
    asked: provider.asked,
    mostInFlight: provider.mostInFlight,
    ended: workers.ended,
    prematureCommits: observed.prematureCommits,
    gained: acts.gained,
    done: acts.done,
    replay: replay && {
      ...replay.seen(),
      output: await observed.read(replayTopic),
      alerts: await observed.read(replay.topics[1] ?? ''),
    },
  }
}

const checkAll = (happened: Happened): Checked => {
  const [run, beside] = [checkRun(happened), checkReplay(happened)]
  return { broken: [...run.broken, ...beside.broken], atStake: new Set([...run.atStake, ...beside.atStake]) }
}

const isPassing = ({ promise }: { readonly promise: string }): boolean => promise === 'every event comes out'
const isLate = ({ promise }: { readonly promise: string }): boolean =>
  promise === 'every alert' ||
  promise === 'every pending event corrected' ||
  promise === 'retro alerts' ||
  promise === 'what is paid for is shared' ||
  promise === 'what is suppressed is said'

// The workers of an execution: their main function, their exits, and the events they emit.
import type { Cluster } from '../broker/cluster.js'
import type { Ended } from '../checks.js'
import { createFleet, type Fleet } from '../fleet.js'
import type { Network } from '../network.js'
import type { SimulatedProvider } from '../provider.js'
import type { ReplayProgram } from '../replay-process.js'
import type { Exit, Process, World } from '../world.js'
import type { runAlone, Runtime } from '../../../src/app/run-alone.js'
import type { Watch } from '../../../src/app/watch-run.js'
import type { load } from '../../../src/config/load.js'
import type { Config } from '../../../src/config/schema.js'
import type { loadFeed } from '../../../src/feeds/load-feed.js'
import { group } from './worker-config.js'

/** Loaded only after the world's globals are installed. */
export type Program = ReplayProgram & {
  readonly runAlone: typeof runAlone
  readonly load: typeof load
  readonly loadFeed: typeof loadFeed
  readonly systemClock: Runtime['clock']
}

export type Workers = {
  readonly fleet: Fleet
  readonly ended: readonly Ended[]
  /** Names of the events that workers emitted. */
  readonly said: ReadonlySet<string>
  readonly emit: Watch['emit']
  readonly runtimeFor: (process: Process) => Runtime
  /** Runs the task while no worker runs. */
  readonly whileStopped: (task: () => void) => void
  /** A worker of another group that uses our topics tries to run for a while. */
  readonly startOtherGroup: (forMs: number) => void
  /** Stops all workers; `expectStopped` records those that still run as failed. */
  readonly stop: () => void
  readonly expectStopped: () => void
}

type Parts = {
  readonly world: World
  readonly cluster: Cluster
  readonly network: Network
  readonly provider: SimulatedProvider
  readonly program: Program
  readonly config: Config
  readonly keepBusy: (ms: number) => void
}

/** How long a process lives after its run has ended, to close other parts. */
const lingerMs = 1_500
/** A claim in progress at the end of the closing time may still be sent. */
const onItsWayMs = 250

export const createWorkers = (startMs: readonly number[], parts: Parts): Workers => {
  const { world, network, provider, program, config } = parts
  const ended: Ended[] = []
  const said = new Set<string>()
  const watch = watchOf(world, said)
  const over = watchEnded(parts, ended)

  const runtimeFor = (process: Process): Runtime => ({
    clock: program.systemClock,
    random: Math.random,
    idleMs: () => performance.eventLoopUtilization().idle,
    sockets: network.socketFactory as unknown as Runtime['sockets'],
    dispatcher: provider.dispatcherFor(process),
    loadFeed: (request) => Promise.resolve(program.loadFeed(request)),
  })
  /** Resolves with the reason for its end; empty after a requested stop. */
  const run = async (self: Process, settings: Config, signal: AbortSignal): Promise<string> => {
    const runtime = runtimeFor(self)
    const failure = await program.runAlone(settings, { env: {}, signal, watch, runtime })
    return failure?.sentence ?? ''
  }
  const fleet = createFleet(world, {
    size: startMs.length,
    name: 'w',
    main: async (self, _, signal) => {
      const why = await run(self, config, signal)
      await new Promise((resolve) => setTimeout(resolve, onItsWayMs))
      over.add(self)
      await new Promise((resolve) => setTimeout(resolve, lingerMs))
      return why
    },
    exited: (process, nth, exit, isStopped) => {
      if (exit.how === 'killed') return
      const why = whyOf(exit)
      if (exit.how !== 'returned' || why !== '') ended.push({ worker: process.label, how: exit.how, why })
      // Restarts the worker like an orchestrator.
      if (!isStopped) world.after(1_000, () => fleet.launch(nth))
    },
  })
  for (const [nth, atMs] of startMs.entries()) world.after(atMs, () => fleet.launch(nth))

  return {
    fleet,
    ended,
    said,
    emit: watch.emit,
    runtimeFor,
    whileStopped: (task) => whileStopped(parts, fleet, startMs.length, task),
    startOtherGroup: (forMs) => {
      const stop = new AbortController()
      const settings = { ...config, kafka: { ...config.kafka, groupId: 'other' } }
      const process = world.start('g', (self) => run(self, settings, stop.signal))
      process.onExit((exit) => {
        const why = exit.how === 'returned' ? String(exit.value) : exit.how
        if (!why.includes(`is used by the group ${group}`)) ended.push({ worker: process.label, how: 'failed', why })
      })
      world.after(forMs, () => stop.abort('SIGTERM'))
    },
    stop: () => {
      fleet.close()
      for (const nth of startMs.keys()) fleet.halt(nth)
    },
    expectStopped: () => {
      for (const { label } of fleet.alive())
        ended.push({ worker: label, how: 'failed', why: 'did not end after SIGTERM' })
    },
  }
}

/** kafkajs retries a claim while the last transaction is ending, at most this much later: 300 ms, doubled four times, plus 20 %. */
const repeatMs = 6_000

/** Collects processes whose run has ended, to check that no background work continues. */
const watchEnded = ({ world, cluster }: Parts, ended: Ended[]): Set<Process> => {
  const over = new Set<Process>()
  const claimedMs = new WeakMap<Process, number>()
  cluster.onRequest(({ api, moment, process }) => {
    const isClaim = api === 'InitProducerId'
    // A transaction being written may end later, completely or not at all, and closing does not wait forever for a claim.
    const isRepeated = isClaim && world.ms - (claimedMs.get(process) ?? -Infinity) < repeatMs
    const goesOn = (isClaim && !isRepeated) || api === 'TxnOffsetCommit' || api === 'OffsetCommit'
    if (isClaim && moment === 'before') claimedMs.set(process, world.ms)
    if (moment === 'before' && goesOn && over.delete(process))
      ended.push({ worker: process.label, how: 'failed', why: `sent ${api} when its run was over` })
    return undefined
  })
  return over
}

const whileStopped = ({ world, keepBusy }: Parts, fleet: Fleet, size: number, task: () => void): void => {
  const wanted = Array.from({ length: size }, (_, nth) => nth).filter((nth) => fleet.processOf(nth))
  for (const nth of wanted) fleet.halt(nth)
  const beganMs = world.ms
  const attempt = (): void => {
    const alive = fleet.alive()
    if (alive.length > 0 && world.ms - beganMs < 40_000) return void world.after(200, attempt)
    for (const process of alive) process.kill()
    // The group is empty once its members have left or their sessions have expired.
    world.after(7_000, () => {
      task()
      for (const nth of wanted) fleet.launch(nth)
    })
  }
  keepBusy(60_000)
  attempt()
}

const whyOf = (exit: Exclude<Exit, { how: 'killed' }>): string => {
  if (exit.how === 'returned') return String(exit.value)
  return exit.error instanceof Error ? exit.error.message : String(exit.error)
}

const watchOf = (world: World, said: Set<string>): Watch => {
  const nothing = (): void => undefined
  return {
    emit: (event) => {
      said.add(event.event)
      world.log(JSON.stringify(event))
    },
    hooks: { recalled: nothing, joined: nothing, lookedUp: nothing, waited: nothing },
    observe: (pipeline) => pipeline,
    alerted: nothing,
    feedUse: () => undefined,
    serve: () => Promise.resolve({ url: undefined, close: () => Promise.resolve() }),
    flush: nothing,
    logTotals: nothing,
  }
}

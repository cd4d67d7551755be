// The replay of a scenario: restarts its process with the same id until it is complete, applies faults, and observes it.
import type { withReplay, replayAlone, Surroundings } from '../../src/commands/replay/replay-alone.js'
import type { readReplayArguments } from '../../src/commands/replay/replay-options.js'
import type { summariseReplay } from '../../src/commands/replay/replay-summary.js'
import type { Config } from '../../src/config/schema.js'
import type { Cluster } from './broker/cluster.js'
import type { PlacedRecord } from './checks.js'
import type { Disturbances } from './disturbances.js'
import { numbersIn, numbersOf } from './event-numbers.js'
import type { ReplayScenario } from './replay-scenario.js'
import type { ReplayAct } from './scenario.js'
import type { Process, World } from './world.js'

/** Loaded only after the world's globals are installed. */
export type ReplayProgram = {
  readonly withReplay: typeof withReplay
  readonly replayAlone: typeof replayAlone
  readonly readReplayArguments: typeof readReplayArguments
  readonly summariseReplay: typeof summariseReplay
}

export const replayId = 'r'
export const replayTopic = 'replayed'
const alertsTopic = `${replayTopic}-alerts`

/** State at the start of a process: for each partition the first offset, and the end of committed records or of a stored range. */
export type ReplayStart = {
  readonly topicId: string | undefined
  readonly edges: ReadonlyMap<number, { readonly start: number; readonly end: number }>
}

/** A stored range of the topic with this id. */
export type KeptRange = { readonly topicId: string; readonly partition: number; readonly end: number }

export type ReplayEnd = {
  readonly process: string
  readonly how: 'returned' | 'failed' | 'crashed'
  readonly why: string
}

export type ReplaySeen = {
  readonly of: ReplayScenario['of']
  /** The current id of the topic that is replayed. */
  readonly topicId: string | undefined
  readonly starts: readonly ReplayStart[]
  /** In the order in which they were stored. */
  readonly kept: readonly KeptRange[]
  /** Whether brokers removed part of it with the offsets of a deleted topic of the same name. */
  readonly isForgotten: boolean
  readonly ends: readonly ReplayEnd[]
  /** The count in the final summary, and the topics that the process may have read. */
  readonly completed: { readonly events: number; readonly topicIds: readonly (string | undefined)[] } | undefined
  /** Positions that passed a record before it was acknowledged. */
  readonly premature: readonly string[]
}

export type ReplayProcess = {
  /** Affects the process that sent a request, or the latest one. */
  readonly perform: (act: ReplayAct, sender?: Process) => void
  /** Groups, topics and transactional ids that move together with those of the workers. */
  readonly topics: readonly string[]
  readonly groups: readonly string[]
  readonly isOver: () => boolean
  /** Ends all faults and resumes paused processes. */
  readonly calm: () => void
  readonly seen: () => ReplaySeen
}

type Parts = {
  readonly world: World
  readonly cluster: Cluster
  readonly disturbances: Disturbances
  readonly program: ReplayProgram
  readonly config: Config
  readonly aroundOf: (process: Process, signal: AbortSignal) => Surroundings
  /** The records of the current input topic. */
  readonly input: () => readonly PlacedRecord[]
  readonly keepBusy: (ms: number) => void
}

type Ended = { readonly isComplete: boolean; readonly events: number; readonly why: string }

export const startReplay = (scenario: ReplayScenario, parts: Parts): ReplayProcess => {
  const { world, cluster, disturbances, program, config, aroundOf, input, keepBusy } = parts
  const group = `${config.kafka.groupId}-replay-${replayId}`
  const starts: ReplayStart[] = []
  const kept: KeptRange[] = []
  let isForgotten = false
  const ends: ReplayEnd[] = []
  const premature: string[] = []
  const alive = new Map<Process, AbortController>()
  let completed: ReplaySeen['completed']
  let againMs = 1_000
  /** A start is due but has not happened yet. */
  let isDue = true

  if (scenario.outputPartitions !== undefined) cluster.createTopic(replayTopic, scenario.outputPartitions)

  const values = {
    topic: scenario.of,
    from: 'earliest',
    to: 'now',
    id: replayId,
    output: replayTopic,
    ...(scenario.of === 'output' && { only: 'pending' }),
    ...(scenario.rate !== undefined && { rate: String(scenario.rate) }),
  }

  const lookAround = (): ReplayStart => {
    const topicId = cluster.topicId(scenario.of)
    const partitions = Array.from({ length: cluster.partitionCount(scenario.of) }, (_, partition) => partition)
    const edges = partitions.map((partition) => {
      const log = cluster.log(scenario.of, partition)
      const range = kept.find((one) => one.topicId === topicId && one.partition === partition)
      return [partition, { start: log.start, end: Math.min(log.stable(), range?.end ?? Infinity) }] as const
    })
    return { topicId, edges: new Map(edges) }
  }

  /** Sampled once per second. */
  const topicIds: (string | undefined)[] = []
  const noteTopic = (): void => {
    topicIds.push(cluster.topicId(scenario.of))
    world.after(1_000, noteTopic)
  }
  noteTopic()

  const main = async (self: Process, signal: AbortSignal): Promise<Ended> => {
    const around = aroundOf(self, signal)
    const args = program.readReplayArguments({ positionals: [], values }, config, world.now())
    const done = await program.withReplay(args, config, around, async (opened) => {
      const replayed = await program.replayAlone(opened, args, config, around, () => undefined)
      if ('refused' in replayed) return replayed
      const { delivery } = config.kafka
      return program.summariseReplay(args, opened.plan, replayed, { ...replayed, delivery, seconds: 0 })
    })
    if ('refused' in done) return { isComplete: false, events: 0, why: done.refused }
    return { isComplete: done.complete, events: done.events, why: '' }
  }

  const launch = (): void => {
    isDue = false
    keepBusy(5_000)
    starts.push(lookAround())
    const since = topicIds.length - 1
    const stop = new AbortController()
    const process = world.start('replay', (self) => main(self, stop.signal))
    alive.set(process, stop)
    process.onExit((exit) => {
      alive.delete(process)
      const ended = exit.how === 'returned' ? (exit.value as Ended) : undefined
      if (ended?.isComplete === true)
        completed ??= { events: ended.events, topicIds: [...topicIds.slice(since), cluster.topicId(scenario.of)] }
      if (exit.how !== 'killed')
        ends.push({
          process: process.label,
          how: exit.how,
          why: exit.how === 'returned' ? (ended?.why ?? '') : String((exit.error as Error | undefined)?.stack),
        })
      // The user restarts it, unless another process has taken over.
      if (completed || alive.size > 0 || isDue) return
      isDue = true
      keepBusy(againMs)
      world.after(againMs, launch)
      againMs = 1_000
    })
  }
  world.after(scenario.atMs, launch)

  // ---- observations ----

  const acknowledged = new Set<string>()
  cluster.onAppend(({ topic, batch }) => {
    if (topic === replayTopic && !batch.marker) for (const n of numbersIn(batch.bytes)) acknowledged.add(n)
  })
  cluster.onCommit(({ groupId, partition, offset, metadata }) => {
    if (groupId !== group && groupId !== `${group}-range`) return
    const { topic_id: topicId = '' } = JSON.parse(metadata || '{}') as { readonly topic_id?: string }
    if (groupId !== group) kept.push({ topicId, partition, end: offset })
    else if (scenario.of === 'input' && topicId === cluster.topicId('input'))
      for (const placed of input()) {
        if (placed.partition !== partition || placed.offset >= offset) continue
        if (placed.offset < cluster.log('input', partition).start) continue
        const missing = numbersOf(placed).find((n) => !acknowledged.has(n))
        if (missing !== undefined && premature.length < 5)
          premature.push(`${world.ms} ms: ${partition}/${offset} was kept, but ${missing} was not written`)
      }
  })

  cluster.onRemoval(({ groupId, topic, metadata }) => {
    const { topic_id: topicId } = JSON.parse(metadata || '{}') as { readonly topic_id?: string }
    if (topicId === undefined || topic !== scenario.of || (groupId !== group && groupId !== `${group}-range`)) return
    isForgotten ||= topicId === cluster.topicId(topic) || completed?.topicIds.includes(topicId) === true
  })

  const pauseFor = (process: Process, ms: number): void => {
    keepBusy(ms)
    disturbances.pause(process, ms)
  }

  return {
    topics: [replayTopic, alertsTopic],
    groups: [group, `${group}-range`],
    perform: (act, sender) => {
      const process = sender?.name === 'replay' ? sender : [...alive.keys()].at(-1)
      switch (act.kind) {
        case 'replay_kill':
          if (process) againMs = act.againMs
          process?.kill()
          return
        case 'replay_stop': {
          const stop = process && alive.get(process)
          if (stop) againMs = act.againMs
          process?.post(() => stop?.abort('SIGTERM'))
          return
        }
        case 'replay_pause':
          if (process) pauseFor(process, act.forMs)
          return
        case 'replay_cut':
          disturbances.cut(process)
          return
        case 'replay_second':
          if (!process || alive.size > 2) return
          if (act.pausedMs > 0) pauseFor(process, act.pausedMs)
          launch()
          return
      }
    },
    isOver: () => completed !== undefined && alive.size === 0,
    calm: () => {
      for (const process of alive.keys()) process.resume()
    },
    seen: () => ({
      of: scenario.of,
      topicId: cluster.topicId(scenario.of),
      starts,
      kept,
      isForgotten,
      ends,
      completed,
      premature,
    }),
  }
}

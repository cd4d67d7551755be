// One execution: the workers of a scenario against a simulated cluster and provider, its faults, and everything that happened.
import { createRequire, syncBuiltinESMExports } from 'node:module'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCluster, type Cluster } from './broker/cluster.js'
import type { RequestPoint } from './broker/node.js'
import { readTopic, type OutputRecord } from './broker/read-topic.js'
import {
  check as checkRun,
  textOf,
  type Checked,
  type Ended,
  type Happened,
  type PlacedRecord,
  type ReadRecord,
} from './checks.js'
import { createNetwork } from './network.js'
import { numbersIn, numbersOf } from './event-numbers.js'
import { createProvider } from './provider.js'
import { checkReplay } from './replay-checks.js'
import { replayTopic, startReplay, type ReplayProcess, type ReplayProgram } from './replay-process.js'
import {
  addresses,
  listedAddresses,
  maliciousAtProvider,
  type Act,
  type Fault,
  type InputRecord,
  type Scenario,
} from './scenario.js'
import { errors, readRecords, type WireRecord } from './wire.js'
import { below, createWorld, oneOf, type Process, type WorldOptions } from './world.js'
import type { runAlone, Runtime } from '../../src/app/run-alone.js'
import type { Watch } from '../../src/app/watch-run.js'
import type { load } from '../../src/config/load.js'
import type { Config } from '../../src/config/schema.js'
import type { loadFeed } from '../../src/feeds/load-feed.js'

/** What is loaded only after the globals of the world are installed. */
export type Program = ReplayProgram & {
  readonly runAlone: typeof runAlone
  readonly load: typeof load
  readonly loadFeed: typeof loadFeed
  readonly systemClock: Runtime['clock']
}

export type Executed = Checked & {
  readonly scenario: Scenario
  readonly digest: string
  readonly timeline: readonly string[]
  readonly events: number
  readonly virtualMs: number
  readonly done: readonly Act['kind'][]
  readonly paths: ReadonlyMap<string, number>
}

const group = 'simulated'
const files = { feed: 'feed.txt', rule: 'rule.yml' }
const ruleOf = ({ suppressSeconds = 0 }: Scenario): string => `title: Malicious
id: 5a1f3c9e-7f6f-4c9e-9a57-0d5a3b1c2d4e
logsource: { category: firewall }
level: high
detection:
  selection: { threatweave.verdict: malicious }
  condition: selection
threatweave:
  suppress: { by: [threatweave.value], seconds: ${suppressSeconds} }
---
title: Malicious Now
id: 6b2f3c9e-7f6f-4c9e-9a57-0d5a3b1c2d4f
logsource: { product: threatweave, service: retro }
level: high
detection:
  selection: { threatweave.verdict: malicious }
  condition: selection
`
/** How long a process is there after its run has ended: other parts are closed then. */
const lingerMs = 1_500
/** More events than that in one second of virtual time are a loop. */
const busyEvents = 200_000
/** A topic that is created again and written past a worker's position within this time is noticed late: docs/kafka.md says so. */
const unnoticedMs = 250
/** How long everything may take to come out after the last fault: sessions end, groups form, partitions that were added are found. */
const outMs = 75_000
/** How long what follows later may take after the last fault; and where lookups failed, with their repeats, 30 s doubled five times. */
const lateMs = 75_000
const repeatsMs = 1_200_000
/** How long the provider takes for all addresses. */
const slowMs = ({ latencyMs: [, most], concurrency }: Scenario): number => (most * addresses.length) / concurrency
/** How long a replay may take after the last fault: it asks about every address once more, and keeps its rate. */
const replayMs = 600_000

/** Feeds and rules are read from a folder of their own, at once: a file that is read in a thread would leave virtual time. */
export const useFolder = (): (() => void) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'threatweave-simulation-'))
  process.chdir(folder)
  written.clear()
  const promises = createRequire(import.meta.url)('node:fs/promises') as Record<string, unknown>
  const atOnce =
    (read: (...given: never[]) => unknown) =>
    (...given: unknown[]): Promise<unknown> => {
      try {
        return Promise.resolve(read(...(given as never[])))
      } catch (error) {
        return Promise.reject(error instanceof Error ? error : new Error(String(error)))
      }
    }
  Object.assign(promises, {
    stat: atOnce(fs.statSync),
    readFile: atOnce(fs.readFileSync),
    readdir: atOnce(fs.readdirSync),
    realpath: atOnce(fs.realpathSync),
  })
  syncBuiltinESMExports()
  return () => fs.rmSync(folder, { recursive: true, force: true })
}

/** What is there: most executions begin with the same files, and a write takes longer than hundreds of events. */
const written = new Map<string, string>()
const writeFile = (file: string, text: string): void => {
  if (written.get(file) === text) return
  fs.writeFileSync(file, text)
  written.set(file, text)
}

export const execute = async (scenario: Scenario, program: Program, options: WorldOptions = {}): Promise<Executed> => {
  const world = createWorld(scenario.seed, options)
  try {
    return await executeIn(world, scenario, program)
  } finally {
    world.close()
  }
}

type Worker = { process: Process | undefined; stop: AbortController; isWanted: boolean }

const executeIn = async (
  world: ReturnType<typeof createWorld>,
  scenario: Scenario,
  program: Program,
): Promise<Executed> => {
  const network = createNetwork(world)
  const random = world.random('execution')
  const replicated = { replicationFactor: scenario.brokers }
  const cluster = createCluster(world, network, {
    brokers: scenario.brokers,
    topics: {
      input: { partitions: scenario.partitions, ...replicated },
      output: { partitions: scenario.outputPartitions, ...replicated, configs: { 'max.message.bytes': '16384' } },
      dead: { partitions: 1, ...replicated },
      alerts: { partitions: 2, ...replicated },
      corrections: { partitions: 2, ...replicated },
      sightings: {
        partitions: scenario.partitions,
        ...replicated,
        configs: { 'cleanup.policy': 'compact,delete', 'retention.ms': '1209600000' },
      },
      verdicts: {
        partitions: 1,
        ...replicated,
        configs: { 'message.timestamp.type': 'LogAppendTime', 'retention.ms': '2592000000' },
      },
    },
    times: { lateMarkersOneIn: 7 },
  })
  const provider = createProvider(world, {
    isMalicious: (address) => maliciousAtProvider.has(address),
    latencyMs: scenario.latencyMs,
  })

  // ---- input ----

  const input: PlacedRecord[] = []
  let topicNumber = 0
  let noticedFromMs = 0
  let nextNumber = 1_000_000
  const write = (
    partition: number,
    records: readonly InputRecord[],
    form: 'plain' | 'gzip' | 'committed' | 'aborted',
  ): void => {
    if (cluster.topicId('input') === undefined || world.ms < noticedFromMs) {
      world.after(500, () => write(partition, records, form))
      return
    }
    const placed = records.map((record) => ({ record, key: keyOf(record), value: textOf(record) }))
    const wire = placed.map(({ key, value }): WireRecord => ({
      key: key === undefined ? null : Buffer.from(key),
      value: value === undefined ? null : Buffer.from(value),
      timestamp: world.now(),
    }))
    const base =
      form === 'committed' || form === 'aborted'
        ? cluster.appendTransaction('input', partition, wire, form === 'committed' ? 'commit' : 'abort')
        : cluster.append('input', partition, wire, form === 'gzip' ? { gzip: true } : {})
    if (form === 'aborted') return
    for (const [nth, one] of placed.entries())
      input.push({ ...one, partition, offset: base + nth, topicNumber, atMs: world.ms })
  }
  for (const { atMs, partition, records, form } of scenario.waves)
    world.after(atMs, () => write(partition, records, form))

  // ---- what is watched while it happens ----

  /** Of each topic and batch: when it was appended. */
  const appendedMs = new Map<string, number>()
  const acknowledged = new Set<string>()
  cluster.onAppend(({ topic, partition, batch }) => {
    if (!watched.has(topic) || batch.marker) return
    for (let offset = batch.base; offset <= batch.last; offset++)
      appendedMs.set(`${topic}/${partition}/${offset}`, world.ms)
    if (world.isTraced)
      for (const [nth, { key, value }] of readRecords(batch.bytes).entries())
        world.note(() => `${topic}/${partition}/${batch.base + nth}: ${String(key)} ${String(value)}`)
    if (topic !== 'output' && topic !== 'dead') return
    for (const n of numbersIn(batch.bytes)) acknowledged.add(n)
  })
  const prematureCommits: string[] = []
  cluster.onCommit(({ groupId, topic, partition, offset, metadata }) => {
    if (groupId !== group || topic !== 'input') return
    // A position in a former topic is known by its metadata, and not gone on from.
    const { topic_id: topicId } = JSON.parse(metadata || '{}') as { readonly topic_id?: string }
    if (topicId !== undefined && topicId !== cluster.topicId('input')) return
    for (const placed of input) {
      if (placed.partition !== partition || placed.topicNumber !== topicNumber || placed.offset >= offset) continue
      if (placed.offset < cluster.log('input', partition).start) continue
      const missing = numbersOf(placed).find((n) => !acknowledged.has(n))
      if (missing !== undefined && prematureCommits.length < 5)
        prematureCommits.push(
          `${world.ms} ms: ${offset} was committed for partition ${partition}, but ${missing} at ${placed.offset} was not written`,
        )
    }
  })

  /** Brokers remove the offsets of a deleted topic by its name, late enough to hit those of the next one. */
  let areOffsetsLost = false
  const said = new Set<string>()
  cluster.onRemoval(({ groupId, topic, metadata }) => {
    const { topic_id: topicId } = JSON.parse(metadata || '{}') as { readonly topic_id?: string }
    areOffsetsLost ||=
      groupId === group && topic === 'input' && topicId !== undefined && topicId === cluster.topicId('input')
  })

  // ---- workers ----

  const ended: Ended[] = []
  const config = configOf(scenario, cluster, program)
  /** Another team, which took the names of our topics. */
  const secondConfig = { ...config, kafka: { ...config.kafka, groupId: 'other' } }
  const stopSecond = new AbortController()
  const workers = scenario.workersMs.map((): Worker => ({
    process: undefined,
    stop: new AbortController(),
    isWanted: false,
  }))
  const runtimeFor = (process: Process): Runtime => ({
    clock: program.systemClock,
    random: Math.random,
    idleMs: () => performance.eventLoopUtilization().idle,
    sockets: network.socketFactory as unknown as Runtime['sockets'],
    dispatcher: provider.dispatcherFor(process),
    loadFeed: (request) => Promise.resolve(program.loadFeed(request)),
  })
  /** Whose run has ended: nothing may go on in the background. */
  const over = new Set<Process>()
  cluster.onRequest(({ api, moment, process }) => {
    // A transaction that is being written may end later, whole or not at all.
    const goesOn = api === 'InitProducerId' || api === 'TxnOffsetCommit' || api === 'OffsetCommit'
    if (moment === 'before' && goesOn && over.delete(process))
      ended.push({ worker: process.label, how: 'failed', why: `sent ${api} when its run was over` })
    return undefined
  })
  const launch = (nth: number): void => {
    const worker = workers[nth]
    if (!worker || isEnding || worker.process?.isAlive === true) return
    worker.isWanted = true
    const stop = new AbortController()
    worker.stop = stop
    const process = world.start(`w${nth + 1}`, async (self) => {
      const runtime = runtimeFor(self)
      const failure = await program.runAlone(config, {
        env: {},
        signal: stop.signal,
        watch: watchOf(world, said),
        runtime,
      })
      over.add(self)
      await new Promise((resolve) => setTimeout(resolve, lingerMs))
      return failure?.sentence ?? ''
    })
    worker.process = process
    process.onExit((exit) => {
      if (exit.how === 'killed') return
      const why = exit.how === 'returned' ? String(exit.value) : messageOf(exit.error)
      if (exit.how !== 'returned' || why !== '') ended.push({ worker: process.label, how: exit.how, why })
      // As an orchestrator does it.
      if (worker.isWanted && !stop.signal.aborted) world.after(1_000, () => launch(nth))
    })
  }
  const halt = (nth: number): void => {
    const worker = workers[nth]
    if (!worker?.process?.isAlive) return
    const { process, stop } = worker
    process.resume()
    process.post(() => stop.abort('SIGTERM'))
  }
  /** Runs a task while no worker runs. */
  const whileStopped = (task: () => void): void => {
    const wanted = workers.flatMap((worker, nth) => (worker.process ? [nth] : []))
    for (const nth of wanted) halt(nth)
    const beganMs = world.ms
    const attempt = (): void => {
      const alive = workers.filter(({ process }) => process?.isAlive === true)
      if (alive.length > 0 && world.ms - beganMs < 40_000) return void world.after(200, attempt)
      for (const { process } of alive) process?.kill()
      // The group is empty once its members have left or their sessions are over.
      world.after(7_000, () => {
        task()
        for (const nth of wanted) launch(nth)
      })
    }
    keepBusy(60_000)
    attempt()
  }
  for (const [nth, atMs] of scenario.workersMs.entries()) world.after(atMs, () => launch(nth))

  // ---- faults ----

  const done: Act['kind'][] = []
  const gained = new Map<string, number>()
  let busyUntilMs = Math.max(30_000, ...scenario.workersMs)
  let isEnding = false
  let endingMs = Infinity
  /** At the end, before they are told to stop. */
  let alive: ReadonlySet<string> = new Set()
  const aliveNow = (): ReadonlySet<string> =>
    new Set(workers.flatMap(({ process }) => (process?.isAlive === true ? [process.label] : [])))
  const keepBusy = (ms: number): void => {
    busyUntilMs = Math.max(busyUntilMs, Math.ceil(world.ms + ms))
  }
  const replay: ReplayProcess | undefined =
    scenario.replay &&
    startReplay(scenario.replay, {
      world,
      cluster,
      network,
      program,
      config,
      aroundOf: (process, signal) => ({
        env: {},
        signal,
        emit: watchOf(world, said).emit,
        runtime: runtimeFor(process),
      }),
      input: () => input.filter((placed) => placed.topicNumber === topicNumber),
      keepBusy,
    })
  const feed = [...listedAddresses]
  writeFile(files.rule, ruleOf(scenario))
  writeFile(files.feed, `${feed.join('\n')}\n`)
  const perform = (act: Act, point?: RequestPoint): void => {
    // While brokers are down nobody changes topics.
    const isUp = cluster.ids.every((id) => cluster.broker(id).isUp)
    if ((act.kind === 'add_partition' || act.kind === 'recreate_input') && !isUp) {
      keepBusy(2_000)
      world.after(1_000, () => perform(act))
      return
    }
    world.log(`fault: ${JSON.stringify(act)}`)
    done.push(act.kind)
    keepBusy(1_000)
    const nthOf = (worker: number): number =>
      point ? workers.findIndex(({ process }) => process === point.process) : worker
    const alive = cluster.ids.filter((id) => cluster.broker(id).isUp)
    switch (act.kind) {
      case 'kill': {
        const nth = nthOf(act.worker)
        workers[nth]?.process?.kill()
        keepBusy(act.againMs)
        world.after(act.againMs, () => launch(nth))
        return
      }
      case 'stop': {
        const nth = nthOf(act.worker)
        const process = workers[nth]?.process
        halt(nth)
        keepBusy(act.againMs + 25_000)
        process?.onExit(() => world.after(act.againMs, () => launch(nth)))
        return
      }
      case 'pause': {
        const process = workers[nthOf(act.worker)]?.process
        process?.pause()
        keepBusy(act.forMs)
        world.after(act.forMs, () => process?.resume())
        return
      }
      case 'cut': {
        const process = workers[nthOf(act.worker)]?.process
        if (process) for (const connection of network.connections({ process })) connection.cut()
        return
      }
      case 'lose_answer':
        return
      case 'broker_away': {
        const id = cluster.ids[act.broker] ?? 1
        keepBusy(act.forMs)
        if (act.forMs % 2 === 0) {
          cluster.crashBroker(id)
          world.after(act.forMs, () => cluster.startBroker(id))
        } else {
          network.block(cluster.addressOf(id))
          world.after(act.forMs, () => network.unblock(cluster.addressOf(id)))
        }
        return
      }
      case 'all_brokers_away':
        keepBusy(act.forMs)
        for (const id of cluster.ids) cluster.crashBroker(id)
        world.after(act.forMs, () => {
          for (const id of cluster.ids) cluster.startBroker(id)
        })
        return
      case 'move_leaders':
        for (const topic of [...watched, ...(replay?.topics ?? [])])
          for (let partition = 0; partition < cluster.partitionCount(topic); partition++)
            if (alive.length > 0) cluster.moveLeader(topic, partition, oneOf(random, alive))
        return
      case 'move_coordinators':
        if (alive.length === 0) return
        cluster.moveGroup(group, oneOf(random, alive))
        for (let partition = 0; partition < scenario.partitions; partition++)
          cluster.moveTransactions(`threatweave-${group}-input-${partition}`, oneOf(random, alive))
        for (const moved of replay?.groups ?? []) {
          cluster.moveGroup(moved, oneOf(random, alive))
          for (let partition = 0; partition < scenario.partitions; partition++)
            cluster.moveTransactions(
              `threatweave-${moved}-${scenario.replay?.of ?? ''}-${partition}`,
              oneOf(random, alive),
            )
        }
        return
      case 'rolling_restart': {
        let atMs = 0
        for (const id of cluster.ids) {
          world.after(atMs, () => cluster.stopBroker(id))
          world.after(atMs + act.eachMs + 700, () => cluster.startBroker(id))
          atMs += act.eachMs + 1_500
        }
        keepBusy(atMs + act.eachMs)
        return
      }
      case 'recreate_input': {
        /** A broker that went down since refuses it: the operator tries again. */
        const create = (): void => {
          if (cluster.createTopic('input', scenario.partitions, replicated) !== errors.NONE) {
            keepBusy(2_000)
            world.after(1_000, create)
            return
          }
          topicNumber++
          noticedFromMs = world.ms + unnoticedMs
          for (let partition = 0; partition < scenario.partitions; partition++)
            write(
              partition,
              Array.from({ length: act.events }, () => ({
                kind: 'event',
                n: nextNumber++,
                address: `203.0.113.${1 + below(random, 40)}`,
              })),
              'plain',
            )
        }
        const recreate = (): void => {
          cluster.deleteTopic('input')
          world.after(below(random, 3) === 0 ? 2_000 : 20, create)
        }
        keepBusy(15_000)
        if (act.whileStopped) whileStopped(recreate)
        else recreate()
        return
      }
      case 'add_partition': {
        const count = cluster.partitionCount('input')
        if (count === 0) return
        cluster.addPartitions('input', count + 1)
        const records = Array.from({ length: 12 }, () => ({
          kind: 'event' as const,
          n: nextNumber++,
          address: `203.0.113.${1 + below(random, 40)}`,
        }))
        write(count, records, 'plain')
        return
      }
      case 'delete_offsets':
        whileStopped(() => {
          for (let partition = 0; partition < cluster.partitionCount('input'); partition++)
            cluster.deleteOffsets(group, 'input', partition)
        })
        return
      case 'delete_records':
        for (let partition = 0; partition < cluster.partitionCount('input'); partition++) {
          const { start, high } = cluster.log('input', partition)
          cluster.deleteBefore('input', partition, start + Math.floor(act.share * (high - start)))
        }
        return
      case 'provider':
        provider.setMood(act.mood)
        keepBusy(act.forMs)
        world.after(act.forMs, () => provider.setMood('well'))
        return
      case 'feed_gains':
        feed.push(act.address)
        writeFile(files.feed, `${feed.join('\n')}\n`)
        if (!gained.has(act.address)) gained.set(act.address, world.ms)
        return
      case 'deny':
        cluster.denyWrites(act.topic)
        keepBusy(act.forMs)
        world.after(act.forMs, () => cluster.allowWrites(act.topic))
        return
      case 'shrink':
        cluster.limitBatches(act.topic, act.bytes)
        keepBusy(act.forMs)
        world.after(act.forMs, () => cluster.limitBatches(act.topic, undefined))
        return
      case 'second_group': {
        const second = world.start('g', async (self) => {
          const runtime = runtimeFor(self)
          const watch = watchOf(world, said)
          const failure = await program.runAlone(secondConfig, { env: {}, signal: stopSecond.signal, watch, runtime })
          return failure?.sentence ?? ''
        })
        second.onExit((exit) => {
          const why = exit.how === 'returned' ? String(exit.value) : exit.how
          if (!why.includes(`is used by the group ${group}`)) ended.push({ worker: second.label, how: 'failed', why })
        })
        keepBusy(15_000)
        world.after(15_000, () => stopSecond.abort('SIGTERM'))
        return
      }
      case 'replay_kill':
      case 'replay_stop':
      case 'replay_pause':
      case 'replay_cut':
      case 'replay_second':
        replay?.perform(act, point?.process)
    }
  }
  let areFaultsOver = false
  const counted = new Map<Fault, number>()
  const atRequests = scenario.faults.flatMap((fault) => ('request' in fault.on ? [{ fault, on: fault.on }] : []))
  for (const fault of scenario.faults) if ('atMs' in fault.on) world.after(fault.on.atMs, () => perform(fault.act))
  cluster.onRequest((point) => {
    const by = point.process.name === 'replay' ? 'replay' : undefined
    if (areFaultsOver || (!by && !point.process.name.startsWith('w'))) return undefined
    let isLost = false
    for (const { fault, on } of atRequests) {
      if (on.request !== point.api || on.by !== by || on.when !== point.moment || world.ms < on.fromMs) continue
      const { act } = fault
      const nth = (counted.get(fault) ?? 0) + 1
      counted.set(fault, nth)
      if (nth !== on.nth) continue
      isLost ||= act.kind === 'lose_answer'
      perform(act, point)
    }
    return isLost ? 'lose' : undefined
  })

  // ---- until everything has followed ----

  const seen = new Map<OutputRecord, ReadRecord>()
  const happened = async (): Promise<Happened> => {
    const read = async (topic: string): Promise<readonly ReadRecord[]> =>
      (await readTopic(cluster, topic)).map((record) => {
        const { partition, offset, key, value } = record
        const before = seen.get(record)
        if (before) return before
        const atMs = appendedMs.get(`${topic}/${partition}/${offset}`) ?? 0
        const now = { partition, offset, key: key?.toString(), value: value?.toString(), atMs }
        seen.set(record, now)
        return now
      })
    const logStart = new Map<number, number>()
    for (let partition = 0; partition < cluster.partitionCount('input'); partition++)
      logStart.set(partition, cluster.log('input', partition).start)
    return {
      scenario,
      input,
      topics: topicNumber + 1,
      said,
      areOffsetsLost: areOffsetsLost || done.includes('delete_offsets'),
      logStart,
      output: await read('output'),
      dead: await read('dead'),
      alerts: await read('alerts'),
      corrections: await read('corrections'),
      verdicts: await read('verdicts'),
      alive: isEnding ? alive : aliveNow(),
      endingMs,
      asked: provider.asked,
      mostInFlight: provider.mostInFlight,
      ended,
      prematureCommits,
      gained,
      done,
      replay: replay && {
        ...replay.seen(),
        output: await read(replayTopic),
        alerts: await read(replay.topics[1] ?? ''),
      },
    }
  }
  const check = (all: Happened): Checked => {
    const [run, beside] = [checkRun(all), checkReplay(all)]
    return { broken: [...run.broken, ...beside.broken], atStake: new Set([...run.atStake, ...beside.atStake]) }
  }
  /** A process that is busy without end is a mistake too. */
  const advance = async (untilMs: number): Promise<void> => {
    while (world.ms < untilMs) {
      const before = world.events
      await world.run(Math.min(untilMs, world.ms + 1_000))
      if (world.events - before > busyEvents)
        throw new Error(`seed ${scenario.seed}: ${world.events - before} events in one second, at ${world.ms} ms`)
    }
  }
  while (world.ms < busyUntilMs) await advance(busyUntilMs)
  areFaultsOver = true
  const overMs = Math.ceil(world.ms)
  provider.setMood('well')
  for (const id of cluster.ids) {
    network.unblock(cluster.addressOf(id))
    cluster.startBroker(id)
  }
  for (const [nth, { process }] of workers.entries()) {
    process?.resume()
    launch(nth)
  }
  replay?.calm()
  /** What was deleted with its topic or by retention has not to come out. */
  const isLeft = ({ partition, offset, topicNumber: number }: PlacedRecord): boolean =>
    number === topicNumber && offset >= cluster.log('input', partition).start
  const isOut = (): boolean =>
    input.every((placed) => !isLeft(placed) || numbersOf(placed).every((n) => acknowledged.has(n)))
  const outUntilMs = overMs + outMs + (scenario.mode === 'complete' ? slowMs(scenario) : 0)
  while (world.ms < outUntilMs && !isOut()) await advance(world.ms + 1_000)
  while (world.ms < overMs + replayMs && replay?.isOver() === false) await advance(world.ms + 1_000)
  let checked = check(await happened())
  while (checked.broken.some(isPassing) && world.ms < outUntilMs) {
    await advance(world.ms + 4_000)
    checked = check(await happened())
  }
  const lateUntilMs = overMs + lateMs + slowMs(scenario) + (done.includes('provider') ? repeatsMs : 0)
  while (checked.broken.some(isLate) && world.ms < lateUntilMs) {
    await advance(world.ms + 5_000)
    checked = check(await happened())
  }
  // What is doubled may come later than what is expected.
  await advance(world.ms + 5_000)
  alive = aliveNow()
  endingMs = world.ms
  isEnding = true
  for (const nth of workers.keys()) halt(nth)
  await advance(world.ms + 30_000)
  for (const { process } of workers)
    if (process?.isAlive === true)
      ended.push({ worker: process.label, how: 'failed', why: 'did not end after SIGTERM' })
  checked = check(await happened())
  return {
    ...checked,
    scenario,
    digest: world.digest(),
    timeline: world.timeline(),
    events: world.events,
    virtualMs: world.ms,
    done,
    paths: cluster.paths,
  }
}

const watched = new Set(['output', 'dead', 'alerts', 'corrections', 'sightings', 'input'])
const isPassing = ({ promise }: { readonly promise: string }): boolean => promise === 'every event comes out'
const isLate = ({ promise }: { readonly promise: string }): boolean =>
  promise === 'every alert' ||
  promise === 'every pending event corrected' ||
  promise === 'retro alerts' ||
  promise === 'what is paid for is shared' ||
  promise === 'what is suppressed is said'

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Some records have no key. */
const keyOf = (record: InputRecord): string | undefined => {
  if (record.kind === 'tombstone') return `t${record.n}`
  const n = record.kind === 'batch' ? (record.members[0]?.n ?? 0) : record.n
  return n % 7 === 0 ? undefined : `k${n % 5}`
}

const watchOf = (world: ReturnType<typeof createWorld>, said: Set<string>): Watch => {
  const nothing = (): void => undefined
  return {
    emit: (event) => {
      said.add(event.event)
      world.log(JSON.stringify(event))
    },
    hooks: { recalled: nothing, joined: nothing, lookedUp: nothing, waited: nothing },
    observe: (pipeline) => pipeline,
    alerted: nothing,
    serve: () => Promise.resolve({ url: undefined, close: () => Promise.resolve() }),
    flush: nothing,
    logTotals: nothing,
  }
}

const configOf = (scenario: Scenario, cluster: Cluster, { load }: Program): Config => {
  const topic = (name: string, isUsed: boolean): string => (isUsed ? name : '')
  const loaded = load({
    values: {
      feeds: [{ name: 'listed', path: files.feed }],
      gate: { documentation: true },
      ops: { enabled: false },
      admit: { perDay: 'unlimited' },
      memory: { path: 'none', maxEntries: 1_000 },
      alerts: { rules: [files.rule], bundled: false, suppressSeconds: 0 },
      enrich: { deadlineMs: scenario.deadlineMs, mode: scenario.mode },
      intel: {
        ip: { operations: { suspicious_info: 'never' } },
        service: { apiKey: 'simulated', baseUrl: 'https://provider.example', concurrency: scenario.concurrency },
      },
      kafka: {
        brokers: [...cluster.addresses],
        groupId: group,
        input: { topics: ['input'], batches: scenario.batches, start: 'earliest' },
        output: { topic: 'output', partitionBy: scenario.partitionBy },
        deadLetterTopic: 'dead',
        alertsTopic: topic('alerts', scenario.alerts),
        correctionsTopic: topic('corrections', scenario.corrections),
        sightingsTopic: topic('sightings', scenario.sightings),
        verdictsTopic: topic('verdicts', scenario.verdicts === true),
        delivery: scenario.delivery,
        limits: { sessionTimeoutMs: 6_000 },
      },
    },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded)
    throw new Error(loaded.problems.map(({ setting, message }) => `${setting} ${message}`).join('; '))
  return loaded.config
}

// Tries the simulated cluster with the toy and with the program's own runner under every kind of fault, and prints what came out as JSON:
// `node --import ./test/simulation/typescript.mjs test/simulation/broker/acceptance.ts '{"program":"runner","seeds":[1,2]}'`.
import { writeSync } from 'node:fs'
import { createNetwork } from '../network.js'
import { below, between, createWorld, installGlobals, oneOf, wallMs, type Process, type World } from '../world.js'
import { createCluster, type Cluster } from './cluster.js'
import { errors, type ApiName } from '../wire.js'

installGlobals()
Error.stackTraceLimit = 4 // kafkajs makes an error of every refusal, and most of its cost is the stack
delete process.env['NODE_ENV'] // as users run it: kafkajs takes other retries under test
process.env['KAFKAJS_NO_PARTITIONER_WARNING'] = '1'
const { Kafka, logLevel } = await import('../../../src/kafka/patched-kafkajs/patched-kafkajs.js')
const { startRunner } = await import('../../../src/app/runner.js')
const { runToy } = await import('./toy.js')
const { readTopic } = await import('./read-topic.js')

type Options = {
  readonly program: 'toy' | 'runner'
  readonly isTransactional: boolean
  readonly brokers: number
  readonly seeds: readonly number[]
  /** Of these kinds; none: all. */
  readonly faults: readonly FaultKind[]
  readonly faultCount: number
  readonly drain: 'tick' | 'immediate'
  readonly debug: boolean
  readonly trace: boolean
  readonly untilMs: number
}

const faultKinds = ['kill', 'pause', 'cut', 'lose request', 'lose answer', 'late answer', 'away', 'restart', 'crash', 'leader', 'coordinator', 'recreate'] as const // prettier-ignore
type FaultKind = (typeof faultKinds)[number]

/** Where answers and requests are lost: each leaves something half done. */
const points: readonly ApiName[] = ['EndTxn', 'TxnOffsetCommit', 'Produce', 'InitProducerId', 'JoinGroup', 'SyncGroup', 'OffsetCommit', 'OffsetFetch', 'AddPartitionsToTxn', 'Heartbeat'] // prettier-ignore

const given = JSON.parse(process.argv[2] ?? '{}') as Partial<Options>
const options: Options = {
  program: 'runner',
  isTransactional: false,
  brokers: 1,
  seeds: [1],
  faults: faultKinds,
  faultCount: 6,
  drain: 'tick',
  debug: false,
  trace: false,
  untilMs: 120_000,
  ...given,
}
/** Faults and input end here; the rest is for everything to come out. */
const busyMs = 45_000

type Fed = { readonly topicId: string | undefined; readonly n: number }

/** Plain, compressed, committed and aborted records until `busyMs`. */
const feed = (world: World, cluster: Cluster): readonly Fed[] => {
  const random = world.random('feed')
  const fed: Fed[] = []
  let n = 0
  const more = (): void => {
    for (let partition = 0; partition < cluster.partitionCount('in'); partition++) {
      const records = Array.from({ length: 1 + below(random, 8) }, () => ({
        key: Buffer.from(`k${n}`),
        value: Buffer.from(`{"n":${n++}}`),
        timestamp: world.now(),
      }))
      const kind = below(random, 6)
      const aborted = { key: null, value: Buffer.from('{"n":-1}'), timestamp: world.now() }
      if (kind === 0) cluster.appendTransaction('in', partition, [aborted], 'abort')
      if (kind === 1) cluster.appendTransaction('in', partition, records, 'commit')
      else cluster.append('in', partition, records, { gzip: kind === 2 })
      fed.push(...records.map((_, nth) => ({ topicId: cluster.topicId('in'), n: n - records.length + nth })))
    }
    if (world.ms < busyMs) world.after(between(random, 100, 1_500), more)
  }
  world.after(300, more)
  return fed
}

const disturb = (
  {
    world,
    cluster,
    network,
  }: { readonly world: World; readonly cluster: Cluster; readonly network: ReturnType<typeof createNetwork> },
  running: ReadonlyMap<string, Process>,
): ReadonlyMap<FaultKind, number> => {
  const random = world.random('faults')
  const done = new Map<FaultKind, number>()
  const count = (kind: FaultKind): void => void done.set(kind, (done.get(kind) ?? 0) + 1)
  const someoneUp = (): number =>
    oneOf(
      random,
      cluster.ids.filter((id) => cluster.broker(id).isUp),
    )
  const createAgain = (): void => {
    // No broker may be up to make it.
    if (cluster.topicId('in') === undefined && cluster.createTopic('in', 2) !== errors.NONE)
      world.after(500, createAgain)
  }
  const act = (kind: FaultKind): void => {
    const name = oneOf(random, ['w1', 'w2'])
    const worker = running.get(name)
    const broker = oneOf(random, cluster.ids)
    const lastsMs = between(random, 700, 4_000)
    switch (kind) {
      case 'kill':
        worker?.kill()
        {
          count(kind)
          return
        }
      case 'pause':
        worker?.pause()
        world.after(6_500 + lastsMs, () => worker?.resume())
        {
          count(kind)
          return
        }
      case 'cut':
        for (const connection of network.connections(worker ? { process: worker } : {})) connection.cut()
        {
          count(kind)
          return
        }
      case 'lose request':
      case 'lose answer':
      case 'late answer': {
        const moment = kind === 'lose request' ? 'before' : 'after'
        cluster.atRequest({ api: oneOf(random, points), process: name, moment }, () => {
          count(kind)
          return kind === 'late answer' ? { delayMs: lastsMs * 3 } : 'lose'
        })
        return
      }
      case 'away':
        network.block(cluster.addressOf(broker))
        world.after(lastsMs, () => network.unblock(cluster.addressOf(broker)))
        {
          count(kind)
          return
        }
      case 'restart':
      case 'crash':
        if (kind === 'restart') cluster.stopBroker(broker)
        else cluster.crashBroker(broker)
        world.after(700 + lastsMs, () => cluster.startBroker(broker))
        {
          count(kind)
          return
        }
      case 'leader':
        cluster.moveLeader(oneOf(random, ['in', 'out']), below(random, 2), someoneUp())
        {
          count(kind)
          return
        }
      case 'coordinator':
        if (random() < 0.5) cluster.moveGroup('g', someoneUp())
        else cluster.moveTransactions(`${options.program === 'toy' ? '' : 'tw-'}g-in-${below(random, 2)}`, someoneUp())
        {
          count(kind)
          return
        }
      case 'recreate':
        cluster.deleteTopic('in')
        world.after(lastsMs / 20, createAgain)
        {
          count(kind)
          return
        }
    }
  }
  for (let left = options.faultCount; left > 0; left--) {
    const kind = oneOf(random, options.faults)
    world.after(between(random, 1_000, busyMs), () => act(kind))
  }
  return done
}

const execute = async (seed: number) => {
  const { drain, debug, trace, untilMs } = options
  const world = createWorld(seed, { drain, debug, trace })
  try {
    const network = createNetwork(world)
    const cluster = createCluster(world, network, {
      brokers: options.brokers,
      topics: { in: 2, out: 2, dead: 1 },
      times: { lateMarkersOneIn: 7 },
    })
    const log = (text: string): void => world.log(text)
    const connect = (): InstanceType<typeof Kafka> =>
      new Kafka({
        clientId: 'toy',
        brokers: [...cluster.addresses],
        socketFactory: network.socketFactory as never,
        connectionTimeout: 5_000,
        requestTimeout: 30_000,
        logLevel: logLevel.WARN,
        logCreator: () => (entry) => log(`${entry.namespace} ${entry.log.message} ${String(entry.log['error'] ?? '')}`),
      })
    const main = (own: Process): Promise<unknown> =>
      options.program === 'runner'
        ? startRunner(runnerOptions(cluster, network.socketFactory, own, log)).ended
        : runToy(own, { connect, isTransactional: options.isTransactional, groupId: 'g', log })
    const fed = feed(world, cluster)
    const exits: string[] = []
    const running = new Map<string, Process>()
    const start = (name: string): void => {
      const own = world.start(name, main)
      running.set(name, own)
      own.onExit((exit) => {
        const error = 'error' in exit ? String(exit.error instanceof Error ? exit.error.stack : exit.error) : ''
        if (exit.how !== 'killed') exits.push(`${own.label} ${exit.how} ${JSON.stringify('value' in exit ? exit.value : '')} ${error}`) // prettier-ignore
        world.after(500, () => start(name))
      })
    }
    start('w1')
    start('w2')
    const faults = disturb({ world, cluster, network }, running)
    const began = wallMs()
    await world.run(untilMs)
    const ms = wallMs() - began
    world.close()
    const seen = new Map<number, number>()
    for (const { value } of await readTopic(cluster, 'out')) {
      const n = Number(/"n":(-?\d+)/.exec(String(value))?.[1])
      seen.set(n, (seen.get(n) ?? 0) + 1)
    }
    // What was in a topic that was deleted may be gone.
    const wanted = fed.filter(({ topicId }) => topicId === cluster.topicId('in'))
    return {
      seed,
      hash: world.digest(),
      ms,
      events: world.events,
      fed: wanted.length,
      missing: wanted.filter(({ n }) => !seen.has(n)).length,
      firstMissing: wanted.find(({ n }) => !seen.has(n))?.n,
      repeated: [...seen.values()].filter((times) => times > 1).length,
      aborted: seen.get(-1) ?? 0,
      exits,
      faults: Object.fromEntries(faults),
      paths: Object.fromEntries([...cluster.paths].filter(([, times]) => times > 0)),
      timeline: world.timeline(),
    }
  } finally {
    world.close()
  }
}

/** The runner with a pipeline that annotates nothing. */
const runnerOptions = (
  cluster: Cluster,
  sockets: unknown,
  own: Process,
  log: (text: string) => void,
): Parameters<typeof startRunner>[0] => {
  const settings = {
    brokers: cluster.addresses,
    clientId: own.label,
    groupId: 'g',
    input: { topics: ['in'], pattern: '', start: 'earliest' },
    sockets,
    output: { topic: 'out', partitionBy: 'input', compression: 'none' },
    deadLetterTopic: 'dead',
    delivery: options.isTransactional ? 'exactly-once' : 'at-least-once',
    transactionalIdPrefix: 'tw',
    tls: { enabled: false },
    sasl: { mechanism: 'none' },
    limits: {
      chunkEvents: 500,
      chunkBytes: 524_288,
      sendBytes: 700_000,
      chunkDeadlineMs: 120_000,
      behindEvents: 5_000,
      concurrentPartitions: 8,
      pendingEvents: 500_000,
      refreshMs: 60_000,
      drainMs: 10_000,
      sessionTimeoutMs: 6_000,
    },
  }
  const annotate = ({ bytes }: { readonly bytes: Buffer }) => {
    const annotation = { schema_version: 1, status: 'skipped', verdict: 'unknown' }
    const annotationText = (): string => JSON.stringify(annotation)
    return { annotation, annotationText, bytes: () => bytes }
  }
  const pipeline = (
    chunk: readonly { readonly bytes: Buffer }[],
    use: (event: object, place: number) => void,
  ): boolean => {
    for (const [place, event] of chunk.entries()) use(annotate(event), place)
    return true
  }
  return {
    settings,
    placement: 'json',
    key: 'threatweave',
    pipeline,
    waitOf: () => ({ kind: 'live', turn: () => undefined }),
    now: Date.now,
    signal: new AbortController().signal,
    emit: (event: object) => log(`emit ${JSON.stringify(event)}`),
  } as unknown as Parameters<typeof startRunner>[0]
}

// Written at once: a pipe loses what is left in memory when the process ends.
for (const seed of options.seeds) writeSync(1, `${JSON.stringify(await execute(seed))}\n`)
process.exit(0)

// The scenario of one seed as plain data: worker settings, input events and faults.
import { below, between, createRandom, oneOf, type Random } from './world.js'
import type { ProviderMood } from './provider.js'
import { drawReplay, type ReplayScenario } from './replay-scenario.js'

/** Requests that can trigger a fault: points at which delivery makes decisions. */
export const requestKinds = [
  'Produce',
  'Fetch',
  'OffsetCommit',
  'OffsetFetch',
  'FindCoordinator',
  'JoinGroup',
  'SyncGroup',
  'Heartbeat',
  'InitProducerId',
  'AddPartitionsToTxn',
  'AddOffsetsToTxn',
  'TxnOffsetCommit',
  'EndTxn',
  'ListOffsets',
  'Metadata',
] as const
/** Only a replay creates topics. */
export type RequestKind = (typeof requestKinds)[number] | 'CreateTopics' | 'DescribeConfigs'

/**
 * When a fault happens: at a time, or at the nth request of a kind from any worker or the replay, before or after the broker applies it.
 */
export type Trigger =
  | { readonly atMs: number }
  | {
      readonly by?: 'replay'
      readonly request: RequestKind
      readonly nth: number
      readonly when: 'before' | 'after'
      /** Earlier requests are not counted. */
      readonly fromMs: number
    }

/** The topics that workers write to. */
const attachmentTopics = ['alerts', 'corrections', 'sightings'] as const
const writtenTopics = ['output', 'dead', 'alerts', 'corrections', 'sightings'] as const

/** `worker`: its number; for faults triggered by a request, its sender is used instead. */
export type Act =
  | { readonly kind: 'kill'; readonly worker: number; readonly againMs: number }
  | { readonly kind: 'stop'; readonly worker: number; readonly againMs: number }
  | { readonly kind: 'pause'; readonly worker: number; readonly forMs: number }
  | { readonly kind: 'lose_answer' }
  | { readonly kind: 'cut'; readonly worker: number }
  | { readonly kind: 'broker_away'; readonly broker: number; readonly forMs: number }
  /** The group's coordinator crashes as soon as it has the offsets of a transaction that is being completed. */
  | { readonly kind: 'coordinator_dies'; readonly forMs: number }
  | { readonly kind: 'all_brokers_away'; readonly forMs: number }
  | { readonly kind: 'move_leaders' }
  | { readonly kind: 'move_coordinators' }
  | { readonly kind: 'rolling_restart'; readonly eachMs: number }
  | { readonly kind: 'recreate_input'; readonly events: number; readonly whileStopped: boolean }
  | { readonly kind: 'add_partition' }
  | { readonly kind: 'delete_offsets' }
  | { readonly kind: 'delete_records'; readonly share: number }
  | { readonly kind: 'provider'; readonly mood: Exclude<ProviderMood, 'well'>; readonly forMs: number }
  | {
      readonly kind: 'feed_gains'
      readonly address: string
      /** Without a port, the entry covers all ports. */
      readonly port?: number
    }
  | { readonly kind: 'deny'; readonly topic: (typeof writtenTopics)[number]; readonly forMs: number }
  | {
      readonly kind: 'shrink'
      readonly topic: (typeof attachmentTopics)[number]
      readonly bytes: number
      /** Without this, permanently. */
      readonly forMs?: number
    }
  | { readonly kind: 'second_group' }
  | ReplayAct

/** Faults of the replay's process; `replay_second` starts another one with the same id while it is paused. */
export type ReplayAct =
  | { readonly kind: 'replay_kill'; readonly againMs: number }
  | { readonly kind: 'replay_stop'; readonly againMs: number }
  | { readonly kind: 'replay_pause'; readonly forMs: number }
  | { readonly kind: 'replay_cut' }
  | { readonly kind: 'replay_second'; readonly pausedMs: number }

export type Fault = { readonly on: Trigger; readonly act: Act }

/** A JSON event. */
export type Shown = {
  readonly n: number
  /** For events with a URL: the value in the annotation, either the listed URL or the host. */
  readonly address: string
  /** The address to which a name in the event resolves. */
  readonly also?: string
  /** The port of `address`, if the event has it. */
  readonly port?: number
  /** The path of the URL in the event. */
  readonly path?: string
}

/** An input record. Events are numbered so that they can be identified in the output. */
export type InputRecord =
  | ({ readonly kind: 'event' } & Shown)
  | { readonly kind: 'text'; readonly n: number; readonly address: string }
  | { readonly kind: 'batch'; readonly members: readonly Shown[] }
  | { readonly kind: 'tombstone'; readonly n: number }
  | { readonly kind: 'large'; readonly n: number; readonly address: string }

/** Records that one producer writes together. */
export type Wave = {
  readonly atMs: number
  readonly partition: number
  readonly form: 'plain' | 'gzip' | 'committed' | 'aborted'
  readonly records: readonly InputRecord[]
}

export type Scenario = {
  readonly seed: number
  readonly delivery: 'at-least-once' | 'exactly-once'
  readonly brokers: number
  readonly partitions: number
  readonly outputPartitions: number
  readonly partitionBy: 'input' | 'key'
  readonly batches: 'inside' | 'split'
  readonly mode: 'live' | 'complete'
  /** Start time of each worker. */
  readonly workersMs: readonly number[]
  readonly alerts: boolean
  /** The window in which a rule raises one alert per indicator; without it, every match raises one. */
  readonly suppressSeconds?: number
  readonly corrections: boolean
  readonly sightings: boolean
  /** Whether paid answers are shared; off by default. */
  readonly verdicts?: boolean
  /** Whether lists have URLs and entries with ports, and events have ports and URLs; off by default. */
  readonly narrow?: boolean
  readonly deadlineMs: number
  readonly concurrency: number
  /** Calls per process; unlimited by default. A restarted process has a new budget. */
  readonly perDay?: number
  readonly latencyMs: readonly [number, number]
  readonly waves: readonly Wave[]
  readonly replay: ReplayScenario | undefined
  readonly faults: readonly Fault[]
}

export const addresses = Array.from({ length: 40 }, (_, nth) => `203.0.113.${nth + 1}`)
/** Addresses that the provider calls malicious throughout. */
export const maliciousAtProvider: ReadonlySet<string> = new Set(addresses.filter((_, nth) => nth % 7 === 3))
/** In the feed from the start. */
export const listedAddresses: readonly string[] = addresses.filter((_, nth) => nth % 9 === 4)
/** Addresses that a feed may gain. */
const gainable = addresses.filter(
  (address, nth) => nth % 5 === 0 && !maliciousAtProvider.has(address) && !listedAddresses.includes(address),
)
const listedPort = 443
const otherPort = 22
/** In the feed from the start, with a port, in scenarios with narrow lists. */
const listedWithPort: readonly string[] = addresses.filter((_, nth) => nth % 9 === 7 && nth % 5 > 0)
const urlHost = 'files.example.net'
const listedPath = '/drop/a.exe'
const listedUrl = `https://${urlHost}${listedPath}`
export const narrowEntries: readonly string[] = [
  ...listedWithPort.map((address) => `${address}:${listedPort}`),
  listedUrl,
]

type PortShown = {
  readonly address?: string | undefined
  readonly also?: string | undefined
  readonly port?: number | undefined
}

/** Whether an event has the port of an entry. Answers of name servers have no port and always match. */
export const isAtPort = ({ address, also, port }: PortShown, about: string, listed: number): boolean =>
  also === about || (address === about && port === listed)

/** Whether the initial feed lists the address or URL in the event. */
export const isListedIn = ({ narrow }: Pick<Scenario, 'narrow'>, event: PortShown, about: string): boolean =>
  listedAddresses.includes(about) ||
  (narrow === true && (about === listedUrl || (listedWithPort.includes(about) && isAtPort(event, about, listedPort))))

/** Whether a feed entry covers the address or host, but not the port or URL in the event. */
export const isListedOtherwise = (scenario: Pick<Scenario, 'narrow'>, event: PortShown, about: string): boolean =>
  scenario.narrow === true &&
  (about === urlHost || listedWithPort.includes(about)) &&
  !isListedIn(scenario, event, about)

/** All waves and faults happen before this, except for long outages. */
const busyMs = 30_000

export const drawScenario = (seed: number): Scenario => {
  const random = createRandom(seed, 'scenario')
  const chance = (share: number): boolean => random() < share
  const brokers = chance(0.6) ? 3 : 1
  const partitions = 1 + below(random, 3)
  const alerts = chance(0.85)
  const corrections = chance(0.75)
  const workers = 1 + below(random, 3)
  const mode = chance(0.1) ? 'complete' : 'live'
  const base = {
    seed,
    delivery: chance(0.6) ? 'exactly-once' : 'at-least-once',
    brokers,
    partitions,
    outputPartitions: 1 + below(random, 3),
    partitionBy: chance(0.35) ? 'key' : 'input',
    batches: chance(0.4) ? 'split' : 'inside',
    mode,
    workersMs: Array.from({ length: workers }, (_, nth) => (nth === 0 ? 0 : Math.floor(between(random, 0, 20_000)))),
    alerts,
    corrections,
    sightings: (alerts || corrections) && chance(0.8),
    deadlineMs: oneOf(random, [0, 20, 100, 400]),
    concurrency: oneOf(random, [1, 2, 8]),
    latencyMs: oneOf(random, [
      [1, 10],
      [20, 300],
      [300, 3_000],
    ] as const),
    waves: withNarrow(
      seed,
      drawWaves(createRandom(seed, 'waves'), createRandom(seed, 'further addresses'), partitions),
    ),
  } as const
  const { replay, faults } = drawReplay(createRandom(seed, 'replay'), base)
  // Alerts of replays are compared one by one, so they need every match.
  const isSuppressing = alerts && !replay && createRandom(seed, 'suppression')() < 0.4
  return {
    ...base,
    ...(isSuppressing && { suppressSeconds: 20 }),
    ...(createRandom(seed, 'verdicts')() < 0.3 && { verdicts: true }),
    ...(isNarrow(seed) && { narrow: true }),
    ...(mode === 'live' && !replay && drawBudget(seed)),
    replay,
    faults: withPorts(
      seed,
      withSecondGroup(seed, base, [
        ...drawFaults(createRandom(seed, 'faults'), base),
        ...drawLongOutage(seed, base),
        ...drawDenials(seed),
        ...drawShrunk(seed),
        ...drawFreeze(seed, base),
        ...drawDeadCoordinator(seed, base),
        ...faults,
      ]),
    ),
  }
}

const isNarrow = (seed: number): boolean => createRandom(seed, 'narrow')() < 0.35

/** Adds ports or URLs to events. */
const withNarrow = (seed: number, waves: readonly Wave[]): readonly Wave[] => {
  if (!isNarrow(seed)) return waves
  const random = createRandom(seed, 'ports')
  const narrowed = (shown: Shown): Shown => {
    const draw = random()
    if (draw < 0.1) return { n: shown.n, address: listedUrl, path: `${listedPath}?id=${shown.n}` }
    if (draw < 0.15) return { n: shown.n, address: urlHost, path: '/other' }
    return draw < 0.3 ? shown : { ...shown, port: draw < 0.7 ? listedPort : otherPort }
  }
  const recordOf = (record: InputRecord): InputRecord => {
    if (record.kind === 'event') return { kind: 'event', ...narrowed(record) }
    return record.kind === 'batch' ? { ...record, members: record.members.map(narrowed) } : record
  }
  return waves.map((wave) => ({ ...wave, records: wave.records.map(recordOf) }))
}

/** Adds a port to half of the entries that a feed gains. */
const withPorts = (seed: number, faults: readonly Fault[]): readonly Fault[] => {
  if (!isNarrow(seed)) return faults
  const random = createRandom(seed, 'gained ports')
  return faults.map(({ on, act }) =>
    act.kind === 'feed_gains' && random() < 0.5 ? { on, act: { ...act, port: listedPort } } : { on, act },
  )
}

/** Some scenarios have a small budget. */
const drawBudget = (seed: number): Pick<Scenario, 'perDay'> => {
  const random = createRandom(seed, 'budget')
  return random() < 0.12 ? { perDay: 1 + below(random, 12) } : {}
}

/** In a few scenarios, another group starts with our sightings topic, which must fail while one of our workers runs. */
const withSecondGroup = (
  seed: number,
  { sightings }: Pick<Scenario, 'sightings'>,
  faults: readonly Fault[],
): readonly Fault[] => {
  const random = createRandom(seed, 'second group')
  if (!sightings || random() >= 0.03) return faults
  const others = faults.filter(({ act }) => leavesWorkers.has(act.kind))
  return [...others, { on: { atMs: Math.floor(between(random, 12_000, busyMs)) }, act: { kind: 'second_group' } }]
}
const leavesWorkers: ReadonlySet<Act['kind']> = new Set(['cut', 'provider', 'feed_gains', 'delete_records'])

const drawWaves = (random: Random, further: Random, partitions: number): readonly Wave[] => {
  const waves: Wave[] = []
  let n = 0
  const address = (): string => oneOf(random, addresses)
  /** In half of the scenarios some events have two addresses. */
  const share = further() < 0.5 ? 0 : 0.4
  const shown = (): Shown => {
    const one = { n: n++, address: address() }
    const also = oneOf(further, addresses)
    return further() < share && also !== one.address ? { ...one, also } : one
  }
  const record = (): InputRecord => {
    const draw = random()
    if (draw < 0.06) return { kind: 'tombstone', n: n++ }
    if (draw < 0.16)
      return {
        kind: 'batch',
        members: Array.from({ length: 2 + below(random, 4) }, shown),
      }
    if (draw < 0.24) return { kind: 'text', n: n++, address: address() }
    if (draw < 0.26) return { kind: 'large', n: n++, address: address() }
    return { kind: 'event', ...shown() }
  }
  const count = 3 + below(random, 14)
  for (let nth = 0; nth < count; nth++) {
    const draw = random()
    waves.push({
      atMs: Math.floor(nth === 0 ? 0 : between(random, 0, busyMs)),
      partition: below(random, partitions),
      form: draw < 0.6 ? 'plain' : draw < 0.75 ? 'gzip' : draw < 0.9 ? 'committed' : 'aborted',
      records: Array.from({ length: 1 + below(random, draw < 0.2 ? 60 : 15) }, record),
    })
  }
  return waves.toSorted((one, other) => one.atMs - other.atMs)
}

type Known = Pick<Scenario, 'brokers' | 'delivery' | 'workersMs' | 'alerts' | 'partitions'>

const drawFaults = (random: Random, known: Known): readonly Fault[] => {
  const count = 1 + below(random, 6)
  const faults = Array.from({ length: count }, (): Fault => {
    const act = drawAct(random, known)
    return { on: drawTrigger(random, act, known), act }
  })
  // Deleted offsets and recreated topics change all other expectations, so each scenario has at most one.
  return faults.filter(
    ({ act }, nth) => !onlyOnce.has(act.kind) || faults.findIndex((other) => onlyOnce.has(other.act.kind)) === nth,
  )
}

/** In a few seeds all brokers are down for minutes after a write or commit, so that follow-ups are interrupted as often as chunks. */
const drawLongOutage = (seed: number, { delivery }: Known): readonly Fault[] => {
  const random = createRandom(seed, 'long outage')
  const draw = random()
  if (draw >= 0.06) return []
  const on: Trigger = {
    request: draw >= 0.03 && delivery === 'exactly-once' ? 'EndTxn' : 'Produce',
    nth: 1 + below(random, 25),
    when: oneOf(random, ['before', 'after'] as const),
    fromMs: Math.floor(between(random, 0, busyMs * 0.5)),
  }
  return [{ on, act: { kind: 'all_brokers_away', forMs: Math.floor(between(random, 60_000, 300_000)) } }]
}

/** In some seeds, an operator denies writes to a topic for a while. */
const drawDenials = (seed: number): readonly Fault[] => {
  const random = createRandom(seed, 'denials')
  if (random() >= 0.12) return []
  return Array.from({ length: 1 + below(random, 2) }, () => ({
    on: { atMs: Math.floor(between(random, 500, busyMs)) },
    act: { kind: 'deny', topic: oneOf(random, writtenTopics), forMs: Math.floor(between(random, 500, 20_000)) },
  }))
}

/** In a few seeds, a topic accepts only small batches, permanently or for a while. */
const drawShrunk = (seed: number): readonly Fault[] => {
  const random = createRandom(seed, 'shrunk')
  if (random() >= 0.08) return []
  const act = { topic: oneOf(random, attachmentTopics), bytes: 100 + below(random, 2_000) }
  const on = { atMs: Math.floor(between(random, 0, busyMs)) }
  const forMs = Math.floor(between(random, 500, 20_000))
  const isForGood = random() < 0.5
  return [{ on, act: { kind: 'shrink', ...act, ...(!isForGood && { forMs }) } }]
}

/** In a few seeds, a process is paused for longer than the timeout of a provider call. */
const drawFreeze = (seed: number, { workersMs }: Known): readonly Fault[] => {
  const random = createRandom(seed, 'freeze')
  if (random() >= 0.04) return []
  const act = { kind: 'pause', worker: below(random, workersMs.length), forMs: Math.floor(between(random, 31_000, 60_000)) } as const // prettier-ignore
  return [{ on: { atMs: Math.floor(between(random, 500, busyMs)) }, act }]
}

/** In some seeds, the group's coordinator crashes when a transaction is prepared and only it knows the offsets. */
const drawDeadCoordinator = (seed: number, { delivery, brokers }: Known): readonly Fault[] => {
  const random = createRandom(seed, 'dead coordinator')
  if (delivery !== 'exactly-once' || brokers === 1 || random() >= 0.1) return []
  return Array.from({ length: 1 + below(random, 3) }, () => ({
    on: { atMs: Math.floor(between(random, 500, busyMs)) },
    act: { kind: 'coordinator_dies', forMs: Math.floor(between(random, 500, 20_000)) },
  }))
}

const onlyOnce: ReadonlySet<Act['kind']> = new Set(['recreate_input', 'delete_offsets', 'delete_records'])

const drawTrigger = (random: Random, act: Act, { delivery }: Known): Trigger => {
  const atRequest = act.kind === 'lose_answer' || (isSudden.has(act.kind) && random() < 0.6)
  if (!atRequest) return { atMs: Math.floor(between(random, 500, busyMs)) }
  const kinds = requestKinds.filter((kind) => delivery === 'exactly-once' || !isTransactional.test(kind))
  return {
    request: oneOf(random, kinds),
    nth: 1 + below(random, random() < 0.5 ? 4 : 25),
    when: act.kind === 'lose_answer' ? 'after' : oneOf(random, ['before', 'after'] as const),
    fromMs: Math.floor(between(random, 0, busyMs * 0.8)),
  }
}

const isTransactional = /Txn/
/** Faults whose effect depends on the exact moment. */
const isSudden: ReadonlySet<Act['kind']> = new Set([
  'kill',
  'stop',
  'pause',
  'cut',
  'broker_away',
  'all_brokers_away',
  'move_leaders',
  'move_coordinators',
  'recreate_input',
])

const drawAct = (random: Random, { brokers, workersMs, alerts }: Known): Act => {
  const worker = below(random, workersMs.length)
  const broker = below(random, brokers)
  const againMs = Math.floor(between(random, 100, 8_000))
  const forMs = Math.floor(between(random, 200, 15_000))
  const several = brokers > 1
  const acts: readonly (readonly [weight: number, act: () => Act])[] = [
    [6, () => ({ kind: 'kill', worker, againMs })],
    [3, () => ({ kind: 'stop', worker, againMs })],
    [4, () => ({ kind: 'pause', worker, forMs: Math.floor(between(random, 1_000, 20_000)) })],
    [6, () => ({ kind: 'lose_answer' })],
    [3, () => ({ kind: 'cut', worker })],
    [3, () => ({ kind: 'broker_away', broker, forMs })],
    [2, () => ({ kind: 'all_brokers_away', forMs: random() < 0.05 ? 3_600_000 : forMs * 2 })],
    [several ? 4 : 0, () => ({ kind: 'move_leaders' })],
    [several ? 3 : 0, () => ({ kind: 'move_coordinators' })],
    [several ? 3 : 0, () => ({ kind: 'rolling_restart', eachMs: Math.floor(between(random, 500, 4_000)) })],
    [2, () => ({ kind: 'recreate_input', events: oneOf(random, [1, 10, 80]), whileStopped: random() < 0.4 })],
    [1, () => ({ kind: 'add_partition' })],
    [0.7, () => ({ kind: 'delete_offsets' })],
    [1, () => ({ kind: 'delete_records', share: random() })],
    [4, () => ({ kind: 'provider', mood: oneOf(random, ['slow', 'failing', 'cutting', 'hanging'] as const), forMs })],
    [alerts ? 6 : 0, () => ({ kind: 'feed_gains', address: oneOf(random, gainable) })],
  ]
  let left = random() * acts.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, act] of acts) if ((left -= weight) < 0) return act()
  return { kind: 'cut', worker }
}

// Promise: what leaves without an answer for a reason that passes is corrected, and raises its alert, when the answer comes; also if the worker
// was stopped or killed meanwhile. Every such reason is produced here. Prints a table: how many events left with each, and what followed.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners, type Message } from 'kafkajs'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import type { Alert } from '../../../src/alerts/alert.js'
import type { Reason } from '../../../src/domain/reason.js'
import { client, makeTopic, makeTopics, readAmongAborted, type Names, type Read } from '../../support/kafka.js'
import { limitsEnv, type LimitChanges } from '../../support/limits.js'
import { startRegistry } from '../../support/registry-server.js'
import { endWorkers, startProgram, type Worker } from '../../support/worker.js'

afterAll(endWorkers)

const partitions = 2
const addresses = Array.from({ length: 20 }, (_, nth) => `203.0.113.${nth + 1}`)
const isMalicious = (address: string | null): boolean => addresses.indexOf(address ?? '') % 3 === 0

// ---- a provider that is in trouble until it is well ----

type Trouble = 'none' | 'holds' | 'failing' | 'hanging' | 'throttling' | 'busy'

type Provider = {
  readonly url: string
  /** How often it answered whoever has this key. */
  readonly answers: (key: string) => number
  readonly recover: () => void
}

const startProvider = async (trouble: Trouble): Promise<Provider> => {
  const keys: unknown[] = []
  const held: (() => void)[] = []
  let now = trouble
  const say = (response: ServerResponse, http: number, body: object, headers: Record<string, string> = {}): void => {
    response.writeHead(http, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const ip = new URL(request.url ?? '/', 'http://localhost').searchParams.get('ip')
    if (now === 'none') {
      keys.push(...Object.values(request.headers))
      say(response, 200, { ip, is_malicious: isMalicious(ip), status: 200 })
    } else if (now === 'holds') held.push(() => answer(request, response))
    else if (now === 'failing') say(response, 500, { status: 500, message: 'internal server error' })
    // Nothing says how long to stay away: the next lookup is tried.
    else if (now === 'throttling')
      say(response, 429, { status: 429, message: 'too many requests' }, { 'retry-after': '0' })
    else if (now === 'busy')
      say(response, 200, { status: 400, message: 'unable to call api at the same time' }, { 'retry-after': '0' })
  }
  const server = createServer(answer)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers: (key) => keys.filter((one) => one === key).length,
    recover: () => {
      now = 'none'
      for (const one of held.splice(0)) one()
    },
  }
}

// ---- what makes events leave with each reason ----

type Situation = {
  readonly reasons: readonly Reason[]
  readonly trouble: Trouble
  readonly deadlineMs: number
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: LimitChanges
  /** How often every address is sent; the next time when the events before are out. */
  readonly waves?: number
  /** The schema of the events cannot be read. */
  readonly isUnread?: true
  /** Another group, with a budget of its own, asks about the same and shares what it paid for. */
  readonly isPaidByOthers?: true
}

const never = 1_000_000
const situations: readonly Situation[] = [
  { reasons: ['pending'], trouble: 'holds', deadlineMs: 0 },
  { reasons: ['deadline'], trouble: 'holds', deadlineMs: 200 },
  {
    reasons: ['unavailable', 'breaker_open', 'cooling_down'],
    trouble: 'failing',
    deadlineMs: 60_000,
    limits: {
      admission: { breakerFailures: 8, breakerMs: 20_000, maxBreakerMs: 20_000 },
      cooldown: { firstSeconds: 20, maxSeconds: 20 },
    },
    waves: 2,
  },
  {
    reasons: ['timeout'],
    trouble: 'hanging',
    deadlineMs: 60_000,
    limits: { admission: { breakerFailures: never }, client: { headersTimeoutMs: 200 }, cooldown: { firstSeconds: 1 } },
  },
  { reasons: ['throttled'], trouble: 'throttling', deadlineMs: 60_000 },
  { reasons: ['busy'], trouble: 'busy', deadlineMs: 60_000 },
  { reasons: ['queue_full'], trouble: 'holds', deadlineMs: 200, limits: { admission: { maxWaiting: 4 } } },
  {
    reasons: ['budget_spent'],
    trouble: 'none',
    deadlineMs: 60_000,
    env: { THREATWEAVE_ADMIT_PER_DAY: '4' },
    isPaidByOthers: true,
  },
  { reasons: ['no_schema'], trouble: 'none', deadlineMs: 100, isUnread: true },
]

const interruptions = ['none', 'SIGTERM', 'SIGKILL'] as const
type Interruption = (typeof interruptions)[number]

// ---- what became of the events ----

type Annotation = { readonly enrichment_id?: string; readonly reason?: Reason; readonly verdict: string }

const annotationOf = ({ value, headers }: Read): Annotation => {
  const inHeader = headers.threatweave
  return inHeader === undefined
    ? (JSON.parse(String(value)) as { threatweave: Annotation }).threatweave
    : (JSON.parse(String(inHeader)) as Annotation)
}
const passing: ReadonlySet<Reason | undefined> = new Set<Reason>(situations.flatMap(({ reasons }) => reasons))

const addressIn = ({ value }: Read): string =>
  /"src_ip":"([^"]+)"/.exec(String(value))?.[1] ?? `203.0.113.${value?.at(-1)}`

const alertedBy = (alerts: readonly Read[]): ReadonlySet<string> =>
  new Set(
    alerts.flatMap(({ value }) => {
      const { origin, origins } = (JSON.parse(String(value)) as Alert).threatweave
      return origins ?? [origin]
    }),
  )
const correctedBy = (corrections: readonly Read[]): ReadonlySet<string | undefined> =>
  new Set(
    corrections
      .map(annotationOf)
      .filter(({ reason }) => !passing.has(reason))
      .map((one) => one.enrichment_id),
  )

type Row = {
  readonly reason: string
  readonly interruption: Interruption
  readonly left: number
  readonly corrected: number
  readonly malicious: number
  readonly alerted: number
  readonly counted: number
}

const rowsOf = (
  left: readonly Read[],
  corrections: readonly Read[],
  alerts: readonly Read[],
  counted: number,
  interruption: Interruption,
): readonly Row[] => {
  const [corrected, alerted] = [correctedBy(corrections), alertedBy(alerts)]
  return [...new Set(left.map((record) => annotationOf(record).reason))].map((reason) => {
    const own = left.filter((record) => annotationOf(record).reason === reason)
    const accused = own.filter((record) => isMalicious(addressIn(record)))
    const idOf = (record: Read): string => annotationOf(record).enrichment_id ?? ''
    return {
      reason: reason ?? '',
      interruption,
      left: own.length,
      corrected: own.filter((record) => corrected.has(idOf(record))).length,
      malicious: accused.length,
      alerted: accused.filter((record) => alerted.has(idOf(record))).length,
      counted,
    }
  })
}

const print = (rows: readonly Row[]): void => {
  const head = ['reason', 'interruption', 'left', 'corrected', 'malicious', 'alerted', 'counted'] as const
  const lines = [head, ...rows.map((row) => head.map((name) => String(row[name])))]
  process.stdout.write(`${lines.map((line) => line.map((cell) => cell.padEnd(14)).join('')).join('\n')}\n`)
}

// ---- one situation ----

const eventsOf = (situation: Situation): readonly Message[] =>
  addresses.flatMap((address, nth) =>
    Array.from({ length: partitions }, (_, partition) => ({
      partition,
      value: situation.isUnread
        ? Buffer.from([0, 0, 0, 0, 5, 8, ...address.split('.').map(Number)])
        : JSON.stringify({ src_ip: address, dst_ip: `10.0.${partition}.${nth}`, action: 'allowed' }),
    })),
  )

const send = async (topic: string, messages: readonly Message[]): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  await producer.send({ topic, messages: [...messages] })
  await producer.disconnect()
}

const makeAttachments = async (): Promise<Record<'alerts' | 'corrections' | 'sightings' | 'verdicts', string>> => {
  const id = randomUUID().slice(0, 8)
  const [alerts, corrections, sightings, verdicts] = ['alerts', 'corrections', 'sightings', 'verdicts'].map(
    (name) => `${name}-${id}`,
  ) as [string, string, string, string]
  await makeTopic(alerts, 1)
  await makeTopic(corrections, partitions)
  await makeTopic(sightings, partitions, undefined, { 'cleanup.policy': 'compact,delete' })
  await makeTopic(verdicts, 1, undefined, { 'message.timestamp.type': 'LogAppendTime', 'retention.ms': '2592000000' })
  return { alerts, corrections, sightings, verdicts }
}

const isOut = (records: readonly Read[], count: number): boolean =>
  new Set(records.map(({ partition, offset }) => `${partition}/${offset}`)).size >= count

const follow = async (situation: Situation, interruption: Interruption): Promise<readonly Row[]> => {
  const { trouble, deadlineMs, limits = {}, waves = 1 } = situation
  const provider = await startProvider(trouble)
  const registry = situation.isUnread ? await startRegistry() : undefined
  await registry?.close()
  const names = await makeTopics({ partitions })
  const topics = await makeAttachments()
  const env = {
    // Each failure is final for the event.
    ...limitsEnv({ retry: { times: 0 }, ...limits }),
    THREATWEAVE_ENRICH_DEADLINE_MS: String(deadlineMs),
    THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
    THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '1',
    THREATWEAVE_ALERTS_BUNDLED: 'false',
    THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: topics.corrections,
    THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: topics.sightings,
    THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '6000',
    ...(situation.isPaidByOthers && { THREATWEAVE_KAFKA_VERDICTS_TOPIC: topics.verdicts }),
    ...(registry && {
      THREATWEAVE_KAFKA_INPUT_FORMAT: 'registry',
      THREATWEAVE_KAFKA_REGISTRY_URL: registry.url,
    }),
    ...situation.env,
  }
  const start = (of: Names = names, own: Readonly<Record<string, string>> = {}): Worker =>
    startProgram({ ...of, alerts: topics.alerts }, { ...env, ...own })

  const first = start()
  await first.said('group_joined', 600_000)
  const messages = eventsOf(situation)
  for (let wave = 1; wave <= waves; wave++) {
    await send(names.input, messages)
    await readAmongAborted(names.output, (all) => isOut(all, wave * messages.length))
  }
  let last = first
  if (interruption !== 'none') {
    first.kill(interruption)
    await first.exit
    last = start()
    await last.said('group_joined', 600_000)
    const restored = (): number => last.events.filter(({ event }) => event === 'sightings_restored').length
    while (restored() < partitions) await sleep(50)
  }
  // The trouble is over.
  provider.recover()
  if (registry) (await startRegistry(registry.port)).put(5, packed)
  if (situation.isPaidByOthers) {
    const others = await makeTopics({ partitions })
    await makeTopic(`${others.output}-alerts`, 1)
    await send(others.input, messages)
    const second = start(others, {
      THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
      THREATWEAVE_INTEL_SERVICE_API_KEY: 'other-key',
      THREATWEAVE_KAFKA_ALERTS_TOPIC: `${others.output}-alerts`,
      THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: '',
      THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: '',
    })
    await readAmongAborted(others.output, (all) => isOut(all, messages.length))
    second.kill('SIGTERM')
    await second.exit
  }

  const left = (await readAmongAborted(names.output, (all) => isOut(all, waves * messages.length))).filter((record) =>
    passing.has(annotationOf(record).reason),
  )
  const counted = (): number =>
    [first, last]
      .filter((worker, nth, all) => all.indexOf(worker) === nth)
      .flatMap(({ events }) => events)
      .filter(({ event }) => event === 'late_events_dropped')
      .reduce((sum, { events }) => sum + Number(events), 0)
  const accused = left.filter((record) => isMalicious(addressIn(record)))
  const corrections = await readAmongAborted(
    topics.corrections,
    (all) => correctedBy(all).size + counted() >= left.length,
  )
  const alerts = await readAmongAborted(topics.alerts, (all) => {
    const alerted = alertedBy(all)
    return accused.every((record) => alerted.has(annotationOf(record).enrichment_id ?? ''))
  })
  last.kill('SIGTERM')
  await last.exit
  if (situation.isPaidByOthers) {
    expect(provider.answers('sample-key')).toBe(4)
    expect(provider.answers('other-key')).toBeGreaterThan(0)
  }
  return rowsOf(left, corrections, alerts, counted(), interruption)
}

const packed = { schema: '{"type":"record","name":"P","fields":[{"name":"src_ip","type":"bytes"}]}' }

it.each(situations.map((situation) => [situation.reasons.join(', '), situation] as const))(
  'events that left with %s are corrected and raise their alerts, with and without a restart',
  { timeout: 1_800_000 },
  async (_, situation) => {
    const rows = (await Promise.all(interruptions.map((one) => follow(situation, one)))).flat()
    print(rows)
    for (const interruption of interruptions) {
      const own = rows.filter((row) => row.interruption === interruption)
      // Some may have left with another of them: a queue has room for some.
      expect(own.map(({ reason }) => reason)).toEqual(expect.arrayContaining([...situation.reasons]))
      for (const row of own) {
        expect({ ...row, corrected: row.corrected + row.counted }).toEqual({ ...row, corrected: row.left })
        expect({ ...row, alerted: row.malicious }).toEqual(row)
      }
    }
  },
)

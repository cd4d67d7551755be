// Promise: a restart of every broker, one after the other, as an upgrade does it, ends no process, and nothing is lost, doubled or missing.
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { nodes, startCluster, type Cluster } from '../support/cluster.js'
import {
  client,
  makeTopics,
  readAmongAborted,
  report,
  soak,
  withAdmin,
  type Names,
  type Read,
} from '../support/kafka.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { alertedOrigins, endWorkers, listed, startProgram, until, type Worker } from '../support/worker.js'

const partitions = 4
/** Of the long form every fifth is a kill. */
const restarts = soak ? 20 : nodes.length

type Variant = {
  readonly delivery: 'exactly-once' | 'at-least-once'
  readonly partitionBy: 'input' | 'key'
}
const variants: readonly Variant[] = soak
  ? [
      { delivery: 'exactly-once', partitionBy: 'input' },
      { delivery: 'exactly-once', partitionBy: 'key' },
      { delivery: 'at-least-once', partitionBy: 'input' },
      { delivery: 'at-least-once', partitionBy: 'key' },
    ]
  : [
      { delivery: 'exactly-once', partitionBy: 'input' },
      { delivery: 'at-least-once', partitionBy: 'input' },
    ]

let cluster: Cluster
let provider: LookupServer

/** One in twenty addresses that nobody has asked about before; their answers arrive after their events have left. */
const addressOf = (n: number): string => `2001:db8::${n.toString(16)}`
const malicious = Array.from({ length: 5_000 }, (_, n) => addressOf(20 * n + 3))
const alerting = new Set([listed, ...malicious])

beforeAll(async () => {
  cluster = await startCluster()
  provider = await startLookupServer({ malicious, delayMs: 200 })
})
afterEach(endWorkers)
afterAll(async () => {
  await provider.close()
  await cluster.stop()
})

type Topics = Names & { readonly alerts: string; readonly corrections: string; readonly sightings: string }

const environment = (names: Topics, { delivery, partitionBy }: Variant): Readonly<Record<string, string>> => ({
  THREATWEAVE_KAFKA_BROKERS: cluster.brokers,
  THREATWEAVE_KAFKA_DELIVERY: delivery,
  THREATWEAVE_KAFKA_OUTPUT_PARTITION_BY: partitionBy,
  THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: names.corrections,
  THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: names.sightings,
  THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '10000',
  THREATWEAVE_ALERTS_BUNDLED: 'false',
  THREATWEAVE_ENRICH_DEADLINE_MS: '20',
  THREATWEAVE_OUTPUT_DETAIL: 'full',
  THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
  THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
  THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
  THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '16',
})

/** The output says when a broker took a record, so that it shows how long each event was on its way. */
const makeAll = async (variant: Variant): Promise<Topics> => {
  const made = await makeTopics({
    partitions,
    broker: cluster.brokers,
    config: { output: { 'message.timestamp.type': 'LogAppendTime' } },
  })
  const names = {
    ...made,
    alerts: `${made.output}-alerts`,
    corrections: `${made.output}-corrections`,
    sightings: `${made.output}-sightings`,
  }
  const env = {
    ...environment(names, variant),
    THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
    THREATWEAVE_KAFKA_INPUT_START: 'earliest',
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
    THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
    THREATWEAVE_KAFKA_ALERTS_TOPIC: names.alerts,
  }
  expect(await runCli(['check', '--online', '--create-topics'], { env })).toMatchObject({ code: 0 })
  return names
}

/** Writes until it is stopped. A send that a restart fails may be written or not: what counts is what is in the topic. */
const load = (topic: string): { readonly stop: () => Promise<void> } => {
  const stopped = new AbortController()
  const writing = async (): Promise<void> => {
    const producer = client(cluster.brokers).producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    for (let n = 0; !stopped.signal.aborted;) {
      const messages = Array.from({ length: 5 * partitions }, () => {
        n++
        const src_ip = n % 50 === 7 ? listed : addressOf(Math.floor(n / 4))
        return { partition: n % partitions, key: `k${n}`, value: JSON.stringify({ n, src_ip, action: 'allowed' }) }
      })
      await producer.send({ topic, messages }).catch(() => undefined) // see above
      await sleep(200)
    }
    await producer.disconnect()
  }
  const done = writing()
  return {
    stop: () => {
      stopped.abort()
      return done
    },
  }
}

const reading = { calmMs: 1_000, limitMs: 150_000 }

const read = (topic: string, enough: (records: readonly Read[]) => boolean): Promise<readonly Read[]> =>
  readAmongAborted(topic, enough, { ...reading, broker: cluster.brokers })

const countOf = async (topic: string): Promise<number> => {
  const ends = await withAdmin((admin) => admin.fetchTopicOffsets(topic), cluster.brokers)
  return ends.reduce((sum, { high }) => sum + Number(high), 0)
}

type Annotated = { readonly threatweave: { readonly enrichment_id?: string; readonly reason?: string } }
const annotationOf = ({ value }: Read): Annotated['threatweave'] => (JSON.parse(String(value)) as Annotated).threatweave
/** Where each was read. */
const idsOf = (records: readonly Read[]): readonly string[] =>
  records.map((record) => annotationOf(record).enrichment_id ?? '')
const isOpen = (record: Read): boolean => ['pending', 'deadline'].includes(annotationOf(record).reason ?? '')
const isAlerted = ({ value }: Read): boolean => {
  const { src_ip } = JSON.parse(String(value)) as { src_ip: string }
  return alerting.has(src_ip)
}

/** Of those expected: how many never came, how many came again; and those that nobody expected. */
const compare = (
  expected: readonly string[],
  found: readonly string[],
): { readonly missing: number; readonly doubled: number; readonly foreign: number } => {
  const [all, came] = [new Set(expected), new Set(found)]
  return {
    missing: [...all].filter((one) => !came.has(one)).length,
    doubled: found.length - came.size,
    foreign: [...came].filter((one) => !all.has(one)).length,
  }
}

const hasAll = (expected: readonly string[], idsIn = idsOf) => {
  const all = new Set(expected)
  let seen = 0
  return (records: readonly Read[]): boolean => {
    for (const origin of idsIn(records.slice(seen))) all.delete(origin)
    seen = records.length
    return all.size === 0
  }
}

/** How long the slowest event was on its way. */
const longest = (input: ReadonlyMap<string, Read>, output: readonly Read[]): number =>
  idsOf(output).reduce(
    (most, origin, nth) => Math.max(most, Number(output[nth]?.timestamp) - Number(input.get(origin)?.timestamp)),
    0,
  )

it.each(variants)(
  'nothing is lost, doubled or missing, and no process ends: $delivery, partitions by $partitionBy',
  { timeout: soak ? 3_600_000 : 900_000 },
  async (variant) => {
    const names = await makeAll(variant)
    const start = (): Worker => startProgram(names, environment(names, variant))
    const workers = [start(), start()]
    for (const worker of workers) await worker.said('group_joined')
    const writing = load(names.input)
    await until('both have partitions', () =>
      workers.every(({ events }) => Number(events.findLast(({ event }) => event === 'group_joined')?.partitions) > 0),
    )
    for (let n = 0; n < restarts; n++) {
      const node = nodes[n % nodes.length] as number
      await (n % 5 === 4 ? cluster.kill(node) : cluster.restart(node))
      await sleep(1_000)
    }
    await writing.stop()

    const count = await countOf(names.input)
    const input = await read(names.input, (all) => all.length >= count)
    const originOf = ({ partition, offset }: Read): string => `${names.input}/${partition}/${offset}`
    const origins = input.map(originOf)
    const output = await read(names.output, hasAll(origins))
    const alerted = input.filter(isAlerted).map(originOf)
    const alerts = await read(names.alerts, hasAll(alerted, alertedOrigins))
    const complete = new Set(idsOf(output.filter((record) => !isOpen(record))))
    const open = idsOf(output.filter(isOpen)).filter((origin) => !complete.has(origin))
    const corrections = await read(names.corrections, hasAll(open))

    const found = {
      events: compare(origins, idsOf(output)),
      alerts: compare(alerted, alertedOrigins(alerts)),
      corrections: compare(open, idsOf(corrections)),
      running: workers.map((worker) => worker.running()),
    }
    const { delivery, partitionBy } = variant
    const stallMs = longest(new Map(input.map((record) => [originOf(record), record])), output)
    const figures = { restarts, events: count, alerts: alerted.length, corrections: open.length, stallMs }
    report(`${delivery}, by ${partitionBy}: ${JSON.stringify(found)}`, figures)
    const expected = delivery === 'exactly-once' ? { missing: 0, doubled: 0, foreign: 0 } : { missing: 0 }
    expect(open.length).toBeGreaterThan(0)
    expect(found).toMatchObject({
      events: expected,
      alerts: expected,
      corrections: expected,
      running: workers.map(() => true),
    })
  },
)

// Promise: every event that left before its answer is corrected once, under the same key and id, or counted, and a replay repairs it.
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { expect, inject, it } from 'vitest'
import { runLoaded } from '../support/loaded-program.js'
import { client, makeTopic, makeTopics, readAmongAborted, type Read } from '../support/kafka.js'
import { limitsEnv } from '../support/limits.js'
import { startLookupServer } from '../support/lookup-server.js'
import { spawnRun } from '../support/spawn-run.js'

type Annotated = { readonly threatweave: { enrichment_id?: string; reason?: string; verdict: string; status: string } }

const annotationOf = ({ value }: Read): Annotated['threatweave'] => (JSON.parse(String(value)) as Annotated).threatweave

const isPending = (record: Read): boolean => ['pending', 'deadline'].includes(annotationOf(record).reason ?? '')
const idsOf = (records: readonly Read[]): readonly string[] =>
  records.map((record) => `${annotationOf(record).enrichment_id ?? ''} ${String(record.key)}`).toSorted()

/** Of the events that left before their answer: those that were corrected, and how many were counted as dropped. */
type Followed = {
  readonly output: string
  readonly pending: readonly Read[]
  readonly corrected: readonly Read[]
  readonly dropped: number
}

const partitions = 2
const [count, addresses] = [150, 8]

/** Annotates the input with at most so many events noted. */
const follow = async (input: string, baseUrl: string, pendingEvents: number): Promise<Followed> => {
  const names = { ...(await makeTopics({ partitions })), input }
  const corrections = `${names.output}-corrections`
  await makeTopic(corrections, partitions)
  const run = spawnRun(names, {
    ...limitsEnv({ kafka: { pendingEvents } }),
    ...slowly(baseUrl),
    THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: corrections,
    THREATWEAVE_LOG_LEVEL: 'info',
    THREATWEAVE_OPS_ENABLED: 'true',
  })
  const counted = async (metric: string): Promise<number> => {
    const text = await (await fetch(`${await run.opsUrl}/metrics`)).text()
    return Number(new RegExp(`^threatweave_events_${metric}_total (\\d+)$`, 'm').exec(text)?.[1])
  }
  const output = await readAmongAborted(names.output, (all) => all.length >= partitions * count)
  const pending = output.filter(isPending)
  while ((await counted('corrected')) + (await counted('not_followed_up')) < pending.length) await sleep(100)
  const dropped = await counted('not_followed_up')
  const corrected = await readAmongAborted(corrections, (all) => all.length >= pending.length - dropped, {
    calmMs: 2_000,
  })
  expect(await run.stop()).toBe(0)
  return { output: names.output, pending, corrected, dropped }
}

const slowly = (baseUrl: string): Readonly<Record<string, string>> => ({
  THREATWEAVE_ENRICH_DEADLINE_MS: '20',
  THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
  THREATWEAVE_INTEL_SERVICE_BASE_URL: baseUrl,
  THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '1',
  THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
})

it(
  'a cold backlog at one slow call at a time is corrected completely, or but for the counted overflow, which a replay repairs',
  { timeout: 900_000 },
  async () => {
    const server = await startLookupServer({ malicious: ['203.0.113.3'], delayMs: 300 })
    const { input } = await makeTopics({ partitions })
    const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    const messages = Array.from({ length: partitions * count }, (_, n) => ({
      partition: n % partitions,
      key: `k${n}`,
      value: JSON.stringify({ n, src_ip: `203.0.113.${(n >> 1) % addresses}`, dst_ip: '10.0.0.5', action: 'allowed' }),
    }))
    await producer.send({ topic: input, messages })
    await producer.disconnect()
    const [all, some] = await Promise.all([follow(input, server.url, 500_000), follow(input, server.url, 64)])

    expect(all.pending.length).toBeGreaterThan(0)
    expect([all.dropped, idsOf(all.corrected)]).toEqual([0, idsOf(all.pending)])

    const corrected = new Set(idsOf(some.corrected))
    expect(corrected.size).toBe(some.corrected.length)
    expect(some.dropped).toBeGreaterThan(0)
    expect(some.corrected.length + some.dropped).toBe(some.pending.length)
    expect(idsOf(some.pending)).toEqual(expect.arrayContaining([...corrected]))

    const replayed = await runLoaded(
      ['replay', '--topic', some.output, '--from', 'earliest', '--to', 'now', '--only', 'pending', '--id', 'repair'],
      {
        env: {
          ...slowly(server.url),
          THREATWEAVE_GATE_DOCUMENTATION: 'true',
          THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
          THREATWEAVE_KAFKA_OUTPUT_TOPIC: some.output,
        },
      },
    )
    expect(replayed).toMatchObject({ code: 0 })
    const repaired = await readAmongAborted(
      `${some.output}-replay-repair`,
      (read) => read.length >= some.pending.length,
    )
    expect(idsOf(repaired)).toEqual(idsOf(some.pending))
    for (const records of [all.corrected, some.corrected, repaired])
      expect(new Set(records.map((record) => annotationOf(record).status))).toEqual(new Set(['complete']))
    const isMalicious = (record: Read): boolean => annotationOf(record).verdict === 'malicious'
    expect(repaired.filter(isMalicious).length).toBe(
      some.pending.filter(({ value }) => String(value).includes('"203.0.113.3"')).length,
    )
    await server.close()
  },
)

// Promise: every event that left before its answer is corrected once, under the same key and id, and a replay repairs what was not.
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import { inject } from 'vitest'
import { runCli } from '../support/cli.js'
import { client, makeTopic, makeTopics, readAmongAborted, type Read } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { spawnRun } from '../support/spawn-run.js'

type Annotated = { readonly threatweave: { enrichment_id?: string; reason?: string; verdict: string; status: string } }

const annotationOf = ({ value }: Read): Annotated['threatweave'] => (JSON.parse(String(value)) as Annotated).threatweave

const isPending = (record: Read): boolean => ['pending', 'deadline'].includes(annotationOf(record).reason ?? '')
const idsOf = (records: readonly Read[]): readonly string[] =>
  records.map((record) => `${annotationOf(record).enrichment_id ?? ''} ${String(record.key)}`).toSorted()

it('a cold backlog at one slow call at a time is corrected completely', { timeout: 300_000 }, async () => {
  const [partitions, count, addresses] = [2, 150, 8]
  const server = await startLookupServer({ malicious: ['203.0.113.3'], delayMs: 300 })
  const names = await makeTopics({ partitions })
  const corrections = `${names.output}-corrections`
  await makeTopic(corrections, partitions)
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const messages = Array.from({ length: partitions * count }, (_, n) => ({
    partition: n % partitions,
    key: `k${n}`,
    value: JSON.stringify({ n, src_ip: `203.0.113.${(n >> 1) % addresses}`, dst_ip: '10.0.0.5', action: 'allowed' }),
  }))
  await producer.send({ topic: names.input, messages })
  await producer.disconnect()
  const env = {
    THREATWEAVE_ENRICH_DEADLINE_MS: '20',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
    THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '1',
    THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
    THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: corrections,
  }
  const run = spawnRun(names, env)
  const output = await readAmongAborted(names.output, (all) => all.length >= partitions * count)
  const pending = output.filter(isPending)
  const corrected = await readAmongAborted(corrections, (all) => all.length >= pending.length, { calmMs: 2_000 })
  expect(await run.stop()).toBe(0)
  expect(pending.length).toBeGreaterThan(0)
  expect(idsOf(corrected)).toEqual(idsOf(pending))
  expect(new Set(corrected.map((record) => annotationOf(record).status))).toEqual(new Set(['complete']))

  // Had nobody followed up, a replay of what left as pending would have written the same.
  const replayed = await runCli(
    ['replay', '--topic', names.output, '--from', 'earliest', '--to', 'now', '--only', 'pending', '--id', 'repair'],
    {
      env: {
        ...env,
        THREATWEAVE_GATE_DOCUMENTATION: 'true',
        THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
        THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
        THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
      },
    },
  )
  expect(replayed).toMatchObject({ code: 0 })
  const repaired = await readAmongAborted(`${names.output}-replay-repair`, (all) => all.length >= pending.length)
  expect(idsOf(repaired)).toEqual(idsOf(pending))
  expect(repaired.map((record) => annotationOf(record).verdict).toSorted()).toEqual(
    corrected.map((record) => annotationOf(record).verdict).toSorted(),
  )
  await server.close()
})

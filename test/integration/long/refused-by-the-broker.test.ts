// Promise: a record that the broker refuses for what it is goes to the dead letters with the reason, and costs no other record anything.
import { setTimeout as sleep } from 'node:timers/promises'
import { randomBytes, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { CompressionTypes, ConfigResourceTypes, Partitioners, type Message } from 'kafkajs'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { folder } from '../../support/feed-files.js'
import { readWithJava } from '../../support/java.js'
import {
  client,
  committed,
  makeTopic,
  makeTopics,
  originsOf,
  readAmongAborted,
  readTopic,
  settingsFor,
  withAdmin,
  type Names,
  type Read,
} from '../../support/kafka.js'
import { startLookupServer } from '../../support/lookup-server.js'
import { endWorkers, startProgram, startWorker, times, until } from '../../support/worker.js'

afterAll(endWorkers)

const partitions = 2
const count = 400
const refused: Readonly<Record<number, string>> = {
  50: 'invalid_timestamp',
  51: 'invalid_record',
  200: 'too_large',
  399: 'invalid_timestamp',
}

const hardEvents = async (topic: string): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (let partition = 0; partition < partitions; partition++) {
    const messages = Array.from({ length: count }, (_, seq): Message => {
      const reason = refused[seq]
      const message = reason === 'too_large' ? 'x'.repeat(30_000) : 'short'
      return {
        partition,
        key: reason === 'invalid_record' ? null : `${partition}-${seq}`,
        value: JSON.stringify({ seq, partition, message }),
        timestamp: String(Date.now() - (reason === 'invalid_timestamp' ? 48 * 3_600_000 : 0)),
      }
    })
    await producer.send({ topic, messages })
  }
  await producer.disconnect()
}

const lettersOf = (records: readonly Read[]): readonly string[] =>
  records
    .map(({ headers: { 'threatweave-partition': from, 'threatweave-offset': at, 'threatweave-reason': why } }) =>
      // As the broker calls it, or a worker that knew its limit from the start.
      [from, at, why].map(String).join(' ').replace('message_too', 'too'),
    )
    .toSorted()

/** Resolves when the broker goes by its new limit: what is refused for its lack of a key, too, stays out either way. */
const tooLargeFor = async (topic: string): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const refusal = (): Promise<unknown> =>
    producer.send({ topic, messages: [{ key: null, value: 'x'.repeat(30_000) }] }).catch((error: unknown) => error)
  await expect.poll(refusal).toMatchObject({ type: 'MESSAGE_TOO_LARGE' })
  await producer.disconnect()
}

/** Resolves when everything is committed. */
const deliver = async (delivery: 'at-least-once' | 'exactly-once'): Promise<Names> => {
  const rules = { 'cleanup.policy': 'compact', 'message.timestamp.before.max.ms': '3600000' }
  const names = await makeTopics({ partitions, config: { output: rules } })
  // Where one is killed, the next waits for the end of its session.
  const session = delivery === 'exactly-once' && { sessionTimeoutMs: 6_000 }
  const settings = settingsFor(names, { delivery, limits: { chunkEvents: 20, ...session } })
  const first = startWorker(settings)
  await first.said('group_joined')
  // After the start, when the sizes that topics take have been read: so it is the broker that finds the large one.
  await withAdmin((admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: ConfigResourceTypes.TOPIC,
          name: names.output,
          configEntries: Object.entries({ ...rules, 'max.message.bytes': '20000' }).map(([name, value]) => ({
            name,
            value,
          })),
        },
      ],
    }),
  )
  await tooLargeFor(names.output)
  await hardEvents(names.input)
  if (delivery === 'exactly-once') {
    // Killed among the letters: they are in the transaction of their events, or there would be more of them.
    await readTopic(names.dead, (all) => all.length >= 1, { calmMs: 0 })
    first.kill('SIGKILL')
    startWorker(settings)
  }
  while ((await committed(names)).filter((offset) => offset === count).length < partitions) await sleep(200)
  return names
}

/** At least once may repeat, for example when a busy machine outlives its session: what came first counts. */
const firstOccurrences = (all: readonly string[]): readonly string[] => [...new Set(all)]

it('a record that the broker refuses is a dead letter, and everything else comes out once and in order', async () => {
  const [one, other] = await Promise.all([deliver('at-least-once'), deliver('exactly-once')])
  // Plain kafkajs shows some records of aborted transactions when they interleave; Java does not.
  const read = await readWithJava(one.dead, one.output, other.dead, other.output)
  for (const [input, letters, records, counted] of [
    [one.input, read[0], read[1], firstOccurrences],
    [other.input, read[2], read[3], (all: readonly string[]) => all],
  ] as const) {
    expect(counted(lettersOf(letters))).toEqual(
      [0, 1].flatMap((from) => Object.entries(refused).map(([at, why]) => `${from} ${at} ${why}`)).toSorted(),
    )
    for (let partition = 0; partition < partitions; partition++)
      expect(counted(originsOf(records.filter((record) => record.partition === partition)))).toEqual(
        Array.from({ length: count }, (_, seq) => seq)
          .filter((seq) => refused[seq] === undefined)
          .map((seq) => `${input}/${partition}/${seq}`),
      )
  }
})

/** One record of many events, each with a long name below the listed one, and an address whose answer is awaited. */
const giant = (members: number): string => {
  const label = (): string => randomBytes(30).toString('hex')
  return JSON.stringify(
    Array.from({ length: members }, (_, n) => ({
      n,
      src_ip: '10.0.0.1',
      dst_ip: `203.0.113.${n % 200}`,
      dns: { question: { name: `${label()}.${label()}.${label()}.listed.example.net` } },
      action: 'allowed',
    })),
  )
}

/** What fired for each of them, in a note without bounds, is more than any topic takes. */
const giantMembers = 9_000

it.each([
  ['exactly-once', 1_048_588],
  ['exactly-once', 16_000],
  ['at-least-once', 16_000],
] as const)(
  'a record of 9,000 names below a listed one stops no worker, %s with a sightings topic that takes %d bytes',
  async (delivery, bytes) => {
    const names = await makeTopics({ partitions: 1 })
    const id = randomUUID().slice(0, 8)
    const [alerts, corrections, sightings] = [`alerts-${id}`, `corrections-${id}`, `sightings-${id}`]
    await makeTopic(alerts, 1)
    await makeTopic(corrections, 1)
    await makeTopic(sightings, 1, undefined, { 'cleanup.policy': 'compact,delete', 'max.message.bytes': String(bytes) })
    const feed = join(folder(), 'names.txt')
    writeFileSync(feed, 'listed.example.net\n')
    let recover = (): void => undefined
    const provider = await startLookupServer({ held: new Promise<void>((resolve) => (recover = resolve)) })
    onTestFinished(provider.close)
    const env = {
      THREATWEAVE_FEEDS: JSON.stringify([{ name: 'names', path: feed }]),
      THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
      THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
      THREATWEAVE_ENRICH_DEADLINE_MS: '0',
      THREATWEAVE_KAFKA_DELIVERY: delivery,
      THREATWEAVE_KAFKA_INPUT_BATCHES: 'split',
      THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: corrections,
      THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: sightings,
      THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '30000',
    }
    const value = giant(giantMembers)
    // It is near what a topic takes by default.
    const packed = gzipSync(value).length
    expect([packed > 900_000, packed < 1_040_000]).toEqual([true, true])
    const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    const send = (text: string): Promise<unknown> =>
      producer.send({
        topic: names.input,
        compression: CompressionTypes.GZIP,
        messages: [{ partition: 0, value: text }],
      })
    await send(value)
    await send('{"n":"after","src_ip":"10.0.0.1","dst_ip":"203.0.113.1","action":"allowed"}')
    await producer.disconnect()

    const first = startProgram({ ...names, alerts }, env)
    const isOut = (all: readonly Read[]): boolean =>
      new Set(all.map((record) => (JSON.parse(String(record.value)) as { n: unknown }).n)).size === giantMembers + 1
    expect(isOut(await readAmongAborted(names.output, isOut))).toBe(true)
    // Its next owner reads what there is of the notes.
    first.kill('SIGKILL')
    await first.exit
    const next = startProgram({ ...names, alerts }, env)
    await next.said('sightings_restored', 600_000)
    recover()
    const dropped = (): boolean => times(first, 'attachments_dropped') + times(next, 'attachments_dropped') > 0
    if (bytes > 100_000) {
      await readAmongAborted(corrections, (all) => all.length > giantMembers)
      expect(dropped()).toBe(false)
    } else await until('what the topic refuses is counted', dropped, 600_000)
    expect(next.running()).toBe(true)
    next.kill('SIGTERM')
    expect(await next.exit).toBe(0)
    const notes = await readAmongAborted(sightings, () => true)
    const largest = Math.max(...notes.map((record) => record.value?.length ?? 0))
    expect(largest).toBeLessThan(Math.min(bytes, 150_000))
    process.stdout.write(
      `${delivery}, ${bytes} bytes: ${packed} bytes of input, largest record of state ${largest}, dropped ${dropped()}\n`,
    )
  },
)

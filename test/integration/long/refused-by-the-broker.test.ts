// Promise: a record that the broker refuses for what it is goes to the dead letters with the reason, and costs no other record anything.
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigResourceTypes, Partitioners, type Message } from 'kafkajs'
import { afterAll, expect, it } from 'vitest'
import { readWithJava } from '../../support/java.js'
import {
  client,
  committed,
  makeTopics,
  originsOf,
  readTopic,
  settingsFor,
  withAdmin,
  type Names,
  type Read,
} from '../../support/kafka.js'
import { endWorkers, startWorker } from '../../support/worker.js'

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

// Answers to record batches: sequences and epochs of idempotent producers, and rejected batches.
import { batchHead, checksumHolds, errorName, placeBatch, readCommitted, splitBatches } from '../wire.js'
import { only, passing } from './client.js'
import type { Scenario } from './scenario.js'

const stored = (offset: number) => ({ error: 'NONE' as const, offset })
const refused = <E extends string>(error: E) => ({ error, offset: -1 })

export const produceScenarios: readonly Scenario[] = [
  {
    title: 'sequences of an idempotent producer',
    run: async (client, step) => {
      const topic = await client.topic('sequences')
      // A newly started broker may not have producer ids yet.
      const { error, ...producer } = await client.until(
        () => client.init(null),
        (given) => !passing.has(given.error),
      )
      await step('a producer without a transactional id gets an id', 'NONE', error)
      await step('and epoch 0', 0, producer.producerEpoch)
      const send = (baseSequence: number, count = 1) => client.produce(topic, { ...producer, baseSequence, count })
      await step('the first batch is stored', stored(0), send(0, 3))
      await step('the next sequence is stored', stored(3), send(3, 2))
      await step('the last batch again is acknowledged at its first place', stored(3), send(3, 2))
      await step('the batch before it, too', stored(0), send(0, 3))
      await step(
        'and nothing was stored for them',
        5,
        client.fetch(topic, 0).then(({ high }) => high),
      )
      await step('a gap is refused', refused('OUT_OF_ORDER_SEQUENCE_NUMBER'), send(6))
      await step('and leaves the sequence as it was', stored(5), send(5))
      await step(
        'the first sequence of a known batch with another count is refused',
        refused('OUT_OF_ORDER_SEQUENCE_NUMBER'),
        send(3, 3),
      )
      await step('a part of a known batch is refused', refused('OUT_OF_ORDER_SEQUENCE_NUMBER'), send(4, 1))
      await step('three more are stored', [stored(6), stored(7), stored(8)], await sendAll(send, [6, 7, 8]))
      await step(
        'the last five are acknowledged at their places',
        [stored(3), stored(5), stored(6), stored(7), stored(8)],
        [await send(3, 2), ...(await sendAll(send, [5, 6, 7, 8]))],
      )
      await step('a repetition older than the last five', refused('OUT_OF_ORDER_SEQUENCE_NUMBER'), send(0, 3))
      await step(
        'different bytes under a known sequence are acknowledged and not stored',
        stored(8),
        client.produce(topic, { ...producer, baseSequence: 8, valueBytes: 77 }),
      )
      await step(
        'nine records are in the log',
        9,
        client.fetch(topic, 0).then(({ high }) => high),
      )
    },
  },
  {
    title: 'sequences are kept for each partition and producer',
    run: async (client, step) => {
      const topic = await client.topic('two-partitions', { partitions: 2 })
      const first = await client.initialised(null)
      const second = await client.initialised(null)
      await step('producers have ids of their own', false, first.producerId === second.producerId)
      await step('partition 0', stored(0), client.produce(topic, { ...first, baseSequence: 0 }))
      await step('partition 1', stored(0), client.produce(topic, { ...first, baseSequence: 0, partition: 1 }))
      await step('the other producer', stored(1), client.produce(topic, { ...second, baseSequence: 0 }))
      await step('a batch without a producer', stored(2), client.produce(topic))
      await step('and again: it is stored twice', stored(3), client.produce(topic))
      await step('the first goes on', stored(4), client.produce(topic, { ...first, baseSequence: 1 }))
      const third = await client.initialised(null)
      await step(
        'a producer that the partition has not seen may begin anywhere',
        stored(5),
        client.produce(topic, { ...third, baseSequence: 17 }),
      )
      await step(
        'and is then held to it',
        refused('OUT_OF_ORDER_SEQUENCE_NUMBER'),
        client.produce(topic, { ...third, baseSequence: 0 }),
      )
    },
  },
  {
    title: 'epochs of a producer in the log of a partition',
    run: async (client, step) => {
      const topic = await client.topic('epochs')
      const { producerId } = await client.initialised(null)
      const send = (producerEpoch: number, baseSequence: number) =>
        client.produce(topic, { producerId, producerEpoch, baseSequence })
      await step('epoch 0', stored(0), send(0, 0))
      await step('the next epoch must begin at 0', refused('OUT_OF_ORDER_SEQUENCE_NUMBER'), send(1, 1))
      await step('the refused epoch left no trace', stored(1), send(0, 1))
      await step('the next epoch at 0', stored(2), send(1, 0))
      await step('the former epoch', refused('INVALID_PRODUCER_EPOCH'), send(0, 2))
      await step('a repetition of the former epoch', refused('INVALID_PRODUCER_EPOCH'), send(0, 1))
      await step('a repetition of this epoch', stored(2), send(1, 0))
      await step('an epoch may be left out', stored(3), send(5, 0))
    },
  },
  {
    title: 'sequences begin again at 0 after the largest',
    run: async (client, step) => {
      const topic = await client.topic('wrap')
      const producer = await client.initialised(null)
      const largest = 2 ** 31 - 1
      const send = (baseSequence: number, count: number) => client.produce(topic, { ...producer, baseSequence, count })
      await step('up to the largest but one', stored(0), send(largest - 2, 2))
      await step('a batch that passes the largest', stored(2), send(largest, 3))
      await step('goes on behind it', stored(5), send(2, 1))
      await step('its repetition', stored(2), send(largest, 3))
    },
  },
  {
    title: 'batches that are stored are given back as they came',
    run: async (client, step) => {
      const topic = await client.topic('bytes')
      const sent = [client.batch({ count: 3 }), client.batch({ count: 5, gzip: true, valueBytes: 400 })]
      await step('a plain batch', stored(0), client.sendBatch(topic, 0, sent[0]!))
      await step('a gzip batch', stored(3), client.sendBatch(topic, 0, sent[1]!))
      const got = only(only((await client.fetchRaw(topic, [{ partition: 0, offset: 0 }])).topics).partitions)
      const batches = splitBatches(got.records!)
      await step(
        'its bytes, but for offset and leader epoch',
        [true, true],
        [placeBatch(sent[0]!, 0, 0).equals(batches[0]!), placeBatch(sent[1]!, 3, 0).equals(batches[1]!)],
      )
      await step('the checksum holds', [true, true], batches.map(checksumHolds))
      await step(
        'offsets and codec',
        [
          [0, 2, 0],
          [3, 7, 1],
        ],
        batches.map((batch) => {
          const { baseOffset, lastOffset, codec } = batchHead(batch)
          return [baseOffset, lastOffset, codec]
        }),
      )
      await step('with acks of the leader alone', stored(8), client.sendBatch(topic, 0, client.batch(), { acks: 1 }))
    },
  },
  {
    title: 'batches that are refused',
    run: async (client, step) => {
      const topic = await client.topic('refused', { configs: { 'max.message.bytes': '1000' } })
      const missing = client.unique('missing')
      await step('an unknown topic', refused('UNKNOWN_TOPIC_OR_PARTITION'), client.produce(missing))
      await step(
        'a partition beyond the last',
        refused('UNKNOWN_TOPIC_OR_PARTITION'),
        client.produce(topic, { partition: 1 }),
      )
      await step('too large', refused('MESSAGE_TOO_LARGE'), client.produce(topic, { valueBytes: 2_000 }))
      const { length } = client.batch({ valueBytes: 500 })
      const largest = client.batch({ valueBytes: 500 + 1_000 - length })
      await step(
        'of just the size allowed',
        [1_000, stored(0)],
        [largest.length, await client.sendBatch(topic, 0, largest)],
      )
      await step(
        'one byte more',
        refused('MESSAGE_TOO_LARGE'),
        client.produce(topic, { valueBytes: 501 + 1_000 - length }),
      )
      const damaged = client.batch()
      damaged[damaged.length - 2]! ^= 0xff
      await step('a checksum that does not hold', refused('CORRUPT_MESSAGE'), client.sendBatch(topic, 0, damaged))
      await step(
        'a time far in the future',
        refused('INVALID_TIMESTAMP'),
        client.produce(topic, { timestamp: client.now() + 86_400_000 }),
      )
      await step('a time long ago', stored(1), client.produce(topic, { timestamp: client.now() - 86_400_000 }))
      await step('no time', stored(2), client.produce(topic, { timestamp: -1 }))
      await step(
        'two acknowledgements',
        refused('INVALID_REQUIRED_ACKS'),
        client.sendBatch(topic, 0, client.batch(), { acks: 2 }),
      )
      const compacted = await client.topic('compacted', { configs: { 'cleanup.policy': 'compact,delete' } })
      await step('no key in a compacted topic', refused('INVALID_RECORD'), client.produce(compacted))
      await step('a key in a compacted topic', stored(0), client.produce(compacted, { key: 'k' }))
      const answer = await client.ask('Produce', {
        transactionalId: null,
        acks: -1,
        timeoutMs: 1_000,
        topics: [
          {
            topic,
            partitions: [
              { partition: 0, records: client.batch() },
              { partition: 9, records: client.batch() },
            ],
          },
          { topic: missing, partitions: [{ partition: 0, records: client.batch() }] },
        ],
      })
      await step(
        'each partition of one request has an answer of its own',
        ['NONE 3', 'UNKNOWN_TOPIC_OR_PARTITION -1', 'UNKNOWN_TOPIC_OR_PARTITION -1'],
        answer.topics
          .flatMap(({ partitions }) => partitions)
          .map(({ errorCode, baseOffset }) => `${errorName(errorCode)} ${baseOffset}`)
          .sort(),
      )
      await step(
        'four records are in the log',
        4,
        client.fetch(topic, 0, { isolation: readCommitted }).then(({ stable }) => stable),
      )
    },
  },
]

const sendAll = async <T>(send: (sequence: number) => Promise<T>, sequences: readonly number[]): Promise<T[]> => {
  const answers: T[] = []
  for (const sequence of sequences) answers.push(await send(sequence))
  return answers
}

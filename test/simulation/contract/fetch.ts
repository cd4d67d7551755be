// Answers to readers: valid start offsets, amounts of data, waiting times, and offsets by time.
import { earliest, latest, readCommitted } from '../wire.js'
import { longMs, only, told } from './client.js'
import type { Scenario } from './scenario.js'

export const fetchScenarios: readonly Scenario[] = [
  {
    title: 'where a fetch may begin',
    run: async (client, step) => {
      const topic = await client.topic('begin')
      await step('an empty log', log({ high: 0 }), client.fetch(topic, 0))
      await step('past an empty log', outOfRange, client.fetch(topic, 1))
      for (let index = 0; index < 3; index++) await client.produce(topic, { count: 3 })
      await step('at the start', log({ high: 9, batches: ['0-2', '3-5', '6-8'] }), client.fetch(topic, 0))
      await step(
        'in the middle of a batch: it comes whole',
        log({ high: 9, batches: ['3-5', '6-8'] }),
        client.fetch(topic, 4),
      )
      await step('at the last record', log({ high: 9, batches: ['6-8'] }), client.fetch(topic, 8))
      await step('at the end', log({ high: 9 }), client.fetch(topic, 9))
      await step('past the end', outOfRange, client.fetch(topic, 10))
      await step('before the log', outOfRange, client.fetch(topic, -1))
      await step(
        'at the start, committed',
        log({ high: 9, batches: ['0-2', '3-5', '6-8'], aborted: [] }),
        client.fetch(topic, 0, { isolation: readCommitted }),
      )
      await step(
        'records are deleted up to the middle of a batch',
        { error: 'NONE', low: 4 },
        client.deleteRecords(topic, 4),
      )
      await step('below the start', outOfRange, client.fetch(topic, 3))
      await step(
        'at the new start its batch comes whole',
        log({ high: 9, start: 4, batches: ['3-5', '6-8'] }),
        client.fetch(topic, 4),
      )
      await step(
        'records are not deleted beyond the end',
        'OFFSET_OUT_OF_RANGE',
        client.deleteRecords(topic, 10).then(({ error }) => error),
      )
      await step('to the end', { error: 'NONE', low: 9 }, client.deleteRecords(topic, -1))
      await step('the log is empty and keeps its offsets', log({ high: 9, start: 9 }), client.fetch(topic, 9))
      await step(
        'the next record goes on',
        9,
        client.produce(topic).then(({ offset }) => offset),
      )
      await step('below it', outOfRange, client.fetch(topic, 8))
      await step('an unknown topic', unknown, client.fetch(client.unique('missing'), 0))
      await step('an unknown partition', unknown, client.fetch(topic, 0, { partition: 1 }))
      await step(
        'an old leader epoch is not known',
        'UNKNOWN_LEADER_EPOCH',
        client.fetch(topic, 9, { leaderEpoch: 7 }).then(({ error }) => error),
      )
    },
  },
  {
    title: 'how much a fetch brings',
    run: async (client, step) => {
      const topic = await client.topic('amount', { partitions: 2 })
      const batch = client.batch({ count: 2, valueBytes: 200 })
      for (const partition of [0, 1])
        for (let index = 0; index < 4; index++) await client.sendBatch(topic, partition, batch)
      const bytes = batch.length
      const bring = async (
        partitions: readonly { partition: number; offset: number; maxBytes?: number }[],
        maxBytes?: number,
      ): Promise<readonly (readonly [partition: number, bytes: number])[]> =>
        (await client.fetchRaw(topic, partitions, maxBytes === undefined ? {} : { maxBytes })).topics
          .flatMap((found) => found.partitions)
          .map(({ partition, records }) => [partition, records?.length ?? -1])
      await step('everything', [[0, 4 * bytes]], bring([{ partition: 0, offset: 0 }]))
      await step(
        'one byte allowed for the partition: one batch',
        [[0, bytes]],
        bring([{ partition: 0, offset: 0, maxBytes: 1 }]),
      )
      await step('one byte allowed in all: one batch', [[0, bytes]], bring([{ partition: 0, offset: 0 }], 1))
      await step(
        'two and a half batches: the last is cut',
        [[0, 2 * bytes + 100]],
        bring([{ partition: 0, offset: 0, maxBytes: 2 * bytes + 100 }]),
      )
      await step(
        'the same from the middle of a batch',
        [[0, 2 * bytes + 100]],
        bring([{ partition: 0, offset: 1, maxBytes: 2 * bytes + 100 }]),
      )
      await step(
        'one byte allowed in all: the first partition alone brings a batch',
        [
          [0, bytes],
          [1, 0],
        ],
        bring(
          [
            { partition: 0, offset: 0 },
            { partition: 1, offset: 0 },
          ],
          1,
        ),
      )
      await step(
        'in the order asked for',
        [
          [1, bytes],
          [0, 0],
        ],
        bring(
          [
            { partition: 1, offset: 0 },
            { partition: 0, offset: 0 },
          ],
          1,
        ),
      )
      await step(
        'one byte allowed for each partition: only the first may exceed it',
        [
          [0, bytes],
          [1, 0],
        ],
        bring([
          { partition: 0, offset: 0, maxBytes: 1 },
          { partition: 1, offset: 0, maxBytes: 1 },
        ]),
      )
      await step(
        'what the first leaves of the whole is for the second, the last batch cut',
        [
          [0, 4 * bytes],
          [1, bytes + 50],
        ],
        bring(
          [
            { partition: 0, offset: 0 },
            { partition: 1, offset: 0 },
          ],
          5 * bytes + 50,
        ),
      )
      await step(
        'nothing, where no whole batch is left',
        [
          [0, 4 * bytes],
          [1, 0],
        ],
        bring(
          [
            { partition: 0, offset: 0 },
            { partition: 1, offset: 0 },
          ],
          4 * bytes + 50,
        ),
      )
      await step(
        'an empty partition does not take the first place',
        [
          [0, 0],
          [1, bytes],
        ],
        bring(
          [
            { partition: 0, offset: 8 },
            { partition: 1, offset: 0 },
          ],
          1,
        ),
      )
    },
  },
  {
    title: 'how long a fetch waits',
    run: async (client, step) => {
      const topic = await client.topic('waits', { partitions: 2 })
      const reader = await client.another()
      await step('no longer than asked for', log({ high: 0 }), reader.fetch(topic, 0, { maxWaitMs: 200 }))
      const waiting = reader.fetch(topic, 0, { maxWaitMs: longMs })
      await client.produce(topic, { count: 2 })
      await step('until records come', log({ high: 2, batches: ['0-1'] }), waiting)
      const { length } = client.batch()
      const many = reader.fetch(topic, 2, { maxWaitMs: longMs, minBytes: 2 * length })
      await client.produce(topic)
      await client.produce(topic)
      await step('until there are as many bytes as asked for', log({ high: 4, batches: ['2-2', '3-3'] }), many)
      await step('not at all for what is out of range', outOfRange, reader.fetch(topic, 9, { maxWaitMs: longMs }))
      const both = await reader.fetchRaw(
        topic,
        [
          { partition: 0, offset: 4 },
          { partition: 1, offset: 1 },
        ],
        { maxWaitMs: longMs },
      )
      await step(
        'not at all where one partition is out of range',
        [log({ high: 4 }), outOfRange],
        both.topics.flatMap(({ partitions }) => partitions.map(told)),
      )
      const oneUnknown = reader.fetchRaw(
        topic,
        [
          { partition: 0, offset: 4 },
          { partition: 7, offset: 0 },
        ],
        { maxWaitMs: longMs },
      )
      await client.produce(topic)
      await step(
        'next to an unknown partition as ever',
        ['NONE 4-4', 'UNKNOWN_TOPIC_OR_PARTITION '],
        oneUnknown.then(({ topics }) =>
          topics
            .flatMap(({ partitions }) => partitions.map(told))
            .map(({ error, batches }) => `${error} ${batches.join()}`)
            .sort(),
        ),
      )
      await step('not at all for what is unknown', unknown, reader.fetch(topic, 0, { partition: 7, maxWaitMs: longMs }))
      const deleted = reader.fetch(topic, 5, { maxWaitMs: longMs })
      await step('the topic is deleted', 'NONE', client.deleteTopic(topic))
      await step(
        'who waited is told',
        'UNKNOWN_TOPIC_OR_PARTITION',
        deleted.then(({ error }) => error),
      )
      await step('the next fetch, too', unknown, () => client.fetch(topic, 4))
    },
  },
  {
    title: 'offsets by time',
    run: async (client, step) => {
      const topic = await client.topic('times')
      const at = async (timestamp: number, isolation?: number): Promise<readonly [number, number]> => {
        const { offset, timestamp: found } = await client.offsetAt(topic, 0, timestamp, isolation)
        return [offset, found < 0 ? found : found - begin]
      }
      const begin = client.now() - 100_000
      await step('latest of an empty log', [0, -1], at(latest))
      await step('earliest of an empty log', [0, -1], at(earliest))
      await step('a time in an empty log', [-1, -1], at(begin))
      await client.produce(topic, { count: 3, timestamp: begin })
      await client.produce(topic, { count: 3, timestamp: begin + 1_000, gzip: true })
      await client.produce(topic, { count: 3, timestamp: begin + 500 })
      await step('latest', [9, -1], at(latest))
      await step('earliest', [0, -1], at(earliest))
      await step('before all', [0, 0], at(begin - 5))
      await step('of the first record', [0, 0], at(begin))
      await step('of a record in a batch', [2, 2], at(begin + 2))
      await step('between two batches', [3, 1_000], at(begin + 3))
      await step('of a record in a packed batch', [4, 1_001], at(begin + 1_001))
      await step('the first that is not older, though a later one is nearer', [3, 1_000], at(begin + 500))
      await step('after all', [-1, -1], at(begin + 1_003))
      await step('latest, committed', [9, -1], at(latest, readCommitted))
      await client.deleteRecords(topic, 4)
      await step('earliest after records were deleted', [4, -1], at(earliest))
      await step('a time whose record was deleted', [4, 1_001], at(begin))
      await step(
        'an unknown topic',
        { error: 'UNKNOWN_TOPIC_OR_PARTITION', offset: -1, timestamp: -1 },
        client.offsetAt(client.unique('missing'), 0, latest),
      )
      await step(
        'an unknown partition',
        { error: 'UNKNOWN_TOPIC_OR_PARTITION', offset: -1, timestamp: -1 },
        client.offsetAt(topic, 3, earliest),
      )
      const deletion = await client.ask('DeleteRecords', {
        topics: [{ topic: client.unique('missing'), partitions: [{ partition: 0, offset: 0 }] }],
        timeoutMs: 1_000,
      })
      await step('records of an unknown topic are not deleted', 3, only(only(deletion.topics).partitions).errorCode)
    },
  },
]

const log = (found: {
  high: number
  start?: number
  batches?: readonly string[]
  aborted?: readonly (readonly [number, number])[]
}) => ({
  error: 'NONE' as const,
  high: found.high,
  stable: found.high,
  start: found.start ?? 0,
  aborted: found.aborted ?? null,
  batches: found.batches ?? [],
})
const nothing = { high: -1, stable: -1, start: -1, aborted: null, batches: [] }
const outOfRange = { error: 'OFFSET_OUT_OF_RANGE' as const, ...nothing }
const unknown = { error: 'UNKNOWN_TOPIC_OR_PARTITION' as const, ...nothing, aborted: [] }

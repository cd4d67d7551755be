// The former verdicts of a range, from topics that hold annotations.
import { expect, it } from 'vitest'
import { readFormer } from '../../../src/replay/former.js'
import { cutBatch } from '../../../src/pipeline/batch/cut-batch.js'
import { createReadWritten } from '../../../src/pipeline/batch/read-written.js'
import type { TopicReader } from '../../../src/kafka/topic-reader.js'
import type { WireRecord } from '../../../src/kafka/wire/record.js'

const annotated = (offset: number, verdict: string): Buffer =>
  Buffer.from(`{"threatweave":{"schema_version":1,"verdict":"${verdict}","enrichment_id":"firewall/0/${offset}"}}`)

const readerOf = (topics: Readonly<Record<string, readonly Buffer[]>>): Pick<TopicReader, 'fetch' | 'offsetsAt'> => ({
  offsetsAt: (topic, at) => Promise.resolve(new Map([[0, at === 'latest' ? (topics[topic]?.length ?? 0) : 0]])),
  fetch: (topic, _partition, offset) =>
    Promise.resolve({
      records: (topics[topic] ?? []).slice(offset).map((value) => ({ value, headers: [] }) as unknown as WireRecord),
      next: topics[topic]?.length ?? 0,
      deleted: 0,
    }),
})

it('an event whose late answer was written as a correction has the verdict of the correction', async () => {
  const former = await readFormer(
    readerOf({
      annotated: [annotated(5, 'unknown'), annotated(6, 'unknown'), annotated(7, 'clean')],
      corrections: [annotated(6, 'malicious')],
    }),
    {
      topic: 'firewall',
      ranges: [{ partition: 0, start: 5, end: 9 }],
      readWritten: createReadWritten(cutBatch, 'threatweave'),
    },
    { topics: ['annotated', 'corrections'], fromTime: undefined },
    new AbortController().signal,
  )
  if ('refused' in former) throw new Error(former.refused)
  expect([5, 6, 7, 8].map((offset) => former(0, offset)?.level)).toEqual(['unknown', 'malicious', 'clean', undefined])
})

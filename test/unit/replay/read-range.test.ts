// What is read of a range, and when it is at its end.
import { describe, expect, it } from 'vitest'
import { readRange } from '../../../src/replay/read-range.js'
import type { Fetch, TopicReader } from '../../../src/kafka/topic-reader.js'
import { createReadWritten } from '../../../src/pipeline/batch/read-written.js'
import type { WireRecord } from '../../../src/kafka/wire/record.js'

const record = (offset: number, timestamp = 1000): WireRecord => ({
  offset: String(offset),
  timestamp: String(timestamp),
  key: null,
  value: Buffer.from('{}'),
  headers: [],
  isControlRecord: false,
  batchContext: { firstOffset: '0', producerId: '-1', inTransaction: false, isControlBatch: false },
})

const read = async (
  fetches: Readonly<Record<number, Partial<Fetch>>>,
  range: readonly [number, number],
  times?: readonly [number, number],
): Promise<{ offsets: number[]; deleted: number; asked: number[] }> => {
  const asked: number[] = []
  const reader = {
    fetch: (_topic: string, _partition: number, offset: number): Promise<Fetch> => {
      asked.push(offset)
      return Promise.resolve({ records: [], next: offset, deleted: 0, ...fetches[offset] })
    },
  } as unknown as TopicReader
  const offsets: number[] = []
  let deleted = 0
  const { signal } = new AbortController()
  const readWritten = createReadWritten(undefined, 'k')
  const reading = { topic: 't', kind: 'raw', key: 'k', readWritten, times, signal } as const
  await readRange(reader, reading, { partition: 0, start: range[0], end: range[1] }, (records, next, left) => {
    offsets.push(...records.map(({ offset }) => Number(offset)))
    deleted += left.deleted
    return Promise.resolve(next)
  })
  return { offsets, deleted, asked }
}

describe('a range', () => {
  it('ends after control records that stand for no event', async () => {
    const found = await read({ 0: { records: [record(0), record(1)], next: 2 }, 2: { next: 3 } }, [0, 3])
    expect(found).toEqual({ offsets: [0, 1], deleted: 0, asked: [0, 2] })
  })

  it('ends in a gap that compaction left, before the event behind it', async () => {
    const found = await read({ 5: { records: [record(5), record(90)], next: 91 } }, [5, 40])
    expect(found).toEqual({ offsets: [5], deleted: 0, asked: [5] })
  })

  it('counts what was deleted before it was read, but nothing beyond its end', async () => {
    expect(await read({ 0: { next: 50, deleted: 50 } }, [0, 20])).toMatchObject({ offsets: [], deleted: 20 })
  })

  it('keeps only the times it is told', async () => {
    const records = [record(0, 10), record(1, 20), record(2, 30), record(3, 15)]
    expect(await read({ 0: { records, next: 4 } }, [0, 4], [15, 30])).toMatchObject({ offsets: [1, 3] })
  })

  it('says so when nothing comes although there is something', async () => {
    await expect(read({}, [3, 9])).rejects.toThrow('returns nothing from offset 3 on, although it ends at 9')
  })
})

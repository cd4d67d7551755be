import { describe, expect, it } from 'vitest'
import { type Fetch, readByOffset } from '../../../src/kafka/topic-reader.js'
import type { WireRecord } from '../../../src/kafka/wire/record.js'

/** A partition of 100 records in batches of ten, without those that are said to be gone. */
const reader = (
  gone: readonly number[] = [],
): { fetched: number[]; read: (offsets: readonly number[], maxBytes?: number) => ReturnType<typeof readByOffset> } => {
  const fetched: number[] = []
  const fetch = (_topic: string, _partition: number, offset: number): Promise<Fetch> => {
    fetched.push(offset)
    const next = Math.min(100, (Math.floor(offset / 10) + 1) * 10)
    const records = Array.from({ length: next - offset }, (_, place) => offset + place)
      .filter((at) => !gone.includes(at))
      .map((at) => ({ offset: String(at), value: Buffer.alloc(10), key: null, headers: [], timestamp: '0' }))
    return Promise.resolve({ records: records as unknown as WireRecord[], next, deleted: 0 })
  }
  const offsetsAt = (): Promise<ReadonlyMap<number, number>> => Promise.resolve(new Map([[3, 100]]))
  const partition = { topic: 'firewall', partition: 3 }
  return { fetched, read: (offsets, max = 1e6) => readByOffset({ fetch, offsetsAt }, partition, offsets, max) }
}
const offsetsOf = ({ records }: Awaited<ReturnType<typeof readByOffset>>): number[] =>
  records.map(({ offset }) => Number(offset))

describe('records that are read again by their offsets', () => {
  it('come in order, neighbours with one fetch', async () => {
    const { read, fetched } = reader()
    const found = await read([3, 4, 9, 55])
    expect([offsetsOf(found), fetched]).toEqual([
      [3, 4, 9, 55],
      [3, 55],
    ])
    expect(found).toMatchObject({ gone: [], rest: [] })
  })

  it('are gone if they were deleted, compacted away or beyond the end of a topic that was created again', async () => {
    const found = await reader([4, 5]).read([3, 4, 5, 99, 100, 2_000])
    expect([offsetsOf(found), found.gone]).toEqual([
      [3, 99],
      [4, 5, 100, 2_000],
    ])
  })

  it('are not taken for gone if the partition was added after the reader had read the metadata', async () => {
    const offsetsAt = (): Promise<ReadonlyMap<number, number>> => Promise.resolve(new Map([[0, 100]]))
    const fetch = (): Promise<Fetch> => expect.fail('nothing is fetched')
    const added = { topic: 'firewall', partition: 1 }
    await expect(readByOffset({ fetch, offsetsAt }, added, [3], 1e6)).rejects.toThrow('had no partition 1')
  })

  it('are left for the next time where they would be too many bytes', async () => {
    const found = await reader().read([3, 4, 15, 16], 20)
    expect([offsetsOf(found), found.rest]).toEqual([
      [3, 4],
      [15, 16],
    ])
  })
})

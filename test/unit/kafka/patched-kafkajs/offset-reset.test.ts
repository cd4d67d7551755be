// What the consumer does about an offset that the broker no longer has.
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { emitOffsetReset } from '../../../../src/kafka/patched-kafkajs/offset-reset.js'

const load = createRequire(import.meta.url)

type Group = {
  recoverFromOffsetOutOfRange: (error: object) => Promise<void>
  offsetManager: object
  readonly subscriptionState: { assign: (assignments: readonly object[]) => void }
}
type Offsets = {
  nextOffset: (topic: string, partition: number) => { toString: () => string }
  resolveOffset: (last: object) => void
}

type Scene = {
  readonly group: Group
  readonly offsets: Offsets
  readonly emitted: unknown[]
  readonly committed: object
}

/** A consumer at offset 300 of a partition whose oldest record is 40; `asked` is called before that is answered. */
const scene = (asked: (offsets: Offsets) => void = () => undefined): Scene => {
  const GroupClass = emitOffsetReset(load('kafkajs/src/consumer/consumerGroup.js')) as new (options: object) => Group
  const OffsetManager = load('kafkajs/src/consumer/offsetManager/index.js') as new (options: object) => Offsets
  const emitted: unknown[] = []
  const committed = { fw: { 1: '300' } }
  const cluster = {
    committedOffsets: () => committed,
    fetchTopicsOffset: () => {
      asked(offsets)
      return Promise.resolve([{ topic: 'fw', partitions: [{ partition: 1, offset: '40' }] }])
    },
  }
  const instrumentationEmitter = { emit: (event: string, payload: object) => emitted.push({ event, ...payload }) }
  const logger = { namespace: () => ({ error: () => undefined }) }
  const group = new GroupClass({ cluster, instrumentationEmitter, logger, retry: {} })
  // It has no coordinator: a commit would fail.
  const offsets = new OffsetManager({ cluster, memberAssignment: { fw: [1] }, groupId: 'group', autoCommit: false })
  committed.fw = { 1: '300' }
  group.offsetManager = offsets
  group.subscriptionState.assign([{ topic: 'fw', partitions: [1] }])
  return { group, offsets, emitted, committed }
}

describe('a position that the broker no longer has', () => {
  it('is reported and set to the oldest record, and what the group has committed stays', async () => {
    const { group, offsets, emitted, committed } = scene()
    await group.recoverFromOffsetOutOfRange({ topic: 'fw', partition: 1 })
    expect(emitted).toEqual([{ event: 'consumer.offset_reset', topic: 'fw', partition: 1, position: 300 }])
    expect(String(offsets.nextOffset('fw', 1))).toBe('40')
    expect(committed).toEqual({ fw: { 1: '300' } })
  })

  it('is left where it was set while the broker was asked', async () => {
    const { group, offsets, emitted } = scene((set) => set.resolveOffset({ topic: 'fw', partition: 1, offset: '499' }))
    await group.recoverFromOffsetOutOfRange({ topic: 'fw', partition: 1 })
    expect(String(offsets.nextOffset('fw', 1))).toBe('500')
    expect(emitted).toEqual([])
  })

  it('is not set in what another join has given meanwhile, or of a partition that is not assigned', async () => {
    const { group, offsets, emitted } = scene(() => {
      group.offsetManager = {}
    })
    await group.recoverFromOffsetOutOfRange({ topic: 'fw', partition: 1 })
    expect(String(offsets.nextOffset('fw', 1))).toBe('300')
    await group.recoverFromOffsetOutOfRange({ topic: 'fw', partition: 2 })
    expect(emitted).toEqual([])
  })
})

// What the consumer does about an offset that the broker no longer has.
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { emitOffsetReset } from '../../../../src/kafka/patched-kafkajs/offset-reset.js'

const load = createRequire(import.meta.url)

type Group = { recoverFromOffsetOutOfRange: (error: object) => Promise<void>; offsetManager: object }

describe('a position that the broker no longer has', () => {
  it('is reported and set to the oldest record, and what the group has committed stays', async () => {
    const GroupClass = emitOffsetReset(load('kafkajs/src/consumer/consumerGroup.js')) as new (options: object) => Group
    const OffsetManager = load('kafkajs/src/consumer/offsetManager/index.js') as new (options: object) => {
      nextOffset: (topic: string, partition: number) => { toString: () => string }
    }
    const emitted: unknown[] = []
    const committed = { fw: { 1: '300' } }
    const cluster = {
      committedOffsets: () => committed,
      fetchTopicsOffset: () => Promise.resolve([{ topic: 'fw', partitions: [{ partition: 1, offset: '40' }] }]),
    }
    const instrumentationEmitter = { emit: (event: string, payload: object) => emitted.push({ event, ...payload }) }
    const logger = { namespace: () => ({ error: () => undefined }) }
    const group = new GroupClass({ cluster, instrumentationEmitter, logger, retry: {} })
    // It has no coordinator: a commit would fail.
    const offsets = new OffsetManager({ cluster, memberAssignment: { fw: [1] }, groupId: 'group', autoCommit: false })
    committed.fw = { 1: '300' }
    group.offsetManager = offsets
    await group.recoverFromOffsetOutOfRange({ topic: 'fw', partition: 1 })
    expect(emitted).toEqual([{ event: 'consumer.offset_reset', topic: 'fw', partition: 1, position: 300 }])
    expect(String(offsets.nextOffset('fw', 1))).toBe('40')
    expect(committed).toEqual({ fw: { 1: '300' } })
  })
})

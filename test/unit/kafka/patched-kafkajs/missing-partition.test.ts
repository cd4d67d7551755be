import { expect, it } from 'vitest'
import { refuseMissingPartition } from '../../../../src/kafka/patched-kafkajs/missing-partition.js'
import { original as originalModule } from '../../../support/original-kafkajs.js'

type Initialize = ReturnType<typeof refuseMissingPartition>
const original = originalModule('consumer/offsetManager/initializeConsumerOffsets') as Initialize
const ours = refuseMissingPartition(original)

it('begins where the group committed, and otherwise at the oldest offset, as the original does', () => {
  const committed = [
    { topic: 'a', partitions: [at(0, '7'), at(1, '-1')] },
    { topic: 'b', partitions: [at(0, '3')] },
  ]
  const oldest = [{ topic: 'a', partitions: [at(1, '4')] }]
  expect(ours(committed, oldest)).toEqual(original(committed, oldest))
  expect(ours(committed, oldest)).toEqual([
    { topic: 'a', partitions: [at(0, '7'), at(1, '4')] },
    { topic: 'b', partitions: [at(0, '3')] },
  ])
})

it('asks for new metadata and another join where an assigned partition is gone', () => {
  const committed = [{ topic: 'a', partitions: [at(0, '-1'), at(1, '-1')] }]
  expect(() => original(committed, [])).toThrow(TypeError)
  expect(() => ours(committed, [])).toThrow('partition 0 of topic a is assigned, and no broker knows it')

  const oldest = [{ topic: 'a', partitions: [at(0, '4')] }]
  expect(original(committed, oldest)[0]?.partitions[1]).toEqual({ partition: 1, offset: undefined })
  expect(() => ours(committed, oldest)).toThrow(expect.objectContaining({ type: 'UNKNOWN_TOPIC_OR_PARTITION' }))
})

const at = (partition: number, offset: string): { readonly partition: number; readonly offset: string } => ({
  partition,
  offset,
})

// A consumer group that is given a partition that is gone, with kafkajs's own group replaced by one that records what it is asked to do.
import { expect, it } from 'vitest'
import { leaveGonePartitions } from '../../../../src/kafka/patched-kafkajs/leave-gone-partitions.js'

class Original {
  told: string[] = []
  partitionsPerSubscribedTopic = new Map([['input', [0, 1, 2]]])
  partitions = [0]
  assigned(): readonly { readonly topic: string; readonly partitions: readonly number[] }[] {
    return [{ topic: 'input', partitions: this.partitions }]
  }
  heartbeat(): Promise<void> {
    this.told.push('heartbeat')
    return Promise.resolve()
  }
  joinAndSync(): Promise<void> {
    this.told.push('join')
    return Promise.resolve()
  }
  async leave(): Promise<void> {
    this.told.push('leave')
    await Promise.resolve()
    await this.heartbeat()
    this.partitions = [1]
  }
}
const Group = leaveGonePartitions(Original) as typeof Original

it('leaves and joins anew, once for all who ask, without a heartbeat in between', async () => {
  const group = new Group()
  group.partitions = [1, 3]
  await Promise.all([group.joinAndSync(), group.joinAndSync()])
  expect(group.told).toEqual(['join', 'join', 'leave', 'join'])
  await group.heartbeat()
  expect(group.told.at(-1)).toBe('heartbeat')
})

it('stays the same member where all its partitions are there', async () => {
  const group = new Group()
  await group.joinAndSync()
  expect(group.told).toEqual(['join'])
})

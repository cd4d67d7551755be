// What is committed in a transaction is committed by one process at a time.
import type { Kafka } from 'kafkajs'
import { expect, it } from 'vitest'
import type { KafkaSettings } from '../../../src/kafka/settings.js'
import { withClaimedCommit } from '../../../src/replay/partition-output.js'

const done = (): Promise<void> => Promise.resolve()
const settings = { transactionalIdPrefix: 'threatweave' } as KafkaSettings

/** Of two producers with one transactional id, the one that began first is refused. */
const broker = (): { readonly kafka: Kafka; readonly committed: string[] } => {
  const committed: string[] = []
  const epochs = new Map<string, number>()
  const producer = ({ transactionalId }: { readonly transactionalId: string }) => ({
    connect: done,
    disconnect: done,
    transaction: () => {
      const own = (epochs.get(transactionalId) ?? 0) + 1
      epochs.set(transactionalId, own)
      return Promise.resolve({
        sendOffsets: () =>
          own === epochs.get(transactionalId)
            ? done()
            : Promise.reject(Object.assign(new Error('fenced'), { type: 'INVALID_PRODUCER_EPOCH', retriable: false })),
        commit: () => {
          committed.push(transactionalId)
          return done()
        },
      })
    },
  })
  return { kafka: { producer } as unknown as Kafka, committed }
}

it('a commit is refused if another process has come for it in between', async () => {
  const { kafka, committed } = broker()
  const group = { kafka, settings, groupId: 'fw-replay-1-range', topic: 'fw' }
  const slow = withClaimedCommit(group, async (commit) => {
    await withClaimedCommit(group, (commitFirst) => commitFirst('fw-replay-1-range', 'fw', []))
    await commit('fw-replay-1-range', 'fw', [])
  })
  await expect(slow).rejects.toThrow('another process replays with the same --id')
  expect(committed).toEqual([expect.stringMatching(/^threatweave-fw-replay-1-range-fw-0-[0-9a-f]{12}$/)])
})

// In transactions the ranges of a replay are kept by one start at a time.
import type { Kafka } from 'kafkajs'
import { expect, it } from 'vitest'
import type { KafkaSettings } from '../../../src/kafka/settings.js'
import { keeping } from '../../../src/replay/keep-ranges.js'
import type { Plan } from '../../../src/replay/plan.js'

const done = (): Promise<void> => Promise.resolve()
const settings = {
  transactionalIdPrefix: 'threatweave',
  delivery: 'exactly-once',
  output: { compression: 'none' },
} as KafkaSettings

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

it('ranges are refused if another start has kept its own in between', async () => {
  const { kafka, committed } = broker()
  const plan: Plan = {
    groupId: 'fw-replay-1',
    topicId: undefined,
    ranges: [{ partition: 0, start: 0, end: 9 }],
    isResumed: false,
    reached: new Map(),
  }
  const range = { partition: 0, offset: 9, note: { start: 0, output: 'again' } }
  const reader = { commit: () => Promise.reject(new Error('committed without a claim')) }
  const options = { connect: () => kafka, settings, emit: () => undefined, now: () => 0, reader }
  const slow = keeping('fw', plan, options, async (keep) => {
    await keeping('fw', plan, options, (keepFirst) => keepFirst([range]))
    await keep([range])
  })
  await expect(slow).rejects.toThrow('another process replays with the same --id')
  expect(committed).toEqual([expect.stringMatching(/^threatweave-fw-replay-1-range-fw-0-[0-9a-f]{12}$/)])
})

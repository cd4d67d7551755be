// Stores the ranges of a replay as the positions of a second consumer group.
// Under exactly-once this happens in a transaction, so that only one start at a time can succeed.
import { randomUUID } from 'node:crypto'
import type { DeliveryOptions } from '../delivery/delivery.js'
import { openTransactions } from '../delivery/partition-transactions.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import { rangeGroup, type KeepRanges, type Plan } from './plan.js'
import { alone, fatalOf } from './replay-task.js'

type KeepOptions = Pick<DeliveryOptions, 'connect' | 'settings' | 'emit'> & {
  readonly now: () => number
  readonly reader: Pick<TopicReader, 'commit'>
}

/** Passes the task a function that stores ranges. Under exactly-once it fails if another start has claimed them since. */
export const keeping = async <T>(
  topic: string,
  plan: Plan,
  options: KeepOptions,
  task: (keep: KeepRanges) => Promise<T>,
): Promise<T> => {
  const groupId = rangeGroup(plan.groupId)
  if (options.settings.delivery !== 'exactly-once')
    return task((ranges) =>
      options.reader.commit(
        groupId,
        topic,
        ranges.map(({ note, ...position }) => ({ ...position, metadata: JSON.stringify(note) })),
      ),
    )
  const transactions = openTransactions(alone({ topic, partition: plan.ranges[0]?.partition ?? 0 }), {
    ...options,
    kafka: options.connect(),
    owner: randomUUID(),
    settings: { ...options.settings, groupId },
    startingOffsets: () =>
      Promise.resolve({ topicId: plan.topicId, offsets: new Map(), committed: new Map(), former: new Set() }),
    takenOver: () => undefined,
    unclaimed: () => undefined,
    // The thrown error ends the replay.
    fail: () => undefined,
  })
  try {
    const claim = await transactions.claim()
    return await task(([first, ...others]) =>
      transactions.commit(claim, {
        send: () =>
          Promise.resolve(
            first
              ? {
                  offset: first.offset,
                  beside: first.note,
                  others: others.map(({ partition, offset, note }) => ({
                    partition,
                    offset: String(offset),
                    metadata: JSON.stringify(note),
                  })),
                }
              : 'nothing',
          ),
        settled: () => undefined,
      }),
    )
  } catch (error) {
    throw fatalOf(error, topic) ?? error
  } finally {
    await transactions.close('lost')
  }
}

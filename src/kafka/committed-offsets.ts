// Reads the committed offsets of a group: the current ones, or the final ones once no open transaction can change them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.js'
import { kafkaError } from './patched-kafkajs/patched-kafkajs.js'
import {
  stableOffsetsRequest,
  stableOffsetsVersion,
  unstableOffsetCommit,
  type StableOffsets,
} from './wire/stable-offsets.js'

export type Committed = { readonly partition: number; readonly offset: string; readonly metadata: string | null }

type Asked = { readonly groupId: string; readonly topic: string; readonly partitions: readonly number[] }

export const committedOffsets = async (cluster: Cluster, asked: Asked): Promise<readonly Committed[]> =>
  readUnstable(await cluster.findGroupCoordinator(asked), asked)

const maxPauseMs = 500
/** Below the time that callers allow for an answer. */
const maxWaitMs = 8_000

/**
 * Waits like Kafka's own consumer. A decided commit may not show yet, because its transaction is still being completed or the coordinator
 * has just changed. A process that read the older offset would write the same events again. Brokers before Kafka 2.5 cannot report this.
 */
export const settledOffsets = async (
  cluster: Cluster,
  asked: Asked,
  pause: (ms: number) => Promise<unknown> = sleep,
  now: () => number = () => performance.now(),
): Promise<readonly Committed[]> => {
  const until = now() + maxWaitMs
  for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const coordinator = await cluster.findGroupCoordinator(asked)
    if ((coordinator.versions?.[9]?.maxVersion ?? 0) < stableOffsetsVersion) return readUnstable(coordinator, asked)
    const { groupId, topic, partitions } = asked
    const request = stableOffsetsRequest(groupId, topic, partitions, throwFailure)
    const { partitions: found } = (await coordinator.connectionPool.send(request)) as StableOffsets
    const open = found.find(({ errorCode }) => errorCode === unstableOffsetCommit)
    if (!open) return found
    if (now() >= until)
      throw new Error(
        `a transaction with an offset of ${topic}/${open.partition} in group ${groupId} has been open for ${maxWaitMs / 1_000} seconds: the position is known when it ends`,
      )
    await pause(pauseMs)
  }
}

const readUnstable = async (
  coordinator: Awaited<ReturnType<Cluster['findGroupCoordinator']>>,
  { groupId, topic, partitions }: Asked,
): Promise<readonly Committed[]> => {
  const topics = [{ topic, partitions: partitions.map((partition) => ({ partition })) }]
  return (await coordinator.offsetFetch({ groupId, topics })).responses[0]?.partitions ?? []
}

const throwFailure = ({ errorCode, partitions }: StableOffsets): void => {
  const failed = [errorCode, ...partitions.map((one) => one.errorCode)].find(
    (code) => code !== 0 && code !== unstableOffsetCommit,
  )
  if (failed !== undefined) throw kafkaError(failed)
}

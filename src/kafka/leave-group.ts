// Takes a former consumer of this process out of its group: without that the group waits for it as long as a session lasts.
import type { Kafka } from 'kafkajs'
import { clusterOf } from './cluster.js'
import { failureOf } from './failure.js'

/** A group that does not know the member any more is as good. */
export const leaveGroup = async (kafka: Kafka, groupId: string, memberId: string): Promise<void> => {
  const cluster = clusterOf(kafka)
  try {
    await cluster.connect()
    await cluster.refreshMetadata()
    await (await cluster.findGroupCoordinator({ groupId })).leaveGroup({ groupId, memberId })
  } catch (error) {
    if (failureOf(error).name !== 'UNKNOWN_MEMBER_ID') throw error
  } finally {
    await cluster.disconnect()
  }
}

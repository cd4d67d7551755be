// Removes a former consumer of this process from its group: otherwise the group waits for it until its session times out.
import type { Kafka } from 'kafkajs'
import { clusterOf } from './cluster.js'
import { failureOf } from './failure.js'

/** A group that no longer knows the member is fine too. */
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

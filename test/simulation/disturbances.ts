// Faults of brokers, connections and processes in any simulation: temporary absence, and moves of leaders and coordinators.
import type { Cluster } from './broker/cluster.js'
import type { Network } from './network.js'
import { oneOf, type Process, type Random, type World } from './world.js'

export type Disturbances = {
  readonly brokersUp: () => readonly number[]
  /** Crashes brokers and restarts them. */
  readonly crash: (brokers: readonly number[], forMs: number) => void
  /** Makes running brokers unreachable. */
  readonly block: (brokers: readonly number[], forMs: number) => void
  /** The coordinators of the group and of its transactions, for so many partitions of a topic. */
  readonly moveCoordinators: (groupId: string, topic: string, partitions: number) => void
  readonly moveLeaders: (topics: readonly string[]) => void
  readonly pause: (process: Process | undefined, forMs: number) => void
  /** Cuts all its connections. */
  readonly cut: (process: Process | undefined) => void
  /** Ends all faults: every broker is up and reachable. */
  readonly end: () => void
}

type Parts = {
  readonly world: World
  readonly cluster: Cluster
  readonly network: Network
  /** Draws the destinations of moves. */
  readonly random: Random
}

export const createDisturbances = ({ world, cluster, network, random }: Parts): Disturbances => {
  const brokersUp = (): readonly number[] => cluster.ids.filter((id) => cluster.broker(id).isUp)
  return {
    brokersUp,
    crash: (brokers, forMs) => {
      for (const id of brokers) cluster.crashBroker(id)
      world.after(forMs, () => {
        for (const id of brokers) cluster.startBroker(id)
      })
    },
    block: (brokers, forMs) => {
      for (const id of brokers) network.block(cluster.addressOf(id))
      world.after(forMs, () => {
        for (const id of brokers) network.unblock(cluster.addressOf(id))
      })
    },
    moveCoordinators: (groupId, topic, partitions) => {
      const up = brokersUp()
      if (up.length === 0) return
      cluster.moveGroup(groupId, oneOf(random, up))
      for (let partition = 0; partition < partitions; partition++)
        cluster.moveTransactions(`threatweave-${groupId}-${topic}-${partition}`, oneOf(random, up))
    },
    moveLeaders: (topics) => {
      const up = brokersUp()
      if (up.length === 0) return
      for (const topic of topics)
        for (let partition = 0; partition < cluster.partitionCount(topic); partition++)
          cluster.moveLeader(topic, partition, oneOf(random, up))
    },
    pause: (process, forMs) => {
      process?.pause()
      world.after(forMs, () => process?.resume())
    },
    cut: (process) => {
      if (process) for (const connection of network.connections({ process })) connection.cut()
    },
    end: () => {
      for (const id of cluster.ids) {
        network.unblock(cluster.addressOf(id))
        cluster.startBroker(id)
      }
    },
  }
}

// The tasks of this process: one for each assigned partition, opened when it is assigned, kept while this process stays a member, closed when it is lost.
import { nameOf, type Assigned, type Fetched } from '../kafka/fetched.js'
import type { HealthRecord } from '../kafka/health.js'
import type { Outgoing } from '../kafka/records.js'
import type { Claimed, Delivery, PartitionDelivery, Written } from './delivery.js'
import type { DeliveryListener } from './listener.js'

export type Tasks = {
  /**
   * Call after every join with all partitions that are assigned now. `isSameMember`: this process took part in every assignment since the last call,
   * so what it had before was nobody else's in between.
   */
  readonly joined: (assigned: readonly Assigned[], isSameMember: boolean) => void
  readonly deliver: (fetched: Fetched, listener?: Pick<DeliveryListener, 'chunk'>) => Promise<void>
  readonly write: (partition: string, compose: () => readonly Outgoing[]) => Promise<Written>
  readonly claim: (partition: Assigned) => Promise<Claimed>
  readonly close: () => Promise<void>
}

export const createTasks = (delivery: Delivery, health: Pick<HealthRecord, 'track'>): Tasks => {
  const open = new Map<string, PartitionDelivery>()
  const openTask = (assigned: Assigned): PartitionDelivery => {
    const progress = health.track(nameOf(assigned))
    const opened = delivery.open(assigned, progress)
    return {
      ...opened,
      close: () => {
        progress.close()
        return opened.close()
      },
    }
  }
  return {
    joined: (assigned, isSameMember) => {
      delivery.joined(assigned)
      const staying = new Map(assigned.map((one) => [nameOf(one), one]))
      for (const [name, task] of open) {
        const stays = isSameMember ? staying.get(name) : undefined
        if (stays) task.kept(stays)
        else {
          open.delete(name)
          void task.close()
        }
      }
      for (const [name, one] of staying) if (!open.has(name)) open.set(name, openTask(one))
    },
    // What was fetched before a join may be of a partition that is another member's now.
    deliver: async (fetched, listener) => open.get(fetched.name)?.deliver(fetched, listener),
    write: async (partition, compose) => open.get(partition)?.write(compose) ?? 'not_written',
    claim: (partition) => {
      const task = open.get(nameOf(partition))
      return task ? task.claim() : Promise.reject(new Error(`${nameOf(partition)} is not assigned any more`))
    },
    close: async () => {
      await Promise.all([...open.values()].map((task) => task.close()))
      open.clear()
      await delivery.close()
    },
  }
}

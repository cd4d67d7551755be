// The tasks of this process: one for each assigned partition, opened when it is assigned, kept while this process stays a member, closed when it is lost.
import { setMaxListeners } from 'node:events'
import { nameOf, type Assigned, type Fetched, type InputPartition } from '../kafka/fetched.js'
import type { HealthRecord } from '../kafka/health.js'
import type { Delivery, PartitionDelivery } from './delivery.js'
import type { PartitionState } from './listener.js'
import type { Task } from './task.js'

export type Tasks = {
  /**
   * Call after every join with all partitions that are assigned now. `isSameMember`: this process took part in every assignment since the last call,
   * so what it had before was nobody else's in between.
   */
  readonly joined: (assigned: readonly Assigned[], isSameMember: boolean) => void
  readonly deliver: (fetched: Fetched) => Promise<void>
  /** The offsets of the partition mean nothing any more. */
  readonly recreated: (partition: InputPartition) => void
  readonly close: () => Promise<void>
}

type OpenTask = Pick<Tasks, 'deliver'> &
  Pick<PartitionDelivery, 'close'> & {
    readonly kept: (assigned: Assigned) => void
    readonly recreated: () => void
  }

type TasksOptions = {
  readonly delivery: Delivery
  /** What is noted of the events of a partition; absent where nothing follows. */
  readonly openState?: ((task: Task) => PartitionState) | undefined
  readonly health: Pick<HealthRecord, 'track'>
}

export const createTasks = (options: TasksOptions): Tasks => {
  const open = new Map<string, OpenTask>()
  /** Lost, but with a write in progress, which the end of the process must stop as well. */
  const closing = new Set<OpenTask>()
  const lose = (name: string, task: OpenTask): void => {
    open.delete(name)
    closing.add(task)
    void task.close(false).finally(() => closing.delete(task))
  }
  const begin = (assigned: Assigned): void => {
    const name = nameOf(assigned)
    const task = openTask(assigned, options, (still) => {
      if (open.get(name) !== task) return
      lose(name, task)
      begin(still)
    })
    open.set(name, task)
  }
  return {
    joined: (assigned, isSameMember) => {
      options.delivery.joined(assigned)
      const staying = new Map(assigned.map((one) => [nameOf(one), one]))
      for (const [name, task] of open) {
        const stays = isSameMember ? staying.get(name) : undefined
        if (stays) task.kept(stays)
        else lose(name, task)
      }
      for (const [name, one] of staying) if (!open.has(name)) begin(one)
    },
    // What was fetched before a join may be of a partition that is another member's now.
    deliver: async (fetched) => open.get(fetched.name)?.deliver(fetched),
    recreated: (partition) => open.get(nameOf(partition))?.recreated(),
    close: async () => {
      await Promise.all([...open.values(), ...closing].map((task) => task.close(true)))
      open.clear()
      await options.delivery.close()
    },
  }
}

const openTask = (
  assigned: Assigned,
  { delivery, openState, health }: TasksOptions,
  takenOver: (assigned: Assigned) => void,
): OpenTask => {
  const { topic, partition } = assigned
  const name = nameOf(assigned)
  const progress = health.track(name)
  const closed = new AbortController()
  // What keeps its state may wait in many places.
  setMaxListeners(0, closed.signal)
  const { deliver, write, claim, kept, close } = delivery.open(assigned, { progress, takenOver })
  const state = openState?.({ topic, partition, name, write, claim, signal: closed.signal })
  let stateClosed: Promise<void> | undefined
  return {
    deliver: (fetched) => deliver(fetched, state),
    kept,
    recreated: () => state?.recreated(),
    close: async (isEnding) => {
      progress.close()
      const delivered = close(isEnding)
      closed.abort()
      // A task that is lost may be closed once more, when the process ends.
      stateClosed ??= state?.close()
      await Promise.all([delivered, stateClosed])
    },
  }
}

// The tasks of this process, one per assigned partition.
// A task opens when its partition is assigned and survives every join that leaves the partition here. It closes when the partition is
// lost or had another owner in between. A topic that was created again gets new tasks.
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { nameOf, type Assigned, type Fetched } from '../kafka/fetched.js'
import type { HealthRecord } from '../kafka/health.js'
import type { ReadAgain } from '../kafka/read-again.js'
import type { Claimed, Delivery, PartitionDelivery, PartitionEvents } from './delivery.js'
import { mustHold, type Fail } from './must-hold.js'
import type { Openings } from './opening.js'
import type { PartitionState } from './listener.js'
import type { Task } from './task.js'
import type { Ending } from './task-states.js'

export type Tasks = {
  /** Call after every join with all partitions assigned now. */
  readonly joined: (assigned: readonly Assigned[]) => void
  readonly deliver: (fetched: Fetched) => Promise<void>
  /** Stops delivery after the chunks in progress. Follow-ups of delivered events can still be written. */
  readonly stopDelivering: () => void
  /** Reports the current id of a topic. Tasks that read a former topic of the same name are closed and opened again. */
  readonly topicIs: (topic: string, id: string) => void
  readonly close: () => Promise<void>
}

/** Pause per fetched batch while stopping, so the consumer does not spin. */
const againMs = 50

type OpenTask = Pick<Tasks, 'deliver'> &
  Pick<PartitionDelivery, 'close'> & {
    readonly assigned: () => Assigned
    /** Id of the topic that it reads; undefined until it is claimed, and if the brokers have no topic ids. */
    readonly topicId: () => string | undefined
    readonly kept: (assigned: Assigned) => void
  }

type TasksOptions = {
  readonly delivery: Delivery
  /** Opens the state kept for a partition; absent if no follow-ups are configured. */
  readonly openState?: ((task: Task) => PartitionState) | undefined
  readonly health: Pick<HealthRecord, 'track'>
  readonly openings: Openings
  readonly readAgain: ReadAgain['read']
  /** Ends the process with this message. */
  readonly fail: Fail
}

type Beginning = Required<Pick<PartitionEvents, 'takenOver' | 'readIn'>> & {
  /** Resolves when earlier tasks of the partition have ended. */
  readonly after: Promise<unknown>
}

export const createTasks = (options: TasksOptions): Tasks => {
  const open = new Map<string, OpenTask>()
  /** Closing tasks with work still in progress; the end of the process must stop them too. */
  const closing = new Map<OpenTask, Promise<void>>()
  let isStopping = false
  const lose = (name: string, task: OpenTask, ending: Ending): void => {
    open.delete(name)
    closing.set(
      task,
      task.close(ending).finally(() => closing.delete(task)),
    )
  }
  const begin = (assigned: Assigned, readIn?: string): void => {
    const name = nameOf(assigned)
    const former = [...closing].filter(([task]) => nameOf(task.assigned()) === name).map(([, closed]) => closed)
    const task = openTask(assigned, options, {
      readIn,
      after: Promise.all(former),
      takenOver: (still, ending) => openAnew(task, still, ending),
    })
    open.set(name, task)
  }
  const openAnew = (task: OpenTask, assigned: Assigned, ending: Ending): void => {
    const name = nameOf(assigned)
    if (open.get(name) !== task) return
    lose(name, task, ending)
    begin(assigned, task.topicId())
  }
  return {
    joined: (assigned) => {
      const staying = new Map(assigned.map((one) => [nameOf(one), one]))
      for (const [name, task] of [...open]) {
        const stays = staying.get(name)
        if (stays) task.kept(stays)
        else lose(name, task, 'lost')
      }
      for (const [name, one] of staying) if (!open.has(name)) begin(one)
    },
    deliver: async (fetched) => {
      if (isStopping) await sleep(againMs)
      // A batch fetched before a join may belong to a partition that another member owns now.
      else await open.get(fetched.name)?.deliver({ ...fetched, goesOn: () => !isStopping && fetched.goesOn() })
    },
    stopDelivering: () => {
      isStopping = true
    },
    topicIs: (topic, id) => {
      for (const task of [...open.values()]) {
        const assigned = task.assigned()
        if (assigned.topic === topic && (task.topicId() ?? id) !== id) openAnew(task, assigned, 'recreated')
      }
    },
    close: async () => {
      await Promise.all([...open.values(), ...closing.keys()].map((task) => task.close('stopped')))
      open.clear()
      await options.delivery.close()
    },
  }
}

/** Delay before a lost claim is replaced, since its cause may be short-lived. */
const unclaimedMs = 200

const openTask = (
  first: Assigned,
  { delivery, openState, health, openings, readAgain, fail }: TasksOptions,
  { takenOver, readIn, after }: Beginning,
): OpenTask => {
  const { topic, partition } = first
  const name = nameOf(first)
  const progress = health.track(name)
  const closed = new AbortController()
  // Every kind of state may add listeners, so there is no limit.
  setMaxListeners(0, closed.signal)
  const { deliver, write, claim, kept, close } = delivery.open(first, {
    progress,
    takenOver,
    readIn,
    unclaimed: (still) => claimAnew(still, unclaimedMs),
    opened: () => opening.opened(),
  })
  let assigned = first
  let topicId: string | undefined
  let isFormer = false
  const claimAndTell = async (): Promise<Claimed> => {
    const found = await claim()
    ;({ topicId } = found)
    // Only once: later state belongs to the current topic.
    if (found.isFormer && !isFormer) state?.recreated()
    isFormer ||= found.isFormer
    return found
  }
  const opening = openings(name, claimAndTell, closed.signal, () => state?.ready, after)
  /** End of the delivered range under the present claim. */
  let reached = 0
  const claimAnew: typeof opening.begin = (still, afterMs) => {
    reached = 0
    opening.begin(still, afterMs)
  }
  const claimed = async (): Promise<Claimed> => {
    const found = await opening.opened()
    if (!found) throw new Error(`${name} is not assigned any more`)
    return found
  }
  const state = openState?.({
    topic,
    partition,
    name,
    write,
    claim: claimed,
    readAgain: async (offsets, maxBytes) => readAgain(first, (await claimed()).topicId, offsets, maxBytes),
    signal: closed.signal,
  })
  claimAnew(first)
  let isReady = state?.ready === undefined
  void state?.ready?.then(() => (isReady = true))
  let stateClosed: Promise<void> | undefined
  /** The batch in progress. */
  let delivering: Promise<unknown> = Promise.resolve()
  return {
    deliver: async (fetched) => {
      mustHold(!closed.signal.aborted, () => `${name}: events are delivered after the partition was closed`, fail)
      // Leave a batch fetched before the partition was paused. It is read again.
      if (!isReady) return
      const from = Number(fetched.records[0]?.offset)
      const goesBack = from < reached && !fetched.isReset && fetched.goesOn()
      mustHold(!goesBack, () => `${name}: offset ${from} comes after ${reached} was reached`, fail)
      const resolve: Fetched['resolve'] = (last, metadata) => {
        if (fetched.goesOn()) reached = Number(last) + 1
        fetched.resolve(last, metadata)
      }
      const goesOn = (): boolean => !closed.signal.aborted && fetched.goesOn()
      const delivered = deliver({ ...fetched, goesOn, resolve }, state)
      delivering = delivered.catch(() => undefined) // the caller handles its failure
      await delivered
    },
    assigned: () => assigned,
    topicId: () => topicId,
    kept: (again) => {
      assigned = again
      kept(again)
      claimAnew(again)
    },
    close: async (ending) => {
      progress.close()
      const written = close(ending)
      closed.abort()
      // The end of the process may close a lost task a second time.
      stateClosed ??= state?.close()
      // When the process stops, the close of the delivery ends the sends in progress.
      await Promise.all([written, stateClosed, ending === 'stopped' ? undefined : delivering])
    },
  }
}

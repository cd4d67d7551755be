// The state of a task in the state topic: written record by record, and read once when the task opens, until that succeeds or the task is closed. What delivery
// waits for is read first, from the oldest record that still says something of it; the rest while events flow.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Claimed } from '../delivery/delivery.js'
import type { Task } from '../delivery/task.js'
import { besideIn, type Beside, type Commit } from '../kafka/commit-metadata.js'
import { failureOf } from '../kafka/failure.js'
import type { SharedReader } from '../kafka/shared-reader.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import type { Emit } from '../telemetry/event.js'
import type { StateRefusal } from '../telemetry/labels.js'
import {
  createReadState,
  createWriteState,
  deleteFormer,
  type StateKind,
  type StateRecord,
  type StateTopic,
  type WriteState,
} from './state-record.js'
import type { Outgoing } from '../kafka/records.js'

/** Where state is kept for the next owner of a partition. */
export type StatePlace = { readonly state: StateTopic; readonly reader: SharedReader }

/** What can be read once the former owner of the partition can write nothing more. */
export type RestoreSource = Claimed & {
  readonly reader: TopicReader
  /** False once the partition is lost. */
  readonly isOurs: () => boolean
}

/** One kind of state, or kinds that belong together. */
export type StateFold = {
  readonly kinds: readonly StateKind[]
  /** Whether delivery waits for it: it is read before the rest. */
  readonly isFirst: boolean
  /** Begins anew if a read failed. */
  readonly begin: (source: RestoreSource) => Promise<Folding>
}

type Folding = {
  /** False for what cannot be ours. */
  readonly apply: (record: StateRecord) => boolean
  /** Called with everything applied. */
  readonly end: () => Promise<void> | void
}

type Restoring = {
  readonly isRestored: () => boolean
  /** Resolves when it is, or when the partition is lost. */
  readonly restored: Promise<void>
}

export type TaskState = {
  readonly record: WriteState
  /** Deletes a record of version 1. */
  readonly deleteFormer: (kind: StateKind, id: string) => Outgoing
  /** Call for each kind before the task is claimed. */
  readonly restore: (fold: StateFold) => Restoring
}

/** What is kept with the position: nothing of version 1 is left to read, and the time of the oldest record about windows that are open. */
export const besideOf = (isVersion2: boolean, windowsFrom: number): Beside => ({
  ...(isVersion2 && { state: 2 }),
  windows_from: windowsFrom - slackMs,
})

/** By so much clocks may differ. */
const slackMs = 60_000

const keptWith = (commit: Commit | undefined): { readonly isVersion2: boolean; readonly windowsFrom: number } => {
  const { state, windows_from: from } = besideIn(commit?.metadata)
  return { isVersion2: state === 2, windowsFrom: Number.isSafeInteger(from) ? Number(from) : -1 }
}

/** Before a read that failed is tried again. */
const againMs = 1_000

type Restored = StateFold & { isDone: boolean }

export const openTaskState = (
  task: Task,
  { state, reader, emit, now }: StatePlace & { readonly emit: Emit; readonly now: () => number },
): TaskState => {
  const folds: Restored[] = []
  const isOurs = (): boolean => !task.signal.aborted
  const readSome = async (undone: readonly Restored[], isFirst: boolean): Promise<void> => {
    const claimed = await task.claim()
    const opened = await reader.open()
    const partition = task.partition % state.partitions
    // What was written may be in transactions that are still open.
    const end = await opened.writtenEnd(state.topic, partition)
    const { isVersion2, windowsFrom } = keptWith(claimed.commit)
    const isTail = isFirst && windowsFrom >= 0
    const found = isTail ? ((await opened.offsetsAt(state.topic, windowsFrom)).get(partition) ?? -1) : 0
    const from = found < 0 ? end : found
    const source = { ...claimed, reader: opened, isOurs }
    const folding = new Map<string, Folding[]>()
    const all = await Promise.all(undone.map(async (fold) => ({ fold, begun: await fold.begin(source) })))
    for (const { fold, begun } of all)
      for (const kind of fold.kinds) folding.set(kind, [...(folding.get(kind) ?? []), begun])
    const refused = new Map<StateRefusal, number>()
    const refuse = (reason: StateRefusal): void => void refused.set(reason, (refused.get(reason) ?? 0) + 1)
    const read = createReadState(
      state,
      ({ topic, partition: number, kind, version }) =>
        number === task.partition && topic === task.topic && folding.has(kind) && (version === 2 || !isVersion2),
    )
    await reader.readUpTo(
      { topic: state.topic, partition, from, end },
      (record) => {
        const one = read(record)
        if (!one) return
        if ('refused' in one) refuse(one.refused)
        else if (
          folding
            .get(one.kind)
            ?.map(({ apply }) => apply(one))
            .includes(false)
        )
          refuse('malformed')
      },
      isOurs,
    )
    if (!isOurs()) return
    for (const [reason, records] of refused) emit({ event: 'state_refused', topic: state.topic, records, reason })
    const finish = async ({ fold, begun }: (typeof all)[number]): Promise<void> => {
      await begun.end()
      fold.isDone = isOurs()
    }
    await Promise.all(all.map(finish))
  }
  const readAll = async (isFirst: boolean): Promise<void> => {
    for (;;) {
      const undone = folds.filter((fold) => fold.isFirst === isFirst && !fold.isDone)
      if (undone.length === 0 || !isOurs()) return
      try {
        await readSome(undone, isFirst)
      } catch (error) {
        reader.discard()
        if (!isOurs()) return
        emit({ event: 'kafka_client_warned', about: `state of ${task.name}`, message: failureOf(error).message })
        await sleep(againMs, undefined, { ref: false })
      }
    }
  }
  const first = Promise.resolve().then(() => readAll(true))
  const rest = first.then(() => readAll(false))
  return {
    record: createWriteState(state, task, now),
    deleteFormer: (kind, id) => deleteFormer(state, task, kind, id, now()),
    restore: (fold) => {
      const restored = { ...fold, isDone: false }
      folds.push(restored)
      return { isRestored: () => restored.isDone, restored: fold.isFirst ? first : rest }
    },
  }
}

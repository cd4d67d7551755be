// The state of a task in the state topic: written record by record, and restored once when the task opens.
// State that delivery depends on is read first, from the oldest record that still matters; the rest is read while events flow.
// A failed read is repeated until the task is closed.
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

/** The source of a restore, once the former owner of the partition can no longer write. */
export type RestoreSource = Claimed & {
  readonly reader: TopicReader
  /** False once the partition is lost. */
  readonly isOurs: () => boolean
}

/** One kind of state, or several that belong together. */
export type StateFold = {
  readonly kinds: readonly StateKind[]
  /** Whether delivery waits for it; then it is read before the rest. */
  readonly isFirst: boolean
  /** Starts from scratch after a failed read. */
  readonly begin: (source: RestoreSource) => Promise<Folding>
}

type Folding = {
  /** False for a record that cannot be ours. */
  readonly apply: (record: StateRecord) => boolean
  /** Called once all records are applied. */
  readonly end: () => Promise<void> | void
}

type Restoring = {
  readonly isRestored: () => boolean
  /** Resolves when the state is restored, or the partition is lost. */
  readonly restored: Promise<void>
}

export type TaskState = {
  readonly record: WriteState
  /** Deletes a record of version 1. */
  readonly deleteFormer: (kind: StateKind, id: string) => Outgoing
  /** Call for each kind before the task is claimed. */
  readonly restore: (fold: StateFold) => Restoring
}

/** The metadata committed with the position: whether version 1 records are gone, and the time of the oldest record about an open window. */
export const besideOf = (isVersion2: boolean, windowsFrom: number): Beside => ({
  ...(isVersion2 && { state: 2 }),
  windows_from: windowsFrom - slackMs,
})

/** Tolerance for clock skew. */
const slackMs = 60_000

const keptWith = (commit: Commit | undefined): { readonly isVersion2: boolean; readonly windowsFrom: number } => {
  const { state, windows_from: from } = besideIn(commit?.metadata)
  return { isVersion2: state === 2, windowsFrom: Number.isSafeInteger(from) ? Number(from) : -1 }
}

/** Delay before a failed read is retried. */
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
    // Include open transactions, which the read then waits for: they may hold records of the former owner.
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

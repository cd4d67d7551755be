// The windows of a task in the state topic: opened with their alert, counted on with each chunk, rewritten whole now and then, and read when the task opens.
import { heldTogether, type Window } from '../alerts/window.js'
import type { Task } from '../delivery/task.js'
import type { Outgoing } from '../kafka/records.js'
import type { SharedReader } from '../kafka/shared-reader.js'
import type { Emit } from '../telemetry/event.js'
import type { StateRefusal } from '../telemetry/labels.js'
import type { TaskAlerts, TaskAlertsDraft } from './task-alerts.js'
import { restoreState, type RestoreSource } from './restore-state.js'
import { createReadState, stateRecord, type StateTopic } from './state-record.js'
import {
  matchesValue,
  readMatches,
  readWindow,
  shortIdOf,
  splitMatches,
  type StoredWindow,
  windowId,
  windowValue,
} from './window-record.js'

type KeptWindowsOptions = {
  readonly state: StateTopic
  readonly reader: SharedReader
  readonly emit: Emit
  readonly now: () => number
}

export type KeptWindows = {
  /** Resolves when what was kept is known again, or the task is closed. */
  readonly ready: Promise<void>
  /** Chunks that follow are of the topic with this id. */
  readonly enter: (topicId: string | undefined) => void
  /** What a chunk adds, under `last`, the last offset that it counts. */
  readonly matches: (draft: Pick<TaskAlertsDraft, 'opened' | 'counted'>) => {
    readonly records: readonly Outgoing[]
    readonly committed: () => void
  }
  /** The windows that a write changes, whole. */
  readonly whole: (draft: Pick<TaskAlertsDraft, 'changed'>) => readonly Outgoing[]
  /** Writes what has changed since the last time, and deletes what is needed no longer. */
  readonly keep: () => Promise<void>
}

/** Windows that are written together. */
const together = 500
const everyMs = 5_000
const maxPauseMs = 30_000

export const keepWindows = (task: Task, windows: TaskAlerts, options: KeptWindowsOptions): KeptWindows => {
  const { state, reader, emit, now } = options
  /** Records of what chunks have added that are in the topic. */
  const added = new Set<string>()
  /** Forgotten, but not deleted from the topic. */
  let gone: readonly Window[] = []
  let keepAt = 0
  /** Of the topic that offsets are in; undefined where brokers have no ids. */
  let topicId: string | undefined

  /** By last offset, when the first attempt was made to write what its chunk adds. */
  const begunAt = new Map<number, number>()
  const windowRecord = (window: Window): Outgoing =>
    stateRecord(state, task, ['window', windowId(window)], windowValue(window, topicId), now())

  const restoring = restoreState(task, {
    topic: state,
    reader,
    restore: async (source) => {
      topicId = source.topicId
      const { found, ids, refused } = await readWindows(task, source, state)
      if (!source.isOurs()) return
      windows.restore(found)
      for (const id of ids) added.add(id)
      for (const [reason, records] of refused) emit({ event: 'state_refused', topic: state.topic, records, reason })
      const { topic, partition } = task
      emit({ event: 'windows_restored', topic, partition, windows: found.length })
    },
    emit,
  })

  /** False if it should be tried again later. */
  const keepSome = async (outdated: readonly string[]): Promise<'more' | 'all' | 'none'> => {
    let some: readonly Window[] = []
    const last = { isAll: false as boolean }
    const written = await task.write(() => {
      windows.putBack(some)
      some = windows.takeChanged(together)
      last.isAll = some.length < together
      gone = [...gone, ...windows.forget()]
      const deleted = [
        ...gone.filter((window) => !windows.has(window)).map((window) => ['window', windowId(window)] as const),
        // Not before: what they have added must be in the whole windows.
        ...(last.isAll ? outdated : []).map((id) => ['matches', id] as const),
      ]
      return [...some.map(windowRecord), ...deleted.map((key) => stateRecord(state, task, key, null, now()))]
    })
    if (written === 'closed') {
      windows.putBack(some)
      return 'none'
    }
    gone = []
    if (last.isAll) for (const id of outdated) added.delete(id)
    return last.isAll ? 'all' : 'more'
  }

  return {
    ready: restoring.restored,
    enter: (id) => {
      topicId = id ?? topicId
    },
    matches: (draft) => {
      const parts = splitMatches(draft.counted())
      const last = Math.max(...parts.flatMap((part) => part.map(({ more }) => offsetOf(more.last.origin))))
      // Whoever delivers a part of the same events again must not replace it; an attempt that failed is repeated under the same name.
      const at = begunAt.get(last) ?? now()
      begunAt.set(last, at)
      const ids = parts.map((_, nth) => `${last}/${at}/${nth}`)
      return {
        records: [
          ...draft.opened().map(windowRecord),
          ...parts.map((part, nth) =>
            stateRecord(state, task, ['matches', ids[nth] ?? ''], matchesValue(part, topicId), now()),
          ),
        ],
        committed: () => {
          begunAt.delete(last)
          for (const id of ids) added.add(id)
        },
      }
    },
    whole: (draft) => draft.changed().map(windowRecord),
    keep: async () => {
      if (!restoring.isRestored() || now() < keepAt) return
      const began = now()
      const outdated = [...added]
      while ((await keepSome(outdated)) === 'more');
      keepAt = now() + Math.min(maxPauseMs, Math.max(everyMs, 19 * (now() - began)))
    },
  }
}

const offsetOf = (origin: string): number => Number.parseInt(origin.slice(origin.lastIndexOf('/') + 1), 10)

type Restored = {
  readonly found: readonly { readonly window: Window; readonly isChanged: boolean }[]
  /** Of records of matches. */
  readonly ids: readonly string[]
  readonly refused: ReadonlyMap<StateRefusal, number>
}

const beginAnew = (stored: StoredWindow): void => {
  stored.window.upTo = -1
  stored.topicId = undefined
}

/** Whole windows, with what chunks have added since: each says up to which offset it counts, so nothing counts twice. */
const readWindows = async (
  task: Task,
  { topicId, eachRecord }: RestoreSource,
  state: StateTopic,
): Promise<Restored> => {
  const read = createReadState(state, task)
  const windows = new Map<string, StoredWindow>()
  const matches = new Map<string, NonNullable<ReturnType<typeof readMatches>>>()
  const refused = new Map<StateRefusal, number>()
  const refuse = (reason: StateRefusal): void => void refused.set(reason, (refused.get(reason) ?? 0) + 1)
  await eachRecord((record) => {
    const found = read(record)
    if (!found) return
    if ('refused' in found) {
      refuse(found.refused)
      return
    }
    const { kind, id, value } = found
    if (kind === 'window') {
      const window = value ? readWindow(found) : undefined
      if (window) windows.set(id, window)
      else if (value) refuse('malformed')
      else windows.delete(id)
    } else if (kind === 'matches') {
      const more = value ? readMatches(found, task.name) : undefined
      if (more) matches.set(id, more)
      else if (value) refuse('malformed')
      else matches.delete(id)
    }
  })
  const byShortId = new Map([...windows.values()].map((stored) => [shortIdOf(stored.window), stored]))
  const changed = new Set<Window>()
  const isOfFormer = (id: string | undefined): boolean => id !== undefined && topicId !== undefined && id !== topicId
  const inOrder = [...matches.values()]
    .flatMap(({ topicId: id, windows: more }) =>
      [...more].map(([name, one]) => ({ ...one, name, isFormer: isOfFormer(id) })),
    )
    .sort((one, other) => Number(other.isFormer) - Number(one.isFormer) || one.upTo - other.upTo)
  for (const { name, upTo, more, isFormer } of inOrder) {
    const stored = byShortId.get(name)
    if (!stored) continue
    const { window } = stored
    // An offset of the former topic is no place in this one.
    if (!isFormer && isOfFormer(stored.topicId)) beginAnew(stored)
    if (isFormer !== isOfFormer(stored.topicId) || upTo <= window.upTo) continue
    window.held = heldTogether(window.held, more)
    window.upTo = upTo
    window.matchedAt = Math.max(window.matchedAt, more.last.time)
    changed.add(window)
  }
  for (const stored of windows.values()) {
    if (!isOfFormer(stored.topicId)) continue
    beginAnew(stored)
    changed.add(stored.window)
  }
  const found = [...windows.values()].map(({ window }) => ({ window, isChanged: changed.has(window) }))
  return { found, ids: [...matches.keys()], refused }
}

// Keeps the windows of a task in the state topic.
// A window is written with its alert, extended by each chunk, rewritten whole from time to time, and restored when the task opens.
import { heldTogether, type Window } from '../alerts/window.js'
import type { Task } from '../delivery/task.js'
import type { Outgoing } from '../kafka/records.js'
import type { Emit } from '../telemetry/event.js'
import type { TaskAlerts, TaskAlertsDraft } from './task-alerts.js'
import type { StateFold, TaskState } from './restore-state.js'
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
  readonly emit: Emit
  readonly now: () => number
}

export type KeptWindows = {
  /** Resolves when the windows are restored, or the task is closed. */
  readonly ready: Promise<void>
  /** Sets the id of the topic that the next chunks belong to. */
  readonly enter: (topicId: string | undefined) => void
  /** The matches that a chunk adds, stored under its last matching offset. */
  readonly matches: (draft: Pick<TaskAlertsDraft, 'opened' | 'counted'>) => {
    readonly records: readonly Outgoing[]
    readonly committed: () => void
  }
  /** The windows changed by a write, each as a whole record. */
  readonly whole: (draft: Pick<TaskAlertsDraft, 'changed'>) => readonly Outgoing[]
  /** Writes the changed windows, and deletes obsolete records. */
  readonly keep: () => Promise<void>
  /** Write time of the oldest record that concerns an open window. */
  readonly from: () => number
}

/** Windows per write. */
const together = 500
const everyMs = 5_000
const maxPauseMs = 30_000

export const keepWindows = (
  task: Task,
  windows: TaskAlerts,
  state: TaskState,
  { emit, now }: KeptWindowsOptions,
): KeptWindows => {
  /** Ids of the match records in the topic. */
  const added = new Set<string>()
  /** Windows that were forgotten here but not yet deleted from the topic. */
  let gone: readonly Window[] = []
  let keepAt = 0
  /** Id of the topic that offsets belong to; undefined if the brokers have no topic ids. */
  let topicId: string | undefined

  /** Time of the first attempt to write the matches of a chunk, by its last offset. */
  const begunAt = new Map<number, number>()
  /** First write of each window, in insertion order. The first entry is the oldest unless the clock was set back. */
  const writtenAt = new Map<Window, number>()
  const windowRecord = (window: Window): Outgoing => {
    if (!writtenAt.has(window)) writtenAt.set(window, now())
    return state.record('window', windowId(window), windowValue(window, topicId))
  }

  const restoring = state.restore({
    kinds: ['window', 'matches'],
    isFirst: true,
    begin: (source) => {
      topicId = source.topicId
      const { apply, end } = foldWindows(task, topicId)
      return Promise.resolve({
        apply,
        end: () => {
          const { found, ids } = end()
          if (!source.isOurs()) return
          windows.restore(found)
          for (const { window, at } of found.toSorted((one, other) => one.at - other.at)) writtenAt.set(window, at)
          for (const id of ids) added.add(id)
          const { topic, partition } = task
          emit({ event: 'windows_restored', topic, partition, windows: found.length })
        },
      })
    },
  })

  /** `none` means that nothing was written and the task is closed. */
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
        // Only with the last part: the whole windows must contain these matches first.
        ...(last.isAll ? outdated : []).map((id) => ['matches', id] as const),
      ]
      return [...some.map(windowRecord), ...deleted.map(([kind, id]) => state.record(kind, id, null))]
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
      // The time keeps a redelivery of some of the same events from overwriting this record. A retry uses the same id.
      const at = begunAt.get(last) ?? now()
      begunAt.set(last, at)
      const ids = parts.map((_, nth) => `${last}/${at}/${nth}`)
      return {
        records: [
          ...draft.opened().map(windowRecord),
          ...parts.map((part, nth) => state.record('matches', ids[nth] ?? '', matchesValue(part, topicId))),
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
      for (const window of writtenAt.keys()) {
        if (windows.has(window)) break
        writtenAt.delete(window)
      }
    },
    from: () => {
      const [oldest = now()] = writtenAt.values()
      return oldest
    },
  }
}

const offsetOf = (origin: string): number => Number.parseInt(origin.slice(origin.lastIndexOf('/') + 1), 10)

const beginAnew = (stored: StoredWindow): void => {
  stored.window.upTo = -1
  stored.topicId = undefined
}

type Restored = {
  readonly found: readonly { readonly window: Window; readonly isChanged: boolean; readonly at: number }[]
  /** Ids of match records. */
  readonly ids: readonly string[]
}

/** Adds the matches of chunks to the whole windows. Each window stores the offset up to which it counts, so no match counts twice. */
const foldWindows = (
  task: Task,
  topicId: string | undefined,
): Pick<Awaited<ReturnType<StateFold['begin']>>, 'apply'> & { readonly end: () => Restored } => {
  const windows = new Map<string, StoredWindow & { readonly at: number }>()
  const matches = new Map<string, NonNullable<ReturnType<typeof readMatches>>>()
  return {
    apply: (record) => {
      const { kind, id, value, at } = record
      const stored = kind === 'window' ? windows : matches
      if (!value) stored.delete(id)
      else if (kind === 'window') {
        const window = readWindow(record)
        if (!window) return false
        windows.set(id, { ...window, at })
      } else {
        const more = readMatches(record, task.name)
        if (!more) return false
        matches.set(id, more)
      }
      return true
    },
    end: () => addUp(windows, matches, topicId),
  }
}

const addUp = (
  windows: ReadonlyMap<string, StoredWindow & { readonly at: number }>,
  matches: ReadonlyMap<string, NonNullable<ReturnType<typeof readMatches>>>,
  topicId: string | undefined,
): Restored => {
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
    // An offset of the former topic is no position in the current one.
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
  const found = [...windows.values()].map(({ window, at }) => ({ window, isChanged: changed.has(window), at }))
  return { found, ids: [...matches.keys()] }
}

// Writes the alerts of each task, and an update with the suppressed matches when a window closes, even if no event follows.
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../base/message-of.js'
import { alertRecord, type AlertOut } from '../delivery/compose.js'
import type { Task } from '../delivery/task.js'
import type { Outgoing } from '../kafka/records.js'
import type { EventOut } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import type { LateAlerts } from './follow-late.js'
import { keepWindows, type KeptWindows } from './kept-windows.js'
import type { TaskState } from './restore-state.js'
import type { AlertSource, Fired, TaskAlertsDraft } from './task-alerts.js'
import type { TopicOf } from './state-record.js'

type AlertWindowsOptions = {
  readonly alerts: AlertSource
  readonly alertsTopic: TopicOf
  /** Whether windows are kept for the next owner of a partition. */
  readonly areKept: boolean
  readonly emit: Emit
  readonly now: () => number
}

type AlertWindows = {
  /** `state` is absent if no state is kept. */
  readonly open: (task: Task, state: TaskState | undefined) => TaskWindows
  /** Without a state topic, writes the present updates, including those of open windows. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The windows of one task. */
export type TaskWindows = {
  /** For one chunk. */
  readonly begin: (topicId?: string) => {
    readonly records: (events: readonly EventOut[], fired: Fired) => readonly Outgoing[]
    readonly commit: () => void
    readonly giveUp: () => void
  }
  readonly late: LateAlerts
  /** Resolves when the windows are restored; absent if none are kept. */
  readonly ready?: Promise<void> | undefined
  readonly from: KeptWindows['from']
  /** Call when the offsets have become meaningless. */
  readonly recreated: () => void
  readonly close: () => Promise<void>
}

type Told = {
  readonly tell: (all: boolean) => Promise<void>
  /** False if it could not be written here. */
  readonly tellContext: (updates: readonly AlertOut[]) => Promise<boolean>
}

const everyMs = 1_000
/** Updates per write. */
const together = 500
const flushMs = 5_000

export const openAlertWindows = ({ alerts, alertsTopic, areKept, emit, now }: AlertWindowsOptions): AlertWindows => {
  const tasks = new Set<Told>()
  const { topic, partitions } = alertsTopic
  const recordOf = (alert: AlertOut): Outgoing => alertRecord(topic, partitions, alert, now())
  /** Context updates of alerts; any partition may write them. */
  let context: readonly AlertOut[] = []

  const tellAll = async (all: boolean): Promise<void> => {
    const [first] = tasks
    const some = [...context, ...alerts.takeContext()]
    context = first ? [] : some
    const telling = [...tasks].map(({ tell }) => tell(all))
    if (first && some.length > 0 && !(await first.tellContext(some))) context = [...some, ...context]
    await Promise.all(telling)
  }
  let telling: Promise<void> | undefined
  const looks = setInterval(() => {
    telling ??= tellAll(false).finally(() => (telling = undefined))
  }, everyMs).unref()

  const open: AlertWindows['open'] = (task, state) => {
    const windows = alerts.open()
    const kept = state && keepWindows(task, windows, state, { emit, now })
    let isReady = kept === undefined
    void kept?.ready.then(() => (isReady = true))
    let told = Promise.resolve()

    /** False if there was nothing to write. */
    const tellSome = async (all: boolean): Promise<boolean> => {
      let draft: TaskAlertsDraft | undefined
      let updates = 0
      const written = await task.write(() => {
        draft?.giveUp()
        draft = windows.begin()
        const some = draft.updates(together, all)
        updates = some.length
        return [...some.map(recordOf), ...(kept?.whole(draft) ?? [])]
      })
      if (written === 'closed') {
        draft?.giveUp()
        return false
      }
      draft?.commit()
      if (updates > 0 && written === 'written') emit({ event: 'alert_updates_written', updates })
      return updates > 0
    }
    const tellDue = async (all: boolean): Promise<void> => {
      if (!isReady) return
      while (!task.signal.aborted && (all || windows.isDue()) && (await tellSome(all)));
      if (kept) await kept.keep()
      else windows.forget()
    }
    const tell = (all: boolean): Promise<void> =>
      (told = told
        .then(() => tellDue(all))
        .catch((error: unknown) => emit({ event: 'follow_up_failed', what: 'alert updates', cause: messageOf(error) })))

    const open: Told = {
      tell,
      tellContext: async (some) => (await task.write(() => some.map(recordOf))) !== 'closed',
    }
    tasks.add(open)
    return {
      begin: (topicId) => {
        kept?.enter(topicId)
        const draft = windows.begin()
        let added: ReturnType<KeptWindows['matches']> | undefined
        return {
          records: (events, fired) => {
            const raised = draft.raise(events, fired).map(recordOf)
            added = kept?.matches(draft)
            return added ? [...raised, ...added.records] : raised
          },
          commit: () => {
            draft.commit()
            added?.committed()
          },
          giveUp: draft.giveUp,
        }
      },
      late: {
        isReady: () => isReady,
        begin: () => {
          const draft = windows.begin(true)
          return {
            raise: (events) => {
              const { alerts: raised, fired } = draft.raiseLate(events)
              return { alerts: raised.map(recordOf), fired }
            },
            windows: () => kept?.whole(draft) ?? [],
            commit: draft.commit,
            giveUp: draft.giveUp,
          }
        },
      },
      ready: kept?.ready,
      from: kept?.from ?? now,
      recreated: windows.beginAnew,
      close: async () => {
        tasks.delete(open)
        await told
        const updates = kept ? 0 : windows.untold()
        if (updates > 0) emit({ event: 'alert_updates_dropped', updates })
        windows.close()
      },
    }
  }

  return {
    open,
    flush: async () => {
      if (!areKept) await Promise.race([tellAll(true), sleep(flushMs, undefined, { ref: false })])
    },
    close: async () => {
      clearInterval(looks)
      await telling
    },
  }
}

// Delivers alerts to one sink in order. Each is retried until it is delivered, permanently rejected, or no longer due.
import { setTimeout as sleep } from 'node:timers/promises'
import { ruleLevels } from '../../alerts/sigma/rule.js'
import { createBoundedCache } from '../../base/bounded-cache.js'
import type { Fetched } from '../../kafka/fetched.js'
import type { Incoming } from '../../kafka/records.js'
import type { Emit } from '../../telemetry/event.js'
import { readAlert, type AlertRecord } from './alert-record.js'
import type { DeadLetter } from './dead-letters.js'
import { heartbeat, moreAlerts, type LeftOut } from './notices.js'
import type { Silences } from './silences.js'
import type { SinkClient, SinkState } from './sink-client.js'
import type { Sink } from './sink-file.js'

/** Every alert ends as exactly one of these; the metrics count them. */
const alertFates = [
  'delivered',
  'refused',
  'merged',
  'silenced',
  'capped',
  'too_old',
  'other_sinks',
  'no_alert',
] as const
type Fate = (typeof alertFates)[number]

export type SinkStatus = {
  readonly id: string
  readonly state: SinkState
  /** Counted by outcome. */
  readonly alerts: Readonly<Record<Fate, number>>
  readonly failures: Readonly<Partial<Record<SinkState, number>>>
  /** When the oldest alert in progress was written, in epoch milliseconds. */
  readonly oldest: number | undefined
  /** The next offset of each partition. */
  readonly positions: ReadonlyMap<number, number>
}

type SinkDeliveryOptions = {
  readonly sink: Sink
  readonly client: Pick<SinkClient, 'send' | 'resolve'>
  readonly silences: Pick<Silences, 'find' | 'count'>
  /** Whether routing sends an alert to this sink. */
  readonly wants: (alert: AlertRecord) => boolean
  /** Resolves once they are written. */
  readonly writeDeadLetters: (letters: readonly DeadLetter[]) => Promise<void>
  readonly maxAgeMs: number
  readonly emit: Emit
  readonly now: () => number
  readonly random: () => number
  readonly pauses?: { readonly firstMs: number; readonly maxMs: number; readonly minuteMs: number }
}

type Batch = Pick<Fetched, 'records' | 'topic' | 'partition' | 'lag' | 'goesOn' | 'resolve' | 'commit'>

export type SinkDelivery = {
  /** `metadata` is committed with every position. */
  readonly deliver: (batch: Batch, metadata: string) => Promise<void>
  /** Call with alerts that were handled before this process read the partition. */
  readonly remember: (record: { readonly value: Buffer | null; readonly timestamp: string }) => void
  /** Call when partitions are assigned: what was left out and not told is read again. */
  readonly joined: (partitions: readonly number[]) => void
  /** Call periodically: resolves expired groups and sends heartbeats. */
  readonly tick: () => Promise<void>
  readonly status: () => SinkStatus
}

type Waiting = { readonly alert: AlertRecord; readonly record: Incoming }

const rememberedGroups = 100_000
const maxOpen = 100_000
const longestRetryAfterMs = 3_600_000
const batchBytes = 4_194_304
const usualPauses = { firstMs: 500, maxMs: 60_000, minuteMs: 60_000 }
/** A pause checks for a stop this often. */
const stepMs = 200

export const createSinkDelivery = (options: SinkDeliveryOptions): SinkDelivery => {
  const { sink, client, silences, wants, writeDeadLetters, maxAgeMs, emit, now, random } = options
  const { firstMs, maxMs, minuteMs } = options.pauses ?? usualPauses
  const keepsAll = sink.sends === 'everything'
  const groups = createBoundedCache<string, true>(rememberedGroups)
  const open = new Map<string, { readonly alert: AlertRecord; readonly dueAt: number }>()
  const leftOut = new Map<number, LeftOut>()
  const alerts = Object.fromEntries(alertFates.map((fate) => [fate, 0])) as Record<Fate, number>
  const failures: Partial<Record<SinkState, number>> = {}
  const positions = new Map<number, number>()
  const oldest = new Map<number, number>()
  let state: SinkState = 'working'
  let failingSince = 0
  let beatAt = now()
  let minute = { endsAt: 0, left: 0 }

  const hasRoom = (): boolean => {
    if (sink.perMinute === undefined) return true
    if (now() >= minute.endsAt) minute = { endsAt: now() + minuteMs, left: sink.perMinute }
    return minute.left > 0
  }
  const pause = async (ms: number, goesOn: () => boolean): Promise<void> => {
    for (let left = ms; left > 0 && goesOn(); left -= stepMs) await sleep(Math.min(left, stepMs))
  }
  const noteState = (next: SinkState, detail: string, againInMs: number): void => {
    if (next !== 'working') {
      if (state === 'working') failingSince = now()
      failures[next] = (failures[next] ?? 0) + 1
      emit({ event: 'sink_failed', sink: sink.id, state: next, detail, againInMs })
    } else if (state !== 'working') emit({ event: 'sink_recovered', sink: sink.id, afterMs: now() - failingSince })
    state = next
  }
  const noteDelivered = (alert: AlertRecord, at: number): void => {
    if (keepsAll) return
    groups.set(alert.groupId, true)
    if (!sink.resolve) return
    open.delete(alert.groupId)
    open.set(alert.groupId, { alert, dueAt: at + sink.openMinutes * 60_000 })
    const [first] = open.size > maxOpen ? open.keys() : []
    if (first !== undefined) open.delete(first)
  }

  /** Returns the alert to send, or the reason why it is not sent. */
  const judge = (record: Incoming): AlertRecord | Exclude<Fate, 'delivered' | 'refused'> => {
    const alert = readAlert(record.value)
    if ('problem' in alert) {
      const { topic, partition, offset } = record
      emit({ event: 'no_alert_read', sink: sink.id, topic, origin: `${partition}:${offset}`, message: alert.problem })
      return 'no_alert'
    }
    if (!wants(alert)) return 'other_sinks'
    const silence = silences.find(alert.whole)
    if (silence) {
      silences.count(silence)
      if (sink.silenced === 'drop') return 'silenced'
    }
    if (!keepsAll && now() - Number(record.timestamp) > maxAgeMs) return note(record, alert, true)
    if (sink.sends === 'first' && groups.get(alert.groupId)) return 'merged'
    if (!hasRoom()) return note(record, alert, false)
    if (sink.perMinute !== undefined) minute.left--
    if (!silence) return alert
    const { id, until, reason, by } = silence
    const { threatweave } = alert.whole as { readonly threatweave: object }
    return { ...alert, whole: { ...alert.whole, threatweave: { ...threatweave, silenced: { id, until, reason, by } } } }
  }
  const note = ({ partition, offset }: Incoming, { level }: AlertRecord, isOld: boolean): 'too_old' | 'capped' => {
    const before = leftOut.get(partition)
    const worst = before && ruleLevels.indexOf(before.worst) > ruleLevels.indexOf(level) ? before.worst : level
    leftOut.set(partition, {
      alerts: (before?.alerts ?? 0) + 1,
      tooOld: (before?.tooOld ?? 0) + Number(isOld),
      worst,
      first: before?.first ?? `${partition}:${offset}`,
    })
    return isOld ? 'too_old' : 'capped'
  }

  /**
   * Collects the alerts of the next request from index `from` on; `end` is where the following request starts.
   * A request has at most one alert per group, so retries cannot reorder a group.
   */
  const take = (records: readonly Incoming[], from: number): { readonly waiting: Waiting[]; readonly end: number } => {
    const waiting: Waiting[] = []
    const inBatch = new Set<string>()
    let bytes = 0
    let end = from
    for (; end < records.length && waiting.length < sink.batch && bytes < batchBytes; end++) {
      const record = records[end] as Incoming
      if (inBatch.size > 0) {
        const next = readAlert(record.value)
        if ('groupId' in next && inBatch.has(next.groupId)) break
      }
      const judged = judge(record)
      if (typeof judged === 'string') {
        alerts[judged]++
        continue
      }
      inBatch.add(judged.groupId)
      waiting.push({ alert: judged, record })
      bytes += record.value?.length ?? 0
    }
    return { waiting, end }
  }

  /** Returns false when the partition was revoked or this process is stopping. */
  const sendAll = async (batch: readonly Waiting[], goesOn: () => boolean): Promise<boolean> => {
    let waiting = batch
    for (let pauseMs = firstMs; waiting.length > 0; pauseMs = Math.min(pauseMs * 2, maxMs)) {
      if (!goesOn()) return false
      const outcomes = await client.send(waiting.map(({ alert }) => alert))
      const [first] = outcomes
      if (first?.kind === 'refused' && waiting.length > 1 && outcomes.every((outcome) => outcome === first)) {
        // The sink rejected the whole request, so try each half separately.
        const half = waiting.length >> 1
        return (await sendAll(waiting.slice(0, half), goesOn)) && sendAll(waiting.slice(half), goesOn)
      }
      const again: Waiting[] = []
      const letters: DeadLetter[] = []
      let failure: Extract<(typeof outcomes)[number], { readonly kind: 'later' }> | undefined
      waiting.forEach((one, nth) => {
        const outcome = outcomes[nth]
        if (!outcome || outcome.kind === 'later') {
          failure ??= outcome
          again.push(one)
        } else if (outcome.kind === 'refused') letters.push({ ...one, sink: sink.id, ...outcome })
        else {
          alerts.delivered++
          noteDelivered(one.alert, now())
        }
      })
      if (letters.length > 0) {
        await writeDeadLetters(letters)
        alerts.refused += letters.length
      }
      if (failure === undefined) {
        noteState('working', '', 0)
        return true
      }
      const waitMs = Math.max(pauseMs * (0.75 + random() / 2), Math.min(failure.afterMs ?? 0, longestRetryAfterMs))
      noteState(failure.state, failure.detail, Math.round(waitMs))
      await pause(waitMs, goesOn)
      waiting = again.filter(({ alert }) => !isSilencedNow(alert))
    }
    return true
  }
  /** A silence added during an outage also suppresses alerts that wait for a retry. */
  const isSilencedNow = (alert: AlertRecord): boolean => {
    const silence = sink.silenced === 'drop' ? silences.find(alert.whole) : undefined
    if (!silence) return false
    silences.count(silence)
    alerts.silenced++
    return true
  }
  const tellLeftOut = async (partition: number, goesOn: () => boolean): Promise<boolean> => {
    const found = leftOut.get(partition)
    if (!found) return true
    const alert = moreAlerts(sink.id, found, now())
    for (let pauseMs = firstMs; goesOn(); pauseMs = Math.min(pauseMs * 2, maxMs)) {
      const [outcome] = await client.send([alert])
      if (outcome?.kind !== 'later') {
        noteState('working', '', 0)
        leftOut.delete(partition)
        return true
      }
      const waitMs = Math.max(pauseMs, Math.min(outcome.afterMs ?? 0, longestRetryAfterMs))
      noteState(outcome.state, outcome.detail, waitMs)
      await pause(waitMs, goesOn)
    }
    return false
  }

  const deliver: SinkDelivery['deliver'] = async (batch, metadata) => {
    const { records, partition, goesOn } = batch
    const settle = async (last: string): Promise<void> => {
      positions.set(partition, Number(last) + 1)
      // Omitted alerts stay uncommitted until the sink got the message that counts them.
      batch.resolve(last, leftOut.has(partition) ? undefined : metadata)
      await batch.commit()
    }
    try {
      for (let at = 0; at < records.length && goesOn();) {
        oldest.set(partition, Number((records[at] as Incoming).timestamp))
        const hadRoom = hasRoom()
        const { waiting, end } = take(records, at)
        // One message covers all omitted alerts. It goes before the next alert, or when none is left.
        if (waiting.length > 0 && hadRoom && !(await tellLeftOut(partition, goesOn))) return
        if (!(await sendAll(waiting, goesOn))) return
        await settle((records[end - 1] as Incoming).offset)
        at = end
      }
      const last = records.at(-1)
      if (!last || batch.lag > 0 || !leftOut.has(partition)) return
      while (!hasRoom() && goesOn()) await pause(stepMs, goesOn)
      if (await tellLeftOut(partition, goesOn)) await settle(last.offset)
    } finally {
      oldest.delete(partition)
    }
  }

  const tick = async (): Promise<void> => {
    if (sink.heartbeatMinutes !== undefined && now() - beatAt >= sink.heartbeatMinutes * 60_000) {
      beatAt = now()
      const [outcome] = await client.send([heartbeat(sink.id, now())])
      if (outcome?.kind === 'later') noteState(outcome.state, outcome.detail, sink.heartbeatMinutes * 60_000)
    }
    for (const [groupId, { alert, dueAt }] of open) {
      if (dueAt > now()) return
      const outcome = await client.resolve(alert)
      if (outcome.kind === 'later') return
      open.delete(groupId)
    }
  }

  return {
    deliver,
    remember: ({ value, timestamp }) => {
      const alert = readAlert(value)
      if ('problem' in alert || !wants(alert)) return
      if (sink.silenced === 'mark' || !silences.find(alert.whole)) noteDelivered(alert, Number(timestamp))
    },
    joined: (partitions) => {
      leftOut.clear()
      for (const partition of positions.keys()) if (!partitions.includes(partition)) positions.delete(partition)
    },
    tick,
    status: () => ({
      id: sink.id,
      state,
      alerts: { ...alerts },
      failures: { ...failures },
      oldest: oldest.size === 0 ? undefined : Math.min(...oldest.values()),
      positions: new Map(positions),
    }),
  }
}

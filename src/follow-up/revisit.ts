// Revisits events that were delivered before their answers: raises the alerts that follow now, and finds the answers still open.
import type { Judged } from '../domain/verdict.js'
import type { Unread } from '../domain/unread.js'
import { passes } from '../domain/reason.js'
import type { DueNote, PendingNote } from './pending.js'
import type { Clock } from '../base/clock.js'

/** An event that was annotated again, with its earlier firings. */
type Again<Event> = { readonly event: Event; readonly fired: readonly string[] }

/** The new alerts, and all firings per event. */
export type RaiseLate<Event, Alert> = (events: readonly Again<Event>[]) => Raised<Alert> & {
  readonly fired: readonly (readonly string[])[]
}

type Raised<Alert> = { readonly alerts: readonly Alert[] }

type Revisited<Event, Alert> = Raised<Alert> & {
  /** Events without open answers, each with its offset. */
  readonly done: readonly { readonly offset: number; readonly event: Event }[]
  /** Notes of events with open answers. */
  readonly open: readonly PendingNote[]
}

/** Whether the answer may come later. */
export const mayStillCome = ({ verdict: { reason } }: Judged): boolean => reason !== undefined && passes(reason)

/** Whether a spent budget is the only reason for the missing answers. */
export const isLeftByBudget = ({ judged, unread }: Unanswered): boolean => {
  let isSome = false
  for (const one of judged) {
    if (one.late === undefined && !mayStillCome(one)) continue
    if (one.verdict.reason !== 'budget_spent') return false
    isSome = true
  }
  return isSome && unread === undefined
}

/** With pauses of 30 s, doubled each time, a quarter of an hour in total. */
const maxFailures = 5

/** `retry` resolves when a lookup with this many failures should be repeated; absent if the annotating pipeline repeats lookups itself. */
export const revisit = <Event extends Unanswered, Alert>(
  events: readonly { readonly note: DueNote; readonly event: Event }[],
  raise: RaiseLate<Event, Alert>,
  retry?: (failures: number) => Promise<void>,
): Revisited<Event, Alert> => {
  const { fired, ...raised } = raise(events.map(({ note, event }) => ({ event, fired: note.fired })))
  const done: { readonly offset: number; readonly event: Event }[] = []
  const open: PendingNote[] = []
  for (const [place, { note, event }] of events.entries()) {
    const { offset, failures = 0, isFree } = note
    const known = { offset, fired: fired[place] ?? note.fired, isFree }
    const awaited = awaitedBy(event)
    if (awaited.length > 0) open.push({ ...known, awaited, failures: note.failures })
    else if (retry && failures < maxFailures && event.judged.some(mayStillCome))
      open.push({ ...known, awaited: [retry(failures)], failures: failures + 1 })
    else done.push({ offset, event })
  }
  return { ...raised, done, open }
}

const none: readonly Promise<unknown>[] = []

/** An event that may lack answers, or the schema of its value. */
type Unanswered = { readonly judged: readonly Judged[]; readonly unread?: Unread | undefined }

/** The answers and the schema that were missing when the event was annotated. */
export const awaitedBy = ({ judged, unread }: Unanswered): readonly Promise<unknown>[] => {
  let awaited: Set<Promise<unknown>> | undefined
  if (unread?.late) awaited = new Set([unread.late])
  for (const { late } of judged) if (late) (awaited ??= new Set()).add(late)
  return awaited ? [...awaited] : none
}

// Firings for members of a batch, stored as firings of the batch with the index of the member.

export const firingsOfMember = (member: number, firings: readonly string[]): readonly string[] =>
  firings.map((firing) => `${member} ${firing}`)

const firedFor = (member: number, fired: readonly string[]): readonly string[] => {
  const start = `${member} `
  return fired.flatMap((rule) => (rule.startsWith(start) ? [rule.slice(start.length)] : []))
}

/** Raises late alerts for events that may be batches: each member counts as an event. */
export const raiseByMember =
  <Event extends { readonly members?: readonly Event[] | undefined }, Alert>(
    raise: RaiseLate<Event, Alert>,
  ): RaiseLate<Event, Alert> =>
  (events) => {
    const { fired, ...raised } = raise(
      events.flatMap(({ event, fired: before }) =>
        event.members
          ? event.members.map((member, nth) => ({ event: member, fired: firedFor(nth, before) }))
          : [{ event, fired: before }],
      ),
    )
    let place = 0
    const firedOf = ({ members }: Event): readonly string[] =>
      members ? members.flatMap((_, nth) => firingsOfMember(nth, fired[place++] ?? [])) : (fired[place++] ?? [])
    return { ...raised, fired: events.map(({ event }) => firedOf(event)) }
  }

// Schedules repeats of failed lookups. Lookups with the same number of failures share one timer.

const firstMs = 30_000

/** Returns the promise for the next repeat, by number of failures. */
export const createRetryLater = (clock: Clock): ((failures: number) => Promise<void>) => {
  const next = new Map<number, Promise<void>>()
  return (failures) => {
    const known = next.get(failures)
    if (known) return known
    const promise = new Promise<void>((resolve) => {
      clock.after(firstMs * 2 ** failures, () => {
        next.delete(failures)
        resolve()
      })
    })
    next.set(failures, promise)
    return promise
  }
}

// Measures the quality of each feed: matching events, alerts, safeguarded listings, and the share of addresses it lists.
import type { Judged } from '../domain/verdict.js'
import { createCountDistinct, type CountDistinct } from './count-distinct.js'
import type { Emit } from './event.js'

/** Since the process began. */
export type FeedUse = {
  /** Distinct entries that matched events, to within a few percent. */
  readonly entriesSeen: number
  readonly events: number
  /** Events with a listing that the safeguard held back. */
  readonly heldBack: number
  readonly alerts: number
  /** Alerts for which the feed was the only source. */
  readonly onlyAlerts: number
  /** The listed share of the distinct public addresses seen, from 0 to 1. */
  readonly share: number
}

/** The parts of an alert that name its sources. */
type Accusation = {
  readonly threatweave: {
    readonly kind?: string
    readonly feed?: string
    readonly accusers?: number
    readonly listings?: readonly { readonly feed: string; readonly level: string }[]
  }
}

type Counted = {
  readonly entries: CountDistinct
  readonly addresses: CountDistinct
  events: number
  heldBack: number
  alerts: number
  onlyAlerts: number
  /** The number of the last counted event, so that an event with several listed indicators counts once. */
  last: number
  lastHeldBack: number
  hasWarned: boolean
}

/** A larger share of all addresses is more likely a mistake in the list than a danger. */
const maxShare = 0.01
/** With fewer distinct addresses the share is not meaningful. */
const leastAddresses = 1_000
/** The number of events between checks of the share. */
const lookEvery = 8_192

export const createFeedUse = (names: readonly string[], emit: Emit) => {
  const addresses = createCountDistinct()
  const feeds = new Map<string, Counted>(
    names.map((name) => [
      name,
      {
        entries: createCountDistinct(),
        addresses: createCountDistinct(),
        events: 0,
        heldBack: 0,
        alerts: 0,
        onlyAlerts: 0,
        last: 0,
        lastHeldBack: 0,
        hasWarned: false,
      },
    ]),
  )
  let events = 0

  const count = (name: string, entry: string, { sighting: { type, value }, verdict }: Judged): void => {
    const feed = feeds.get(name)
    if (!feed) return
    feed.entries.add(entry)
    if (type === 'ip') feed.addresses.add(value)
    if (feed.last !== events) feed.events++
    feed.last = events
    if (verdict.reason !== 'safeguarded') return
    if (feed.lastHeldBack !== events) feed.heldBack++
    feed.lastHeldBack = events
  }
  const shareOf = ({ addresses: listed }: Counted): number => {
    const all = addresses.count()
    return all === 0 ? 0 : Math.min(1, listed.count() / all)
  }
  const look = (): void => {
    if (addresses.count() < leastAddresses) return
    for (const [feed, counted] of feeds) {
      if (counted.hasWarned) continue
      const share = shareOf(counted)
      if (share <= maxShare) continue
      counted.hasWarned = true
      emit({ event: 'feed_lists_many', feed, share })
    }
  }

  return {
    /** Takes the judged indicators of one event. */
    see: (judged: readonly Judged[]): void => {
      events++
      for (const one of judged) {
        const { sighting, decision, verdict } = one
        if (sighting.type === 'ip' && decision.decision !== 'skip') addresses.add(sighting.value)
        const { feed, entry, listings } = verdict
        if (listings) for (const listing of listings) count(listing.feed, listing.entry, one)
        else if (feed !== undefined && entry !== undefined) count(feed, entry, one)
      }
      if (events % lookEvery === 0) look()
    },
    /** Counts an alert; updates and context repeat an earlier one. */
    alerted: ({ threatweave: { kind, feed, accusers = 1, listings = [] } }: Accusation): void => {
      if (kind === 'update' || kind === 'context') return
      const accusing = listings.filter(({ level }) => level !== 'flag').map((listing) => listing.feed)
      const named = new Set(accusing.length > 0 ? accusing : feed === undefined ? [] : [feed])
      for (const name of named) {
        const counted = feeds.get(name)
        if (!counted) continue
        counted.alerts++
        if (named.size === 1 && accusers <= 1) counted.onlyAlerts++
      }
    },
    of: (name: string): FeedUse | undefined => {
      const counted = feeds.get(name)
      if (!counted) return undefined
      const { entries, events: seen, heldBack, alerts, onlyAlerts } = counted
      return { entriesSeen: entries.count(), events: seen, heldBack, alerts, onlyAlerts, share: shareOf(counted) }
    },
  }
}

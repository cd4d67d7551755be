// Limits one peer to a tenth of the queue and of the calls; lookups beyond that go behind those of others.

type Budget = { readonly perHour: number; readonly perDay: number }

/** A peer, and its network if the peer is external. */
export type PeerNames = readonly string[]

type Shares = {
  /** Whether one more place would exceed their share. */
  readonly isFull: (names: PeerNames) => boolean
  readonly hold: (names: PeerNames, places: 1 | -1) => void
  /** Whether they have used up their share of the calls. */
  readonly isSpent: (names: PeerNames, now: number) => boolean
  /** Counts a call that was sent for them. */
  readonly called: (names: PeerNames, now: number) => void
}

const share = 0.1
const hourMs = 3_600_000
/** Without a budget, the share is a tenth of the calls so far, or of this number while there are fewer. */
const fewCalls = 1_000
const maxNames = 20_000

export const createShares = (maxWaiting: number, { perHour, perDay }: Budget): Shares => {
  const mostPlaces = Math.max(1, Math.floor(maxWaiting * share))
  const places = new Map<string, number>()
  const periodMs = perHour === 0 && perDay > 0 ? 24 * hourMs : hourMs
  const budget = perHour > 0 ? perHour : perDay
  const calls = new Map<string, number>()
  let period = 0
  let total = 0

  const add = (counts: Map<string, number>, names: PeerNames, more: number): void => {
    for (const name of names) {
      const count = (counts.get(name) ?? 0) + more
      if (count === 0) counts.delete(name)
      else counts.set(name, count)
    }
  }
  const isAtLeast = (counts: ReadonlyMap<string, number>, names: PeerNames, most: number): boolean =>
    names.some((name) => (counts.get(name) ?? 0) >= most)
  const moveTo = (now: number): void => {
    if (Math.floor(now / periodMs) === period) return
    period = Math.floor(now / periodMs)
    calls.clear()
    total = 0
  }
  const mostCalls = (): number => Math.max(1, Math.floor((budget > 0 ? budget : Math.max(fewCalls, total)) * share))
  /** Drops names with few calls, which are far below their share. */
  const forgetSmall = (): void => {
    const few = mostCalls() * share
    for (const [name, count] of calls) if (count < few) calls.delete(name)
  }
  return {
    isFull: (names) => isAtLeast(places, names, mostPlaces),
    hold: (names, more) => add(places, names, more),
    isSpent: (names, now) => {
      moveTo(now)
      return isAtLeast(calls, names, mostCalls())
    },
    called: (names, now) => {
      moveTo(now)
      total++
      add(calls, names, 1)
      if (calls.size > maxNames) forgetSmall()
    },
  }
}

// Leader election between gateways: only the leader of the group calls the provider, and only while its leadership is certain.
import type { Clock } from '../base/clock.js'
import type { LeaderGroup, LeaderGroupEvents, Place, Sent } from '../kafka/join-leader-group.js'
import { failureOf } from '../kafka/failure.js'
import type { Spending } from '../lookup/admission/budget.js'
import { unknown, type Permit } from '../lookup/admission/call-sender.js'
import type { Emit } from '../telemetry/event.js'
import type { ControlRecord } from './control-record.js'
import { createSpending } from './spending.js'

export type Role =
  | { readonly kind: 'calls' }
  /** Elected, and waiting until no call of the previous leader can be in flight. */
  | { readonly kind: 'takes_over' }
  | { readonly kind: 'passes_on'; readonly address: string }
  /** The leader is unknown. */
  | { readonly kind: 'waits' }

export type Election = {
  /** The same object until it changes. */
  readonly role: () => Role
  /** Subscribes to changes; returns the function to unsubscribe. */
  readonly changed: (listener: () => void) => () => void
  /** Whether a call to the provider may be sent now. */
  readonly permit: Permit
  /** Whether a call to a source may be sent now; sources are not part of the shared budget. */
  readonly permitUncounted: Permit
  /** Ends all calls, records that, and leaves the group, so that the next leader need not wait. */
  readonly close: () => Promise<void>
}

/** The exclusive write access of a leader to the control topic; earlier holders are fenced. */
export type ControlClaim = {
  readonly former: ControlRecord | undefined
  readonly write: (record: ControlRecord) => Promise<void>
  readonly close: () => Promise<void>
}

type ElectionParts = {
  /** A unique id of this process. */
  readonly id: string
  readonly join: (events: LeaderGroupEvents) => LeaderGroup
  readonly claim: () => Promise<ControlClaim>
  readonly addressOf: (word: Buffer) => string | undefined
  /** How long ago that was. */
  readonly ageOf: (sent: Sent) => number
  readonly sessionMs: number
  /** No call is in flight for longer. */
  readonly callMs: number
  readonly budget: { readonly perHour: number; readonly perDay: number }
  readonly clock: Clock
  readonly emit: Emit
}

/** An uninterrupted leadership of this process. */
type Term = { readonly memberId: string; generation: number; isOver: boolean; claim?: ControlClaim | undefined }

const unprovedMs = 100
const againMs = 1_000
const releaseMs = 5_000
export const nothingReserved: Spending = { hour: { index: 0, count: 0 }, day: { index: 0, count: 0 } }

export const openElection = (parts: ElectionParts): Election => {
  const { id, ageOf, sessionMs, callMs, budget, clock, emit } = parts
  const listeners = new Set<() => void>()
  let role: Role = { kind: 'waits' }
  let sent: Sent | undefined
  let term: Term | undefined
  let spending = createSpending({ perHour: 0, perDay: 0 }, unlimited)
  /** Resolves when the calls of previous leaders have ended. It outlives a term, whose record already has this process as its leader. */
  let othersEnded = Promise.resolve()
  let inFlight = 0
  let drained = (): void => undefined
  let isClosing = false

  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve))
  /** True while the session cannot have expired, so the brokers cannot have elected another leader. */
  const isProved = (): boolean => sent !== undefined && ageOf(sent) < sessionMs
  const become = (next: Role, cause = ''): void => {
    const before = role
    if (next.kind === before.kind && addressIn(next) === addressIn(before)) return
    role = next
    if (before.kind === 'calls') emit({ event: 'calling_ended', cause })
    if (next.kind === 'passes_on') emit({ event: 'caller_known', address: next.address })
    for (const listener of [...listeners]) listener()
  }
  const failed = (error: unknown): void => emit({ event: 'election_failed', message: failureOf(error).message })
  const endTerm = (): void => {
    if (!term) return
    term.isOver = true
    void term.claim?.close()
    term = undefined
  }

  /** Claims the control topic, waits for the calls of the previous leader to end, then leads. */
  const takeOver = async (mine: Term): Promise<void> => {
    while (!isOver(mine))
      try {
        // A process that was suspended past its session must not fence its successor.
        while (!isProved() && !isOver(mine)) await pause(unprovedMs)
        if (isOver(mine)) return
        await takeOverOnce(mine)
        return
      } catch (error) {
        void mine.claim?.close()
        mine.claim = undefined
        failed(error)
        await pause(againMs)
      }
  }
  const takeOverOnce = async (mine: Term): Promise<void> => {
    const claim = await parts.claim()
    mine.claim = claim
    if (isOver(mine)) return claim.close()
    const { former } = claim
    const { reserved = nothingReserved } = former ?? {}
    if (former?.caller !== undefined && former.caller !== id) othersEnded = pause(sessionMs + callMs)
    await claim.write({ caller: id, reserved })
    const from = clock.now()
    await othersEnded
    if (isOver(mine)) return
    spending = createSpending(budget, {
      before: reserved,
      reserve: (next) => claim.write({ caller: id, reserved: next }),
      failed: (error) => {
        if (mine.isOver || mine.claim !== claim) return
        failed(error)
        void claim.close()
        mine.claim = undefined
        become({ kind: 'takes_over' }, 'the control topic cannot be written')
        void takeOver(mine)
      },
      exhausted: () => emit({ event: 'budget_exhausted', calls: budget.perDay || budget.perHour }),
    })
    emit({ event: 'calling_began', waitedMs: clock.now() - from })
    become({ kind: 'calls' })
  }

  const joined = (place: Place, at: Sent): void => {
    sent = at
    const { memberId, generation } = place
    if (!place.isLeader) {
      endTerm()
      const address = parts.addressOf(place.word)
      if (address === undefined)
        emit({
          event: 'election_failed',
          message: 'the address of the leader has no valid signature',
        })
      become(address === undefined ? { kind: 'waits' } : { kind: 'passes_on', address }, 'another gateway was chosen')
      return
    }
    // The next generation with the same member, so there was no other leader in between.
    if (term?.memberId === memberId && term.generation + 1 === generation) {
      term.generation = generation
      return
    }
    endTerm()
    if (isClosing) return
    term = { memberId, generation, isOver: false }
    become({ kind: 'takes_over' }, 'the group has rebalanced')
    void takeOver(term)
  }
  const group = parts.join({
    joined,
    proved: (at) => {
      sent = at
    },
    lost: () => {
      endTerm()
      become({ kind: 'waits' }, 'the session with the brokers has expired')
    },
    failed: (message) => emit({ event: 'election_failed', message }),
  })

  /** Waits for calls in flight and records their end, so that the next leader need not wait. */
  const release = async (): Promise<void> => {
    const claim = term?.claim
    const isCalling = role.kind === 'calls'
    become({ kind: 'waits' }, 'this gateway ends')
    if (!isCalling || !claim) return
    if (inFlight > 0)
      await Promise.race([
        new Promise<void>((resolve) => {
          drained = resolve
        }),
        pause(callMs),
      ])
    if (inFlight > 0 || term?.claim !== claim) return
    // Does not wait for unresponsive brokers; the next leader waits instead.
    await Promise.race([claim.write({ reserved: spending.used() }).catch(failed), pause(releaseMs)])
  }

  const permitWith = (counted: () => Permit): Permit => ({
    check: (now) => {
      if (role.kind !== 'calls') return { pass: 'refuse', finding: unknown('pending') }
      return isProved() ? counted().check(now) : { pass: 'wait', ms: unprovedMs }
    },
    charge: (now) => {
      inFlight++
      const settle = counted().charge(now)
      return (wasSent) => {
        inFlight--
        settle(wasSent)
        if (inFlight === 0) drained()
      }
    },
  })

  return {
    role: () => role,
    changed: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    permit: permitWith(() => spending),
    permitUncounted: permitWith(() => uncounted),
    close: async () => {
      isClosing = true
      await release()
      endTerm()
      await group.close()
    },
  }
}

const addressIn = (role: Role): string | undefined => (role.kind === 'passes_on' ? role.address : undefined)

/** A function, because the type checker would not expect the property to change during an await. */
const isOver = (term: Term): boolean => term.isOver

const uncounted: Permit = { check: () => undefined, charge: () => () => undefined }

const unlimited = {
  before: undefined,
  reserve: () => Promise.resolve(),
  failed: () => undefined,
  exhausted: () => undefined,
}

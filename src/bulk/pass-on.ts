// Forwards the lookups of one client to the leading gateway over a separate connection, and reconnects after a change of the leader.
import type { Duplex } from 'node:stream'
import type { Clock } from '../base/clock.js'
import type { Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import type { Election } from '../election/election.js'
import { unknown } from '../lookup/admission/call-sender.js'
import type { Priority } from '../lookup/admission/queue.js'
import { ignoreTelemetry } from '../telemetry/event.js'
import { createBulkLookup } from './bulk-lookup.js'
import type { StateLine } from './protocol.js'

export type PassOnOptions = {
  readonly election: Pick<Election, 'role' | 'changed'>
  readonly connect: (address: string) => Promise<Duplex>
  /** The time limit for reaching the leader. */
  readonly giveUpMs: number
  readonly maxOpen: number
  readonly clock: Clock
}

type PassOn = {
  /** Resolves to `pending` if that gateway is no longer the leader. */
  readonly ask: (address: string, indicator: Indicator, priority: Priority) => Promise<Finding>
  readonly askedAgain: (key: string, priority: Priority, times: number) => void
  /** The last state of the leader, if any. */
  readonly state: () => StateLine | undefined
  readonly close: () => void
}

const againMs = 200

type Passing = {
  readonly address: string
  readonly bulk: ReturnType<typeof createBulkLookup>
  isOver: boolean
  /** Resolves to whether the connection is usable. */
  opening?: Promise<boolean> | undefined
}

export const createPassOn = ({ election, connect, giveUpMs, maxOpen, clock }: PassOnOptions): PassOn => {
  let current: Passing | undefined
  const end = (): void => {
    if (!current) return
    current.isOver = true
    current.bulk.close()
    current = undefined
  }
  const unsubscribe = election.changed(() => {
    const role = election.role()
    if (role.kind !== 'passes_on' || role.address !== current?.address) end()
  })
  const passingTo = (address: string): Passing => {
    if (current?.address === address) return current
    end()
    const bulk = createBulkLookup({
      isOffered: () => true,
      takes: () => true,
      connect: () => connect(address),
      maxOpen,
      // The peer is already hidden by the client.
      hidePeer: (name) => name,
      giveUpMs,
      againAfterMs: againMs,
      clock,
      emit: ignoreTelemetry,
    })
    current = { address, bulk, isOver: false }
    return current
  }
  /** Retries, because a new leader may not know of its election yet, or may be shutting down. */
  const open = async (passing: Passing): Promise<boolean> => {
    for (const from = clock.now(); !passing.isOver && clock.now() - from < giveUpMs;) {
      await passing.bulk.open()
      if (passing.bulk.state() !== undefined) return true
      await new Promise<void>((resolve) => clock.after(againMs, resolve))
    }
    return false
  }
  return {
    ask: async (address, indicator, priority) => {
      const passing = passingTo(address)
      if (passing.bulk.state() === undefined)
        await (passing.opening ??= open(passing).finally(() => (passing.opening = undefined)))
      if (passing.isOver) return unknown('pending')
      return passing.bulk.ask(indicator, { ...priority, evidence: 'field' }) ?? unknown('unavailable')
    },
    askedAgain: (key, priority, times) => current?.bulk.askedAgain(key, priority, times),
    state: () => current?.bulk.said(),
    close: () => {
      unsubscribe()
      end()
    },
  }
}

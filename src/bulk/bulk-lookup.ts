// Looks up many indicators at a gateway over one connection. The gateway does the queueing, limiting and retrying, and streams answers.
import type { Finding } from '../domain/finding.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
import { unknown } from '../lookup/admission/call-sender.js'
import { classOf, type Priority } from '../lookup/admission/queue.js'
import type { BulkLookup } from '../lookup/stack.js'
import { createBulkConnection, type ConnectionOptions } from './bulk-connection.js'
import { readAnswer, writeQuestion, type StateLine } from './protocol.js'

type BulkOptions = ConnectionOptions & {
  /** Whether the provider offers bulk lookups, as announced with its ordinary answers. */
  readonly isOffered: () => boolean
  readonly takes: (indicator: Indicator) => boolean
  /** The maximum number of open lookups. */
  readonly maxOpen: number
  /** The pseudonym of a peer or its network at the gateway. */
  readonly hidePeer: (name: string) => string
}

type OpenQuestion = {
  readonly indicator: Indicator
  readonly askedAt: number
  readonly settle: (finding: Finding) => void
  priority: Priority
  /** Requests for this indicator so far, and the part reported to the gateway. */
  asks: number
  sentAsks: number
  expectedAt: number
}

/** The maximum tolerated lateness; beyond it the gateway counts as failing. */
const maxLatenessMs = 2_000
const assumed: StateLine = { estimatesMs: [], latencyMs: 100, inFlight: 1, state: 'open' }

export const createBulkLookup = (
  options: BulkOptions,
): BulkLookup<Indicator> & {
  /** The last state of the gateway; undefined while disconnected. */
  readonly said: () => StateLine | undefined
} => {
  const { isOffered, takes, maxOpen, hidePeer, clock } = options
  const open = new Map<number, OpenQuestion>()
  const ids = new Map<string, number>()
  let lastId = 0
  let gateway = assumed
  /** Lookups sent since the gateway's last estimate. */
  let sentSince = 0
  /** The observed delay of answers beyond the estimate, from network and load. */
  let latenessMs = 0

  const hidden = ({ peer, network, ...rest }: Priority): Priority => ({
    ...rest,
    ...(peer !== undefined && { peer: hidePeer(peer) }),
    ...(network !== undefined && { network: hidePeer(network) }),
  })
  const send = (id: number, { indicator, asks, ...question }: OpenQuestion): void => {
    const priority = hidden(question.priority)
    connection.write(writeQuestion({ id, indicator, priority }))
    if (asks > 1) connection.write(writeQuestion({ id, again: asks - 1, priority }))
  }
  const settle = (id: number, finding: Finding): void => {
    const question = open.get(id)
    if (!question) return
    open.delete(id)
    ids.delete(keyOf(question.indicator))
    question.settle(finding)
  }
  const connection = createBulkConnection(options, {
    opened: () => {
      gateway = assumed
      for (const [id, question] of open) send(id, question)
    },
    received: (text) => {
      const line = readAnswer(text)
      if (!line) return
      if ('id' in line) {
        const now = clock.now()
        const lateMs = Math.max(0, now - (open.get(line.id)?.expectedAt ?? now))
        latenessMs += (Math.min(lateMs, maxLatenessMs) - latenessMs) / 20
        const { finding, ageMs = 0 } = line
        settle(line.id, obtainedAt(finding, now - ageMs))
        return
      }
      gateway = line
      sentSince = 0
    },
    givenUp: () => {
      for (const id of [...open.keys()]) settle(id, unknown('unavailable'))
    },
  })

  return {
    ask: (indicator, { role, action, urgency, peer, network }) => {
      if (connection.state() === 'none' || !takes(indicator)) {
        if (isOffered()) void connection.open()
        return undefined
      }
      if (open.size >= maxOpen) return unknown('queue_full')
      const priority: Priority = { role, action, peer, network, ...(urgency !== undefined && { urgency }) }
      const askedAt = clock.now()
      const waitMs =
        (gateway.estimatesMs[classOf(priority)] ?? gateway.latencyMs) +
        Math.floor(sentSince++ / Math.max(1, gateway.inFlight)) * gateway.latencyMs
      return new Promise((resolve) => {
        const id = ++lastId
        const question: OpenQuestion = {
          indicator,
          askedAt,
          settle: resolve,
          priority,
          asks: 1,
          sentAsks: 1,
          expectedAt: askedAt + waitMs,
        }
        open.set(id, question)
        ids.set(keyOf(indicator), id)
        if (connection.state() === 'open') send(id, question)
      })
    },
    askedAgain: (key, priority, times = 1) => {
      const id = ids.get(key)
      const question = id === undefined ? undefined : open.get(id)
      if (id === undefined || !question) return
      question.asks += times
      const isHigher = classOf(priority) > classOf(question.priority)
      if (isHigher) question.priority = priority
      // The rank in the queue grows with each doubling, so other changes are not sent.
      if (connection.state() !== 'open' || (!isHigher && question.asks < 2 * question.sentAsks)) return
      // Charges the latest peer, in case the share of the first one is used up.
      const { peer, network } = priority
      const last = hidden({ ...question.priority, peer, network })
      connection.write(writeQuestion({ id, again: question.asks - question.sentAsks, priority: last }))
      question.sentAsks = question.asks
    },
    estimateMs: (key) => {
      const id = ids.get(key)
      const question = id === undefined ? undefined : open.get(id)
      if (!question) return undefined
      if (connection.state() === 'lost') return Infinity
      const now = clock.now()
      // An overdue answer is expected to take as long again as it has taken.
      const leftMs = question.expectedAt + latenessMs - now
      return leftMs > 0 ? leftMs : now - question.askedAt
    },
    state: () =>
      connection.state() !== 'none'
        ? {
            waiting: open.size,
            inFlight: 0,
            allowed: gateway.inFlight,
            state: connection.state() === 'lost' ? 'breaker_open' : gateway.state,
            isGateway: true,
            spent: { hour: 0, day: 0, run: 0 },
            latencyMs: gateway.latencyMs + latenessMs,
          }
        : undefined,
    open: connection.open,
    said: () => (connection.state() === 'open' ? gateway : undefined),
    close: () => {
      connection.close()
      for (const id of [...open.keys()]) settle(id, unknown('pending'))
    },
  }
}

/** Converts the times of a finding to the clock of this machine. */
const obtainedAt = (finding: Finding, at: number): Finding => {
  if (finding.at === undefined) return finding
  const laterMs = at - finding.at
  if (finding.status === 'unknown' || !finding.answers) return Object.assign(finding, { at })
  return { ...finding, at, answers: finding.answers.map((answer) => ({ ...answer, at: answer.at + laterMs })) }
}

// The server side of bulk lookups: one connection per client; each lookup runs its operations and is answered when it is done.
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { parseAddress } from '../domain/address.js'
import { unknownOf, type Finding } from '../domain/finding.js'
import { parseHostname } from '../domain/hostname.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
import type { Call, Lookup, Source } from '../domain/lookup.js'
import type { ProviderState } from '../domain/provider-state.js'
import { priorityClasses, type Priority } from '../lookup/admission/queue.js'
import { guard } from '../lookup/stack.js'
import type { OperationName } from '../domain/operations.js'
import type { Role } from '../election/election.js'
import { createPassOn, type PassOnOptions } from './pass-on.js'
import {
  createLineWriter,
  readQuestion,
  writeAnswer,
  bulkHeader,
  bulkTarget,
  passedOnHeader,
  readBulkSettings,
  type AnswerLine,
  type StateLine,
  type BulkSettings,
} from './protocol.js'
import type { BulkShare, BulkShares } from './bulk-shares.js'
import { createReadInTurns } from './read-in-turns.js'

export type BulkOptions = {
  /** Undefined for an invalid key. */
  readonly holderOf: (apiKey: string | undefined) => KeyHolder | undefined
  readonly shares: BulkShares
  /** Calls the operations for an indicator one after the other, like HTTP requests with this key. */
  readonly sourceOf: (settings: BulkSettings, caller: BulkCaller) => Source
  /** Handles lookups that cannot be answered locally. */
  readonly gateway?: BulkGateway | undefined
  /** Verdicts of other processes, which answer without a call, and the way to share new ones. */
  readonly shared?: SharedVerdicts | undefined
  /** The other gateways, if there is a leader election. */
  readonly others?: BulkOthers | undefined
  /** Other providers of this gateway; each connection is for one of them, or for the main provider. */
  readonly sources?: readonly BulkSource[] | undefined
  readonly now: () => number
}

type GivenValues = Readonly<Record<string, unknown>>

/** The holder of a connection, as the source knows it. */
type BulkCaller = {
  readonly apiKey: string | undefined
  /** Call when an operation is sent; returns the priority of its lookup. */
  readonly calling: (name: OperationName, given: GivenValues) => Priority
}

/** What a gateway says about its queue. */
type BulkGateway = {
  readonly askedAgain: (
    operation: OperationName,
    values: { readonly [name: string]: string | number | boolean | undefined },
    priority: Priority,
    times?: number,
  ) => void
  /** The estimated wait of a new lookup by this key in milliseconds, per priority class. */
  readonly estimatesMs: (asker?: string) => readonly number[]
  /** The current concurrency limit. */
  readonly allowed: () => number
  readonly admission: () => ProviderState
}

type KeyHolder = {
  readonly name: string
  /** Limits the requested priority to what the plan of the key allows. */
  readonly priorityOf: (asked: Priority) => Priority
}

/** The other gateways. */
export type BulkOthers = Omit<PassOnOptions, 'connect'> & {
  /** Connects to the gateway at this address with the key of the client. */
  readonly connect: (address: string, apiKey: string | undefined, settings: BulkSettings) => Promise<Duplex>
  /** Called for every forwarded lookup. */
  readonly passed: () => void
}

export type BulkSource = {
  readonly id: string
  readonly takes: (indicator: Indicator) => boolean
  readonly lookup: Lookup
  readonly admission: {
    readonly estimatesMs: BulkGateway['estimatesMs']
    readonly state: BulkGateway['admission']
    readonly askedAgain: (key: string, priority: Priority, times: number) => void
  }
  readonly inFlight: number
}

export type SharedVerdicts = {
  /** Undefined without a finding, or if it does not cover the settings. */
  readonly find: (indicator: Indicator, settings: BulkSettings) => Finding | undefined
  readonly paid: (indicator: Indicator, finding: Finding) => void
}

const stateEveryMs = 100
const stateAtLeastEveryMs = 1_000

/** Returns a function that closes all connections. */
export const acceptBulk = (server: Pick<Server, 'on'>, options: BulkOptions): (() => void) => {
  const streams = new Set<Duplex>()
  const readInTurns = createReadInTurns()
  const recentState = createRecentState(options.now)
  server.on('connect', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on('error', () => stream.destroy())
    const admitted = admit(request, stream, options)
    if (typeof admitted === 'string') {
      stream.end(`HTTP/1.1 ${admitted}\r\nconnection: close\r\n\r\n`)
      return
    }
    stream.write('HTTP/1.1 200 OK\r\n\r\n')
    if (head.length > 0) stream.unshift(head)
    streams.add(stream)
    stream.once('close', () => streams.delete(stream))
    const take = admitted.source
      ? serveSource(stream, admitted.source, admitted, options, recentState)
      : serveConnection(stream, admitted, options, recentState)
    readInTurns(admitted.holder.name, stream, take)
  })
  return () => {
    for (const stream of streams) stream.destroy()
  }
}

type Asker = {
  readonly holder: KeyHolder
  readonly apiKey: string | undefined
  readonly settings: BulkSettings
  readonly share: BulkShare
  readonly isPassedOn: boolean
  readonly source: BulkSource | undefined
}

/** Checks a connection request; returns the HTTP status of a refusal. */
const admit = (
  request: IncomingMessage,
  stream: Duplex,
  { holderOf, shares, others, sources = [] }: BulkOptions,
): Asker | string => {
  const isPassedOn = headerOf(request, passedOnHeader) !== undefined
  if (isPassedOn && !leads(others?.election)) return '503 Service Unavailable'
  const apiKey = headerOf(request, 'x-api-key')
  const settings = readBulkSettings(headerOf(request, bulkHeader) ?? '')
  if (request.url !== bulkTarget || !settings) return '400 Bad Request'
  const holder = holderOf(apiKey)
  if (!holder) return '401 Unauthorized'
  const source = sources.find(({ id }) => id === settings.source)
  if (settings.source !== undefined && !source) return '404 Not Found'
  const share = shares.open(holder.name, stream)
  return share ? { holder, apiKey, settings, share, isPassedOn, source } : '429 Too Many Requests'
}

/** Forwarded lookups are accepted only by the leader, or by a gateway that is about to lead. */
const leads = (election: BulkOthers['election'] | undefined): boolean => {
  const kind = election?.role().kind ?? 'calls'
  return kind === 'calls' || kind === 'takes_over'
}

type OpenQuestion = {
  readonly indicator: Indicator
  readonly priority: Priority
  /** The operation in progress. */
  current?: { readonly name: OperationName; readonly given: GivenValues }
}

/** `isOwn`: found here, not by another gateway. */
type Found = { readonly finding: Finding; readonly isOwn: boolean }

/** Processes a line of a connection. */
type Take = (line: string) => void

const serveConnection = (stream: Duplex, asker: Asker, options: BulkOptions, recentState: RecentState): Take => {
  const { apiKey, holder, settings, share } = asker
  const { sourceOf, gateway, shared, now } = options
  const open = new Map<number, OpenQuestion>()
  const write = createLineWriter(stream, share.wrote)
  /** Set during the synchronous start of a call, to find its lookup. */
  let sending: OpenQuestion | undefined
  const calling: BulkCaller['calling'] = (name, given) => {
    const question = sending
    if (!question) throw new Error('a call was sent for no question')
    question.current = { name, given }
    return question.priority
  }
  const source = guard(sourceOf(settings, { apiKey, calling }))

  const byRole = createByRole(stream, asker, options.others, (indicator) => shared?.find(indicator, settings))
  const take: Take = (text) => {
    const line = readQuestion(text)
    if (!line) {
      stream.destroy()
      return
    }
    const { id } = line
    const priority = holder.priorityOf(line.priority)
    if ('again' in line) {
      // Lookups of the same turn have not reached the queue yet.
      setImmediate(() => {
        const question = open.get(id)
        if (question) byRole.askedAgain(question.indicator, priority, line.again)
        const current = question?.current
        if (current) askAgain(current, priority, line.again)
      })
      return
    }
    const known = shared?.find(line.indicator, settings)
    if (known) {
      write(writeAnswer(aged(id, known, now())))
      return
    }
    if (!share.take()) {
      write(writeAnswer({ id, finding: unknownOf('queue_full') }))
      return
    }
    const question: OpenQuestion = { indicator: line.indicator, priority }
    open.set(id, question)
    const send: Call = (request) => {
      sending = question
      const sent = request()
      sending = undefined
      return sent
    }
    const askedAt = now()
    const ask = () => source(line.indicator, { ...priority, evidence: 'field' }, send)
    void byRole.find(line.indicator, priority, ask).then(({ finding, isOwn }) => {
      open.delete(id)
      share.answered()
      if (isOwn && finding.at !== undefined && finding.at >= askedAt) shared?.paid(line.indicator, finding)
      write(writeAnswer(aged(id, finding, now())))
    })
  }
  const askAgain = ({ name, given }: NonNullable<OpenQuestion['current']>, priority: Priority, times: number): void =>
    gateway?.askedAgain(name, given as Parameters<BulkGateway['askedAgain']>[1], priority, times)

  writeState(stream, write, () => byRole.state(() => recentState(holder.name, () => stateOf(gateway, holder.name))))
  return take
}

/** Looks up here while this gateway leads, otherwise at the leader; retries at the next leader after a change. */
const createByRole = (
  stream: Duplex,
  { apiKey, settings, isPassedOn }: Asker,
  others: BulkOthers | undefined,
  known: (indicator: Indicator) => Finding | undefined,
) => {
  const passOn = others && createPassOn({ ...others, connect: (address) => others.connect(address, apiKey, settings) })
  if (passOn) stream.once('close', passOn.close)
  if (others && isPassedOn) closeWhenLed(stream, others.election)
  /** Shared by all open lookups while there is no leader. */
  let change: Promise<void> | undefined
  return {
    find: async (indicator: Indicator, priority: Priority, ask: () => Finding | Promise<Finding>): Promise<Found> => {
      for (;;) {
        const role = others?.election.role() ?? calls
        if (role.kind === 'waits' || role.kind === 'takes_over')
          await (change ??= changedOrClosed(stream, others?.election).finally(() => (change = undefined)))
        else {
          const passed = role.kind === 'passes_on' ? passOn?.ask(role.address, indicator, priority) : undefined
          if (passed) others?.passed()
          const finding = await (passed ?? ask())
          if (!others || others.election.role() === role || !isUnasked(finding)) return { finding, isOwn: !passed }
        }
        if (stream.destroyed) return { finding: unknownOf('pending'), isOwn: false }
        const finding = known(indicator)
        if (finding) return { finding, isOwn: false }
      }
    },
    askedAgain: (indicator: Indicator, priority: Priority, times: number) =>
      passOn?.askedAgain(keyOf(indicator), priority, times),
    /** The state of the leader, with its estimates. */
    state: (own: () => StateLine): StateLine => {
      const kind = others?.election.role().kind ?? 'calls'
      return kind === 'calls' ? own() : ((kind === 'passes_on' ? passOn?.state() : undefined) ?? nobodyCalls)
    },
  }
}

const calls: Role = { kind: 'calls' }

/** Findings that mean the lookup was cut off by a change of the leader. */
const isUnasked = (finding: Finding): boolean =>
  finding.status === 'unknown' && (finding.reason === 'pending' || finding.reason === 'unavailable')

/** Closes the connection when this gateway stops being the leader, so that clients go to the next one. */
const closeWhenLed = (stream: Duplex, election: BulkOthers['election']): void => {
  const unsubscribe = election.changed(() => {
    if (!leads(election)) stream.destroy()
  })
  stream.once('close', unsubscribe)
}

const changedOrClosed = (stream: Duplex, election: BulkOthers['election'] | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      stream.off('close', end)
      unsubscribe?.()
      resolve()
    }
    stream.once('close', end)
    const unsubscribe = election?.changed(end)
  })

const aged = (id: number, finding: Finding, now: number): AnswerLine => ({
  id,
  finding,
  ...(finding.at !== undefined && { ageMs: Math.max(0, now - finding.at) }),
})

const isNormal = ({ type, value }: Indicator): boolean =>
  (type === 'ip' ? parseAddress(value) : parseHostname(value)) === value

/** Serves a connection for one source through the usual lookup layers; a repeated question moves up in the queue. */
const serveSource = (
  stream: Duplex,
  source: BulkSource,
  asker: Asker,
  { others, now }: BulkOptions,
  recentState: RecentState,
): Take => {
  const { holder, share } = asker
  const byRole = createByRole(stream, asker, others, () => undefined)
  const open = new Map<number, { readonly indicator: Indicator; readonly priority: Priority }>()
  const write = createLineWriter(stream, share.wrote)
  const ask = (indicator: Indicator, priority: Priority): Finding | Promise<Finding> =>
    isNormal(indicator) && source.takes(indicator)
      ? source.lookup(indicator, { ...priority, evidence: 'field' })
      : unknownOf('bad_input')
  const take: Take = (text) => {
    const line = readQuestion(text)
    if (!line) {
      stream.destroy()
      return
    }
    const { id } = line
    const priority = holder.priorityOf(line.priority)
    if ('again' in line) {
      const asked = open.get(id)
      if (!asked) return
      byRole.askedAgain(asked.indicator, priority, line.again)
      source.admission.askedAgain(keyOf(asked.indicator), priority, line.again)
      return
    }
    if (!share.take()) {
      write(writeAnswer({ id, finding: unknownOf('queue_full') }))
      return
    }
    open.set(id, { indicator: line.indicator, priority })
    void byRole
      .find(line.indicator, priority, () => ask(line.indicator, priority))
      .then(({ finding }) => {
        open.delete(id)
        share.answered()
        write(writeAnswer(aged(id, finding, now())))
      })
  }
  const { estimatesMs, state } = source.admission
  const ofSource = { estimatesMs, admission: state, allowed: () => source.inFlight }
  const own = (): StateLine => recentState(`${source.id} ${holder.name}`, () => stateOf(ofSource, holder.name))
  writeState(stream, write, () => byRole.state(own))
  return take
}

/** Sends the state at once, after changes, and at least every second. */
const writeState = (stream: Duplex, write: (line: string) => void, state: () => StateLine): void => {
  let last = ''
  let quietMs = 0
  const say = (): void => {
    const line = writeAnswer(state())
    quietMs += stateEveryMs
    if (line === last && quietMs < stateAtLeastEveryMs) return
    last = line
    quietMs = 0
    write(line)
  }
  say()
  const timer = setInterval(say, stateEveryMs)
  stream.once('close', () => clearInterval(timer))
}

/** Longer than any event waits. */
const nobodyCalls: StateLine = {
  estimatesMs: new Array<number>(priorityClasses).fill(86_400_000),
  latencyMs: 0,
  inFlight: 1,
  state: 'paused',
}

type RecentState = (about: string, work: () => StateLine) => StateLine

/** Caches the state per key, because all connections of a key get the same one. */
const createRecentState = (now: () => number): RecentState => {
  const recent = new Map<string, { readonly at: number; readonly line: StateLine }>()
  return (about, work) => {
    const known = recent.get(about)
    const at = now()
    if (known && Math.abs(at - known.at) < stateEveryMs / 2) return known.line
    const line = work()
    recent.set(about, { at, line })
    return line
  }
}

/** The queue of a gateway or a source. */
type Stated = {
  readonly estimatesMs: BulkGateway['estimatesMs']
  readonly allowed: BulkGateway['allowed']
  readonly admission: BulkGateway['admission']
}

const stateOf = (gateway: Stated | undefined, asker: string): StateLine => {
  if (!gateway)
    return { estimatesMs: new Array<number>(priorityClasses).fill(0), latencyMs: 0, inFlight: 1, state: 'open' }
  const { latencyMs, state } = gateway.admission()
  const estimatesMs = gateway.estimatesMs(asker).map((ms) => Math.round(Math.min(ms, 86_400_000)))
  return { estimatesMs, latencyMs: Math.round(latencyMs), inFlight: gateway.allowed(), state }
}

const headerOf = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

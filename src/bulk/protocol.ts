// The bulk protocol: the header that offers or requests a connection, and JSON lines with questions, findings and the gateway's state.
import type { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Finding } from '../domain/finding.js'
import { indicatorTypes, type Indicator } from '../domain/indicator.js'
import type { Ask } from '../domain/lookup.js'
import {
  addressOperations,
  choices,
  nameOperations,
  type AddressChoices,
  type Choice,
  type NameChoices,
} from '../domain/operation-choice.js'
import { providerStates, type ProviderState } from '../domain/provider-state.js'
import { actions, roles } from '../domain/sighting.js'
import { mostAsked, priorityClasses, type Priority } from '../lookup/admission/queue.js'
import { isFinding } from '../lookup/memory/record.js'

/** In an answer it offers bulk lookups; in a connection request it has the settings below. */
export const bulkHeader = 'x-threatweave-bulk'
/** Set on requests between gateways, which are not forwarded again. */
export const passedOnHeader = 'x-threatweave-passed-on'
/** A placeholder: the target of CONNECT must have the form host:port. */
export const bulkTarget = 'bulk:1'

/** The operations to call. Scans are not included, because the client runs and records them itself. */
export type BulkSettings = {
  readonly ip: { readonly operations: AddressChoices }
  readonly domain: { readonly maxAgeDays: number; readonly operations: NameChoices }
  /** Sends all lookups of the connection to this source of the gateway instead of the provider. */
  readonly source?: string
}

export const writeBulkSettings = ({ ip, domain, source }: BulkSettings): string =>
  new URLSearchParams({
    ip: writeChoices(ip.operations),
    domain: writeChoices(domain.operations),
    maxAgeDays: String(domain.maxAgeDays),
    ...(source !== undefined && { source }),
  }).toString()

/** Undefined if the settings are invalid. */
export const readBulkSettings = (text: string): BulkSettings | undefined => {
  const given = new URLSearchParams(text)
  const ip = readChoices(addressOperations, given.get('ip'))
  const name = readChoices(nameOperations, given.get('domain'))
  const maxAgeDays = Number(given.get('maxAgeDays') ?? NaN)
  if (!ip || !name || !(maxAgeDays >= 0)) return undefined
  const source = given.get('source')
  return {
    ip: { operations: ip },
    domain: { maxAgeDays, operations: name },
    ...(source !== null && { source }),
  }
}

/** `malicious-info:always,suspicious_info:unclean`; others are never called. */
const writeChoices = (chosen: Readonly<Record<string, Choice>>): string =>
  Object.entries(chosen)
    .filter(([, choice]) => choice !== 'never')
    .map(([name, choice]) => `${name}:${choice}`)
    .join()

const readChoices = <Name extends string>(
  names: readonly Name[],
  text: string | null,
): Readonly<Record<Name, Choice>> | undefined => {
  if (text === null) return undefined
  const chosen = Object.fromEntries(names.map((name) => [name, 'never'])) as Record<Name, Choice>
  for (const part of text === '' ? [] : text.split(',')) {
    const [given, when] = part.split(':')
    const name = names.find((each) => each === given)
    const choice = choices.find((each) => each === when)
    if (name === undefined || choice === undefined) return undefined
    chosen[name] = choice
  }
  return chosen
}

type QuestionLine = { readonly id: number; readonly priority: Priority } & (
  | { readonly indicator: Indicator }
  /** The number of further requests for an open question. */
  | { readonly again: number }
)

/** The state of the gateway, which a client needs to decide whether to wait. */
export type StateLine = {
  /** The estimated wait of a new lookup in milliseconds, per priority class. */
  readonly estimatesMs: readonly number[]
  readonly latencyMs: number
  /** The concurrency limit of the gateway. */
  readonly inFlight: number
  readonly state: ProviderState['state']
}

export type AnswerLine =
  | {
      readonly id: number
      readonly finding: Finding
      /** The age of the finding; absent: fresh. An age, because the clocks of two machines differ. */
      readonly ageMs?: number
    }
  | StateLine

export const writeQuestion = (line: QuestionLine): string => {
  const { role, action, urgency, peer, network } = line.priority
  const what = 'indicator' in line ? line.indicator : { again: line.again }
  return `${JSON.stringify({ id: line.id, ...what, role, action, urgency, peer, network })}\n`
}

export const writeAnswer = (line: AnswerLine): string => `${JSON.stringify(line)}\n`

/** Undefined if the text is not a valid line. */
export const readQuestion = (text: string): QuestionLine | undefined => {
  const line = parse(text)
  if (!line || !isId(line.id)) return undefined
  const role = roles.find((each) => each === line.role)
  const action = actions.find((each) => each === line.action)
  if (role === undefined || action === undefined) return undefined
  const urgency: Ask['urgency'] = line.urgency === 'replay' ? 'replay' : 'live'
  const { peer, network } = line
  const priority: Priority = {
    role,
    action,
    urgency,
    ...(isPeerName(peer) && { peer, ...(isPeerName(network) && { network }) }),
  }
  const base = { id: line.id, priority }
  const type = indicatorTypes.find((each) => each === line.type)
  if (type !== undefined && typeof line.value === 'string') return { ...base, indicator: { type, value: line.value } }
  const { again } = line
  return typeof again === 'number' && again >= 1
    ? { ...base, again: Math.min(Math.floor(again), mostAsked) }
    : undefined
}

export const readAnswer = (text: string): AnswerLine | undefined => {
  const line = parse(text)
  if (!line) return undefined
  if (isId(line.id)) {
    const { id, finding, ageMs } = line
    return isFinding(finding) ? { id, finding, ageMs: isAmount(ageMs) ? ageMs : 0 } : undefined
  }
  const { estimatesMs, latencyMs, inFlight, state } = line
  if (!Array.isArray(estimatesMs) || estimatesMs.length !== priorityClasses || !estimatesMs.every(isAmount))
    return undefined
  const known = providerStates.find((each) => each === state)
  if (!isAmount(latencyMs) || !isAmount(inFlight) || known === undefined) return undefined
  return { estimatesMs, latencyMs, inFlight, state: known }
}

const isPeerName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 64
const isId = (value: unknown): value is number => Number.isSafeInteger(value)
const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0

const parse = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const maxAnswerLength = 1_048_576
/** Bounds the memory of partial lines, of which a client can have many. */
export const maxQuestionLength = 4_096

/** Returns the lines completed by these bytes; undefined if a line is too long. */
export const createLineSplitter = (maxLength: number): ((bytes: Buffer) => readonly string[] | undefined) => {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  return (bytes) => {
    const lines = (rest + decoder.write(bytes)).split('\n')
    rest = lines.pop() ?? ''
    return rest.length > maxLength ? undefined : lines
  }
}

/** Calls `take` with every line of the gateway; an overlong line ends the connection. */
export const readAnswerLines = (stream: Duplex, take: (line: string) => void): void => {
  const split = createLineSplitter(maxAnswerLength)
  stream.on('data', (bytes: Buffer) => {
    const lines = split(bytes)
    if (!lines) stream.destroy()
    for (const line of lines ?? []) take(line)
  })
}

/** Batches the lines of one turn of the event loop into one write, then calls `wrote`. */
export const createLineWriter = (stream: Duplex, wrote?: () => void): ((line: string) => void) => {
  let lines: string[] = []
  const flush = (): void => {
    const text = lines.join('')
    lines = []
    if (stream.destroyed) return
    stream.write(text)
    wrote?.()
  }
  return (line) => {
    if (lines.push(line) === 1) setImmediate(flush)
  }
}

// The gateway: sends lookups without local data to the provider, once for all clients, through the usual lookup layers.
import { unlisted, noFacts, type Unknown, type Finding, type Known, type Level } from '../../domain/finding.js'
import type { Reason } from '../../domain/reason.js'
import { badAnswer, isGivenUp, type CallFailure } from '../../provider/classify.js'
import type { Clock } from '../../base/clock.js'
import { worstLevel } from '../../domain/judge.js'
import type { JudgementTable } from '../../domain/judgement-table.js'
import type { Ask, Source } from '../../domain/lookup.js'
import type { Permit } from '../../lookup/admission/call-sender.js'
import type { Priority } from '../../lookup/admission/queue.js'
import type { Admission } from '../../lookup/admission/admission.js'
import { openLookup } from '../../lookup/open-lookup.js'
import type { LookupSettings, LookupWatch } from '../../lookup/stack.js'
import type { Client, ProviderAnswer } from '../../provider/client.js'
import { operations, type OperationName } from '../../domain/operations.js'
import { findingOf } from '../../provider/transmit.js'
import type { Emit } from '../../telemetry/event.js'
import { failures, tooFast, refused, type Failure, type JsonObject, type OperationAnswer } from '../answer.js'
import type { Values } from '../parameters.js'
import { questionMisfit, operationQuestion, operationQuestions, type OperationQuestion } from './operation-question.js'

type GatewaySettings = LookupSettings & { readonly memory: { readonly maxBytes: number } }

type GatewayDependencies = {
  readonly client: Client
  readonly table: JudgementTable
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  /** The folder of the memory on disk. */
  readonly folder: string
  readonly emit: Emit
  readonly watch?: LookupWatch
  /** Whether this gateway is the leader; absent with a single gateway. */
  readonly permit?: Permit | undefined
}

export type Gateway = {
  readonly ask: (
    operation: OperationName,
    values: Values,
    priority: Priority,
    owner: string,
  ) => Promise<OperationAnswer>
  /** So many more ask the same meanwhile. */
  readonly askedAgain: (operation: OperationName, values: Values, priority: Priority, times?: number) => void
  /** The estimated wait of a new lookup by this key in milliseconds, per priority class. */
  readonly estimatesMs: Admission['estimatesMs']
  /** The current concurrency limit. */
  readonly allowed: () => number
  readonly state: () => JsonObject
  /** The state of the API key. */
  readonly admission: Admission['state']
  readonly close: () => Promise<void>
}

export const openGateway = async (settings: GatewaySettings, outside: GatewayDependencies): Promise<Gateway> => {
  const { client, table, clock, random, folder, emit, watch, permit } = outside
  const messages = createLastMessages()
  const source = createOperationSource(client, clock, emit, messages.note)
  const opened = await openLookup<OperationQuestion>(
    settings,
    { type: operationQuestions, outer: [], source, clock, random, emit, watch, permit },
    {
      path: folder,
      isNamed: true,
      classify: (finding, question) => levelOf(finding, question, table, clock.now()),
    },
  )
  if ('problem' in opened) {
    await client.close()
    throw new Error(opened.problem)
  }
  const { lookup, lookupOnce, admission, memory, close } = opened

  return {
    ask: async (operation, values, priority, owner) => {
      const question = operationQuestion(operation, values, isPost(operation) ? owner : undefined)
      const finding = await (isLasting(operation) ? lookup : lookupOnce)(question, askOf(priority))
      if (finding.status === 'known') {
        const { body = {}, isFeedMissing = false, at } = finding
        return {
          ok: true,
          body: { ...(body as JsonObject), status: 200 },
          read: client.reader,
          isKnown: true,
          isFeedMissing,
          at,
        }
      }
      const isFeedMissing = finding.reason === 'feed_missing'
      const at = finding.at === undefined ? {} : { at: finding.at }
      return { ...refused(passOn(finding, messages.of(question))), isFeedMissing, ...at }
    },
    askedAgain: (operation, values, priority, times) =>
      admission.askedAgain(operationQuestion(operation, values).key, priority, times),
    estimatesMs: admission.estimatesMs,
    allowed: () => admission.state().allowed,
    state: () => {
      const { waiting, inFlight, state, reason, until, spent } = admission.state()
      return {
        calls: { hour: spent.hour, day: spent.day, run: spent.run },
        waiting,
        in_flight: inFlight,
        asking: state,
        reason,
        until: until === undefined ? undefined : new Date(until).toISOString(),
        remembered: memory.size(),
      }
    },
    admission: admission.state,
    close: async () => {
      await close()
      await client.close()
    },
  }
}

/** Failures of scans do not count against the provider, so they do not open the circuit breaker. */
type RefusedScan = { readonly status: 'refused'; readonly finding: Unknown }

/** Calls one operation of the provider and keeps the whole answer. */
const createOperationSource = (
  client: Client,
  clock: Clock,
  emit: Emit,
  noteMessage: (question: OperationQuestion, said: CallFailure['said']) => void,
): Source<OperationQuestion> => {
  const send = async (question: OperationQuestion): Promise<ProviderAnswer | RefusedScan | Unknown> => {
    const { operation, parameters } = question
    const from = clock.now()
    const reply = await client.callNamed(operation, parameters)
    const ms = clock.now() - from
    const misfit = reply.status === 'answer' ? questionMisfit(question, reply.body, client.reader) : undefined
    if (reply.status === 'answer' && misfit === undefined) {
      emit({ event: 'provider_answered', operation, ms })
      return reply
    }
    const failure: CallFailure = reply.status === 'failure' ? reply.failure : badAnswer(misfit ?? '')
    if (!isGivenUp(failure))
      emit({ event: 'provider_call_failed', operation, reason: failure.reason, detail: failure.detail, ms })
    noteMessage(question, failure.said)
    const failed = findingOf(failure, reply.at ?? clock.now())
    const finding = reply.isFeedMissing === true ? unlisted(failed) : failed
    const isOneScan = failure.reason === 'no_credit' || (failure.reason === 'busy' && /scan/i.test(failure.detail))
    return isPost(operation) && isOneScan ? { status: 'refused', finding } : finding
  }
  return async (question, _, call): Promise<Finding> => {
    const answer = await call(() => send(question))
    if (answer.status === 'unknown') return answer
    if (answer.status === 'refused') return answer.finding
    const now = clock.now()
    const at = answer.at ?? now
    const facts = statesVerdict(question) ? client.reader.addressFacts(answer.body, now) : noFacts
    const known: Known = { status: 'known', facts, source: 'service', at, body: answer.body }
    return answer.isFeedMissing === true ? { ...known, isFeedMissing: true } : known
  }
}

const maxMessages = 10_000

/** The last error of the provider for each failed question, while clients may still ask for it. */
const createLastMessages = () => {
  const messages = new Map<string, CallFailure['said']>()
  return {
    of: ({ key }: OperationQuestion): CallFailure['said'] => messages.get(key),
    note: ({ key }: OperationQuestion, said: CallFailure['said']): void => {
      messages.delete(key)
      if (said === undefined) return
      for (const oldest of messages.keys()) {
        if (messages.size < maxMessages) break
        messages.delete(oldest)
      }
      messages.set(key, said)
    },
  }
}

const isPost = (operation: OperationName): boolean => operations[operation].method === 'POST'

const isLasting = (operation: OperationName): boolean => !isPost(operation) && operation !== 'domain/status'

/** Answers with a verdict have the TTL of the verdict; others that of an answer without one. */
const statesVerdict = ({ operation }: OperationQuestion): boolean =>
  operation === 'ip/malicious-info' || operation === 'ip/suspicious_info'

const levelOf = (finding: Known, question: OperationQuestion, table: JudgementTable, now: number): Level => {
  const { ip } = question.parameters
  return statesVerdict(question) && ip !== undefined
    ? worstLevel(finding, { type: 'ip', value: ip }, table, now)
    : 'unknown'
}

const askOf = (priority: Priority): Ask => ({ ...priority, evidence: 'field' })

const unavailable = (message: string): Failure => ({ reason: 'unavailable', http: 503, status: 503, message })

/** The key of the client is valid; the provider rejects the key of the gateway. */
const badGatewayKey: Failure = {
  reason: 'bad_key',
  http: 200,
  status: 401,
  message: 'invalid api key of the gateway at its provider',
}

const notFound: Failure = { reason: 'not_found', http: 200, status: 404, message: 'not found' }

const byReason: { readonly [reason in Reason]?: Failure } = {
  bad_key: badGatewayKey,
  no_credit: failures.noCredit,
  budget_spent: failures.noCredit,
  plan: failures.notPlanned,
  busy: failures.busy,
  not_found: notFound,
  feed_missing: notFound,
  bad_input: failures.badRequest,
  queue_full: unavailable('too many lookups are queued for the provider'),
  breaker_open: unavailable('the circuit breaker for the provider is open'),
  cooling_down: unavailable('this lookup failed recently and is cooling down'),
  timeout: unavailable('the provider did not answer in time'),
  unavailable: unavailable('the provider is unreachable'),
  bad_answer: {
    reason: 'unavailable',
    http: 502,
    status: 502,
    message: 'the provider sent an invalid answer',
  },
}

const maxRetryAfterS = 86_400

/** Converts an unknown finding into a failure for the client, with the error of the provider if there is one. */
const passOn = ({ reason, retryAfterMs }: Unknown, said: CallFailure['said']): Failure => {
  const retryAfterS = retryAfterMs === undefined ? undefined : Math.min(Math.ceil(retryAfterMs / 1000), maxRetryAfterS)
  if (reason === 'throttled') return tooFast(retryAfterS ?? 1)
  const words = reason === 'bad_key' ? undefined : said
  const own = byReason[reason] ?? unavailable('the provider was not asked')
  // A code that is not an HTTP status is specific to the provider and is not forwarded.
  const failure: Failure =
    words === undefined || words.code < 100 || words.code > 599
      ? own
      : { reason, http: words.http, status: words.code === 200 ? 500 : words.code, message: words.message }
  return retryAfterS === undefined || failure.http < 400 ? failure : { ...failure, retryAfterS }
}

// The gateway: what is not known here is asked at the provider, once for everybody, through the same layers as any lookup.
import type { Clock } from '../../domain/clock.js'
import { noFacts, type Unknown } from '../../domain/finding.js'
import { keyOf, type Indicator } from '../../domain/indicator.js'
import { worstLevel } from '../../domain/judge.js'
import type { JudgementTable } from '../../domain/judgement-table.js'
import type { Ask, Source } from '../../domain/lookup.js'
import type { Answer as Raw, Client } from '../../provider/call.js'
import { isGivenUp, type Failure as SourceFailure } from '../../provider/classify.js'
import { addressFacts } from '../../provider/facts.js'
import { operations, type OperationName } from '../../provider/operations.js'
import { unknownOf } from '../../provider/transmit.js'
import { admit, createAdmission, type Admission, type AdmissionSettings } from '../../lookup/admit.js'
import { coalesce } from '../../lookup/coalesce.js'
import { createCooldown, type CooldownSettings } from '../../lookup/memory/cooldown.js'
import { openKeptMemory } from '../../lookup/memory/kept-memory.js'
import { createMemory, type MemorySettings } from '../../lookup/memory/memory.js'
import { recall, type Recalled } from '../../lookup/recall.js'
import { remember } from '../../lookup/remember.js'
import { retry, type RetrySettings } from '../../lookup/retry.js'
import { stack } from '../../lookup/stack.js'
import { timed, type LookedUp } from '../../lookup/timed.js'
import type { Emit } from '../../telemetry/event.js'
import { refused, type Answer, type JsonObject } from '../answer.js'
import type { Urgency } from '../answer-locally.js'
import type { Values } from '../parameters.js'
import { isAboutQuestion } from './is-about-question.js'
import { passOn } from './pass-on.js'
import { indicatorOf, questionOf } from './question.js'

export type GatewaySettings = {
  readonly admit: AdmissionSettings & { readonly retry: RetrySettings }
  readonly memory: MemorySettings & {
    readonly maxBytes: number
    readonly cooldown: Omit<CooldownSettings, 'maxEntries'>
  }
}

export type GatewayOutside = {
  readonly client: Client
  readonly table: JudgementTable
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  /** The folder of the memory on disk. */
  readonly folder: string
  readonly emit: Emit
  readonly watch?: GatewayWatch
}

/** Told of every ask of the memory how it went, and of every lookup that it missed how long it took. */
export type GatewayWatch = {
  readonly recalled: (how: Recalled) => void
  readonly joined: () => void
  readonly lookedUp: LookedUp
}

export type Gateway = {
  readonly ask: (operation: OperationName, values: Values, urgency: Urgency, owner: string) => Promise<Answer>
  readonly state: () => JsonObject
  /** The state of the API key. */
  readonly admission: Admission['state']
  readonly close: () => Promise<void>
}

const maxWords = 10_000

export const openGateway = async (settings: GatewaySettings, outside: GatewayOutside): Promise<Gateway> => {
  const { client, table, clock, random, folder, emit, watch } = outside
  const classify = (finding: Parameters<typeof worstLevel>[0], indicator: Indicator) =>
    worstLevel(finding, indicator, table, clock.now())
  const memory = createMemory(settings.memory, { classify })
  const cooldown = createCooldown({ ...settings.memory.cooldown, maxEntries: settings.memory.maxEntries }, clock.now)
  const kept = await openKeptMemory(memory, {
    path: folder,
    isNamed: true,
    isBudgeted: settings.admit.perHour > 0 || settings.admit.perDay > 0,
    maxBytes: settings.memory.maxBytes,
    clock,
    emit,
  })
  if ('problem' in kept) throw new Error(kept.problem)
  const admission = createAdmission(settings.admit, clock, emit, kept.ledger)
  /** The provider's last words on a question that failed, while they may still be asked for. */
  const words = new Map<string, SourceFailure['said']>()
  const noteWords = (key: string, said: SourceFailure['said']): void => {
    words.delete(key)
    if (said === undefined) return
    for (const oldest of words.keys()) {
      if (words.size < maxWords) break
      words.delete(oldest)
    }
    words.set(key, said)
  }

  const send = async (indicator: Indicator): Promise<Raw | Refused | Unknown> => {
    const question = questionOf(indicator)
    if (!question) return { status: 'unknown', reason: 'bad_input' }
    const from = clock.now()
    const reply = await client.callNamed(question.operation, question.parameters)
    const ms = clock.now() - from
    const { operation } = question
    if (reply.status === 'answer' && isAboutQuestion(question, reply.body)) {
      emit({ event: 'provider_answered', operation, ms })
      return reply
    }
    const failure: SourceFailure =
      reply.status === 'failure'
        ? reply.failure
        : { reason: 'bad_answer', retry: false, detail: 'the answer is about something else' }
    if (!isGivenUp(failure))
      emit({ event: 'provider_call_failed', operation, reason: failure.reason, detail: failure.detail, ms })
    noteWords(keyOf(indicator), failure.said)
    const finding = unknownOf(failure, clock.now())
    const isOneScan = failure.reason === 'no_credit' || (failure.reason === 'busy' && /scan/i.test(failure.detail))
    return isPost(operation) && isOneScan ? { status: 'refused', finding } : finding
  }
  const source: Source = async (indicator, _, call) => {
    const answer = await call(() => send(indicator))
    if (answer.status === 'unknown') return answer
    if (answer.status === 'refused') return answer.finding
    const at = clock.now()
    const facts = isVerdict(indicator) ? addressFacts(answer.body, at) : noFacts
    return { status: 'known', facts, source: 'service', at, body: answer.body }
  }
  const lookup = stack(
    recall(memory, cooldown, clock.now, watch?.recalled),
    coalesce((indicator, ask) => {
      admission.askedAgain(indicator, ask)
      watch?.joined()
    }),
    timed(watch?.lookedUp ?? (() => undefined), clock.now),
    remember(memory, cooldown, kept.append),
    admit(admission),
  )(retry(settings.admit.retry, clock, random)(source))
  /** What changes by the minute, or by asking, is neither remembered nor asked again when it fails. */
  const once = coalesce(admission.askedAgain)(admit(admission)(source))

  return {
    ask: async (operation, values, urgency, owner) => {
      const indicator = indicatorOf(operation, values, isPost(operation) ? owner : undefined)
      const finding = await (isLasting(operation) ? lookup : once)(indicator, askOf(urgency))
      if (finding.status === 'known') return { ok: true, body: (finding.body ?? {}) as JsonObject, isKnown: true }
      return refused(passOn(finding, words.get(keyOf(indicator))))
    },
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
      await kept.close()
      await client.close()
    },
  }
}

/** A scan that has yet to end, or that nobody may order, is no reason to stop asking about anything else. */
type Refused = { readonly status: 'refused'; readonly finding: Unknown }

const isPost = (operation: OperationName): boolean => operations[operation].method === 'POST'

const isLasting = (operation: OperationName): boolean => !isPost(operation) && operation !== 'domain/status'

/** Operations that state a verdict live as long as the verdict; all others as an answer without one. */
const isVerdict = ({ value }: Indicator): boolean =>
  value.startsWith('ip/malicious-info?') || value.startsWith('ip/suspicious_info?')

const askOf = (urgency: Urgency): Ask => ({ role: 'destination', action: 'allowed', evidence: 'field', urgency })

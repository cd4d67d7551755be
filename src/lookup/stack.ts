// Assembles the lookup layers from the memory inwards, for the pipeline and the gateway; the pipeline adds its gate and feeds outside.
import type { Clock } from '../base/clock.js'
import type { Finding, Unknown } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import type { Ask, Layer, Lookup, Source } from '../domain/lookup.js'
import type { Emit } from '../telemetry/event.js'
import type { ProviderState } from '../domain/provider-state.js'
import { createAdmission, type Admission, type AdmissionSettings } from './admission/admission.js'
import type { Permit } from './admission/call-sender.js'
import type { Priority } from './admission/queue.js'
import { admit } from './admit.js'
import { coalesce } from './coalesce.js'
import { createCooldown, type Cooldown, type CooldownSettings } from './memory/cooldown.js'
import type { KeptMemory } from './memory/kept-memory.js'
import { isRememberable } from './memory/lifetime.js'
import type { Memory, MemorySettings } from './memory/memory.js'
import type { QuestionType } from './question.js'
import { recall, type Recalled } from './recall.js'
import { remember } from './remember.js'
import { retry, type RetrySettings } from './retry.js'
import { share } from './share.js'
import { timed, type LookedUp } from './timed.js'

export type LookupSettings = {
  readonly admit: AdmissionSettings & { readonly retry: RetrySettings }
  readonly memory: MemorySettings & { readonly cooldown: Omit<CooldownSettings, 'maxEntries'> }
}

/** Called for every lookup in the memory with its outcome, and for every miss with the duration of its lookup. */
export type LookupWatch = {
  readonly recalled?: ((how: Recalled) => void) | undefined
  readonly joined?: (() => void) | undefined
  readonly lookedUp?: LookedUp | undefined
}

/** Asks a gateway many questions in one request. */
export type BulkLookup<Question> = {
  /** Undefined if the question must be sent on its own. */
  readonly ask: (question: Question, ask: Ask) => Finding | Promise<Finding> | undefined
  readonly askedAgain: (key: string, priority: Priority, times?: number) => void
  /** Undefined if the question is not open here. */
  readonly estimateMs: (key: string) => number | undefined
  /** Undefined while bulk requests are not in use. */
  readonly state: () => ProviderState | undefined
  /** Resolves when bulk requests are open, or unavailable for now. */
  readonly open: () => Promise<void>
  readonly close: () => void
}

export type LookupParts<Question> = {
  readonly type: QuestionType<Question>
  /** Layers outside the memory, outermost first: the gate and the feeds of the stream. */
  readonly outer: readonly Layer<Question>[]
  readonly source: Source<Question>
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  readonly emit: Emit
  readonly watch?: LookupWatch | undefined
  /** Called with every finding that is remembered. */
  readonly learnt?: ((question: Question, finding: Finding) => void) | undefined
  /** Called with every answer that was paid for here, not earlier by a gateway. */
  readonly paid?: ((question: Question, finding: Finding) => void) | undefined
  /** Bulk requests to a gateway, if it supports them; unsupported lookups are sent one at a time. */
  readonly bulk?: BulkLookup<Question> | undefined
  /** A further check on whether a call may be sent. */
  readonly permit?: Permit | undefined
}

export type LookupStack<Question> = {
  readonly lookup: Lookup<Question>
  /** For answers that change by the minute or by the request itself: neither remembered nor retried. */
  readonly lookupOnce: Lookup<Question>
  /** The state of the API key, or of the gateway that makes the calls. */
  readonly admission: Pick<Admission, 'estimateMs' | 'estimatesMs' | 'askedAgain' | 'state'>
  readonly cooldown: Cooldown
  /** Adds a finding that another process obtained; false if it is not news. `isJustNow`: its consequences are still to be handled. */
  readonly learn: (question: Question, finding: Finding, isJustNow: boolean) => boolean
}

export const createLookup = <Question>(
  settings: LookupSettings,
  { type, outer, source, clock, random, emit, watch = {}, bulk, learnt, paid, permit }: LookupParts<Question>,
  memory: Memory<Question>,
  { append, ledger }: Pick<KeptMemory<Question>, 'append' | 'ledger'> = {},
): LookupStack<Question> => {
  const { keyOf } = type
  const now = (): number => clock.now()
  const cooldown = createCooldown({ ...settings.memory.cooldown, maxEntries: settings.memory.maxEntries }, now)
  const ownAdmission = createAdmission(settings.admit, clock, emit, ledger, permit)
  const admission = bulk ? overBulk(ownAdmission, bulk) : ownAdmission
  const lookup = stack<Question, Source<Question>>(
    ...outer,
    recall(type, memory, cooldown, now, watch.recalled),
    coalesce<Question>(keyOf, (key, ask) => {
      admission.askedAgain(key, ask)
      watch.joined?.()
    }),
    timed<Question>(watch.lookedUp ?? (() => undefined), now),
    remember(keyOf, memory, cooldown, append, learnt),
    ...(bulk ? [inBulk(bulk)] : []),
    ...(paid ? [share(paid, now)] : []),
    admit(keyOf, ownAdmission),
  )(retry(settings.admit.retry, clock, random)(source))
  const lookupOnce = stack<Question, Source<Question>>(
    coalesce<Question>(keyOf, admission.askedAgain),
    admit(keyOf, ownAdmission),
  )(source)
  const learn = (question: Question, finding: Finding, isJustNow: boolean): boolean => {
    if (!isRememberable(finding) || !memory.learn(type.own(question), finding, now(), isJustNow)) return false
    cooldown.answered(keyOf(question))
    if (isJustNow) learnt?.(question, finding)
    return true
  }
  return { lookup, lookupOnce, admission, cooldown, learn }
}

const inBulk =
  <Question>(bulk: BulkLookup<Question>): Layer<Question> =>
  (inner) =>
  (question, ask) =>
    bulk.ask(question, ask) ?? inner(question, ask)

/** A question is open in only one of the two. */
const overBulk = <Question>(own: Admission, bulk: BulkLookup<Question>): LookupStack<Question>['admission'] => ({
  estimateMs: (key) => bulk.estimateMs(key) ?? own.estimateMs(key),
  estimatesMs: own.estimatesMs,
  askedAgain: (key, priority, times) => {
    bulk.askedAgain(key, priority, times)
    own.askedAgain(key, priority, times)
  },
  state: () => bulk.state() ?? own.state(),
})

/**
 * `stack(gate, recall, admit)(source)` calls gate first and source last. The last layer may need more from its source than a plain lookup
 * offers, as `admit` does.
 */
export const stack =
  <Question = Indicator, Inner extends (...args: never[]) => Finding | Promise<Finding> = Lookup<Question>>(
    ...layers: readonly [...Layer<Question>[], (inner: Inner) => Lookup<Question>]
  ) =>
  (source: Inner): Lookup<Question> => {
    const last = layers.at(-1) as (inner: Inner) => Lookup<Question>
    const outer = layers.slice(0, -1) as Layer<Question>[]
    return outer.reduceRight<Lookup<Question>>((inner, layer) => layer(inner), last(guard(source)))
  }

/** Foreign code starts at the source: a throw, a rejection or an invalid result becomes an ordinary failure. */
export const guard = <Inner extends (...args: never[]) => Finding | Promise<Finding>>(source: Inner): Inner =>
  ((...args: never[]) => {
    try {
      const found = source(...args)
      return found instanceof Promise ? found.then(checked, broken) : checked(found)
    } catch {
      return broken()
    }
  }) as Inner

const broken = (): Unknown => ({ status: 'unknown', reason: 'bad_answer' })

const checked = (found: unknown): Finding => {
  const finding = found as Finding | null | undefined
  if (finding?.status === 'known' && typeof finding.at === 'number') return finding
  return finding?.status === 'unknown' ? finding : broken()
}

// Stacks the layers from the memory inwards, for the pipeline and for the gateway; the pipeline puts its gate and feeds in front.
import type { Clock } from '../domain/clock.js'
import type { Finding } from '../domain/finding.js'
import type { Layer, Lookup, Source } from '../domain/lookup.js'
import type { Emit } from '../telemetry/event.js'
import { createAdmission, type Admission, type AdmissionSettings } from './admission/admission.js'
import { admit } from './admit.js'
import type { BulkLookup } from './bulk/bulk-lookup.js'
import { coalesce } from './coalesce.js'
import { createCooldown, type Cooldown, type CooldownSettings } from './memory/cooldown.js'
import { openKeptMemory, type KeptMemory, type KeptMemoryOptions } from './memory/kept-memory.js'
import type { Classify } from './memory/lifetime.js'
import { createMemory, type Memory, type MemorySettings } from './memory/memory.js'
import type { QuestionType } from './question.js'
import { recall, type Recalled } from './recall.js'
import { remember } from './remember.js'
import { retry, type RetrySettings } from './retry.js'
import { stack } from './stack.js'
import { timed, type LookedUp } from './timed.js'

export type LookupSettings = {
  readonly admit: AdmissionSettings & { readonly retry: RetrySettings }
  readonly memory: MemorySettings & { readonly cooldown: Omit<CooldownSettings, 'maxEntries'> }
}

/** Called for every ask of the memory with how it went, and for every lookup that it missed with how long it took. */
export type LookupWatch = {
  readonly recalled?: ((how: Recalled) => void) | undefined
  readonly joined?: (() => void) | undefined
  readonly lookedUp?: LookedUp | undefined
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
  /** Asks a gateway about many at once, where it takes that; what it does not take is asked by itself. */
  readonly bulk?: BulkLookup<Question> | undefined
}

export type LookupStack<Question> = {
  readonly lookup: Lookup<Question>
  /** For what changes by the minute, or by asking: neither remembered nor asked again when it fails. */
  readonly lookupOnce: Lookup<Question>
  /** The state of the API key, or of the gateway that asks for us. */
  readonly admission: Pick<Admission, 'estimateMs' | 'estimatesMs' | 'askedAgain' | 'state'>
  readonly cooldown: Cooldown
}

export const createLookup = <Question>(
  settings: LookupSettings,
  { type, outer, source, clock, random, emit, watch = {}, bulk, learnt }: LookupParts<Question>,
  memory: Memory<Question>,
  { append, ledger }: Pick<KeptMemory<Question>, 'append' | 'ledger'> = {},
): LookupStack<Question> => {
  const { keyOf } = type
  const now = (): number => clock.now()
  const cooldown = createCooldown({ ...settings.memory.cooldown, maxEntries: settings.memory.maxEntries }, now)
  const ownAdmission = createAdmission(settings.admit, clock, emit, ledger)
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
    admit(keyOf, ownAdmission),
  )(retry(settings.admit.retry, clock, random)(source))
  const lookupOnce = stack<Question, Source<Question>>(
    coalesce<Question>(keyOf, admission.askedAgain),
    admit(keyOf, ownAdmission),
  )(source)
  return { lookup, lookupOnce, admission, cooldown }
}

const inBulk =
  <Question>(bulk: BulkLookup<Question>): Layer<Question> =>
  (inner) =>
  (question, ask) =>
    bulk.ask(question, ask) ?? inner(question, ask)

/** A question is open in one place or the other. */
const overBulk = <Question>(own: Admission, bulk: BulkLookup<Question>): LookupStack<Question>['admission'] => ({
  estimateMs: (key) => bulk.estimateMs(key) ?? own.estimateMs(key),
  estimatesMs: own.estimatesMs,
  askedAgain: (key, priority) => {
    bulk.askedAgain(key, priority)
    own.askedAgain(key, priority)
  },
  state: () => bulk.state() ?? own.state(),
})

export type OpenLookup<Question> = LookupStack<Question> & {
  readonly memory: Memory<Question>
  readonly close: () => Promise<void>
}

/** With a memory that is filled from its folder at the start and written to it. */
export const openLookup = async <Question>(
  settings: LookupSettings & { readonly memory: { readonly maxBytes: number } },
  parts: LookupParts<Question>,
  {
    classify,
    ...folder
  }: { readonly classify: Classify<Question> } & Pick<KeptMemoryOptions, 'path' | 'isNamed' | 'isReader'>,
): Promise<OpenLookup<Question> | { readonly problem: string }> => {
  const { type, clock, emit } = parts
  const memory = createMemory(settings.memory, type.keyOf, classify)
  const kept = await openKeptMemory(memory, type, {
    ...folder,
    isBudgeted: settings.admit.perHour > 0 || settings.admit.perDay > 0,
    maxBytes: settings.memory.maxBytes,
    clock,
    emit,
  })
  if ('problem' in kept) return kept
  return { ...createLookup(settings, parts, memory, kept), memory, close: kept.close }
}

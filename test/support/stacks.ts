// Stacks of lookup layers for tests, and a source without a stack.
import type { Clock } from '../../src/base/clock.js'
import { keyOf, type Indicator } from '../../src/domain/indicator.js'
import type { Lookup, Source } from '../../src/domain/lookup.js'
import type { AdmissionSettings } from '../../src/lookup/admission/admission.js'
import { createMemory, type Memory, type MemorySettings } from '../../src/lookup/memory/memory.js'
import { createLookup, type LookupStack } from '../../src/lookup/stack.js'
import { indicators } from '../../src/lookup/question.js'
import type { remember } from '../../src/lookup/remember.js'
import type { RetrySettings } from '../../src/lookup/retry.js'
import { ignoreTelemetry } from '../../src/telemetry/event.js'
import { admissionSettings, classify, cooldownSettings, memorySettings, retrySettings } from './lookup.js'

type Keep<Question> = NonNullable<Parameters<typeof remember<Question>>[3]>

export type WholeStack = LookupStack<Indicator> & { readonly memory: Memory<Indicator> }

export type StackOptions = {
  readonly memory?: Partial<MemorySettings>
  readonly admission?: Partial<AdmissionSettings>
  readonly retry?: Partial<RetrySettings>
  readonly keep?: Keep<Indicator>
  readonly forOutages?: boolean
}

export const createStack = (source: Source, clock: Clock, options: StackOptions = {}): WholeStack => {
  const settings = {
    admit: { ...admissionSettings, ...options.admission, retry: { ...retrySettings, ...options.retry } },
    memory: {
      ...memorySettings,
      ...options.memory,
      cooldown: { ...cooldownSettings, forOutages: options.forOutages ?? true },
    },
  }
  const memory = createMemory(settings.memory, keyOf, classify)
  const stack = createLookup(
    settings,
    { type: indicators, outer: [], source, clock, random: () => 1, emit: ignoreTelemetry },
    memory,
    options.keep ? { append: options.keep } : {},
  )
  return { ...stack, memory }
}

/** A source without admission: all calls are sent. */
export const direct =
  (source: Source): Lookup =>
  (indicator, ask) =>
    source(indicator, ask, (send) => send())

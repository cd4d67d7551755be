// Stacks of lookup layers as tests want them: one layer alone, or all of them.
import type { Lookup, Source } from '../../src/domain/lookup.js'
import { admit, createAdmission, type Admission, type AdmissionSettings } from '../../src/lookup/admit.js'
import { coalesce } from '../../src/lookup/coalesce.js'
import { createCooldown, type Cooldown } from '../../src/lookup/memory/cooldown.js'
import { createMemory, type Memory, type MemorySettings } from '../../src/lookup/memory/memory.js'
import { recall } from '../../src/lookup/recall.js'
import { remember, type Keep } from '../../src/lookup/remember.js'
import { retry, type RetrySettings } from '../../src/lookup/retry.js'
import { stack } from '../../src/lookup/stack.js'
import type { Clock } from '../../src/domain/clock.js'
import { admissionSettings, classify, cooldownSettings, memorySettings, retrySettings } from './lookup.js'

export type WholeStack = {
  readonly lookup: Lookup
  readonly memory: Memory
  readonly cooldown: Cooldown
  readonly admission: Admission
}

export type StackOptions = {
  readonly memory?: Partial<MemorySettings>
  readonly admission?: Partial<AdmissionSettings>
  readonly retry?: Partial<RetrySettings>
  readonly keep?: Keep
  readonly forOutages?: boolean
}

export const createStack = (source: Source, clock: Clock, options: StackOptions = {}): WholeStack => {
  const memory = createMemory({ ...memorySettings, ...options.memory }, { classify })
  const cooldown = createCooldown({ ...cooldownSettings, forOutages: options.forOutages ?? true }, clock.now)
  const admission = createAdmission({ ...admissionSettings, ...options.admission }, clock)
  const lookup = stack(
    recall(memory, cooldown, clock.now),
    coalesce(admission.askedAgain),
    remember(memory, cooldown, options.keep),
    admit(admission),
  )(retry({ ...retrySettings, ...options.retry }, clock, () => 1)(source))
  return { lookup, memory, cooldown, admission }
}

/** A source without admission: every call goes. */
export const direct =
  (source: Source): Lookup =>
  (indicator, ask) =>
    source(indicator, ask, (send) => send())

// Fixed limits, gathered from where they are declared. The composition root reads them here, and tests can pass others.
import { budgetOf } from '../config/budget.js'
import type { Config } from '../config/schema.js'
import { kafkaLimits, type KafkaSettings } from '../kafka/settings.js'
import { admissionLimits, type AdmissionSettings } from '../lookup/admission/admission.js'
import { cooldownLimits, type CooldownSettings } from '../lookup/memory/cooldown.js'
import { lifetimesOf } from '../lookup/memory/lifetime.js'
import { folderBytes } from '../lookup/memory/memory.js'
import type { LookupSettings } from '../lookup/stack.js'
import { retryLimits, type RetrySettings } from '../lookup/retry.js'
import { clientLimits, type ProviderSettings } from '../provider/client.js'
import { scanPollMs } from '../provider/scan.js'

export type Limits = {
  readonly admission: { readonly [name in keyof typeof admissionLimits]: AdmissionSettings[name] }
  readonly retry: RetrySettings
  readonly cooldown: Omit<CooldownSettings, 'maxEntries' | 'forOutages'>
  readonly client: { readonly [name in keyof typeof clientLimits]: ProviderSettings[name] }
  readonly kafka: { readonly [name in keyof typeof kafkaLimits]: number }
  readonly scanPollMs: number
}

export const limits: Limits = {
  admission: { ...admissionLimits },
  retry: { ...retryLimits },
  cooldown: { ...cooldownLimits },
  client: { ...clientLimits },
  kafka: { ...kafkaLimits },
  scanPollMs,
}

/** Lookup settings, plus fixed limits. */
export const lookupSettingsOf = (
  { admit, intel, memory }: Config,
  { admission, retry, cooldown }: Limits,
  {
    maxEntries,
    forOutages,
    isGateway,
  }: { readonly maxEntries: number; readonly forOutages: boolean; readonly isGateway?: () => boolean },
): LookupSettings & { readonly memory: { readonly maxBytes: number } } => ({
  admit: {
    ...admission,
    ...budgetOf(admit),
    ...(isGateway && { isGateway }),
    inFlight: intel.service.concurrency,
    retry,
  },
  memory: {
    ...lifetimesOf(memory.freshSeconds),
    maxEntries,
    maxBytes: folderBytes(memory.maxEntries),
    cooldown: { ...cooldown, forOutages },
  },
})

/** The settings of Kafka with the bounds that are none. */
export const kafkaSettingsOf = ({ kafka }: Config): KafkaSettings => ({
  ...kafka,
  transactionalIdPrefix: kafka.clientId,
  limits: { ...limits.kafka, ...kafka.limits },
})

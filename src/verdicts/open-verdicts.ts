// Opens the verdicts topic, which shares verdicts between processes within a moment.
import { hostname } from 'node:os'
import type { Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { createClient } from '../kafka/client.js'
import { openIdempotentSender } from '../kafka/producers.js'
import type { KafkaSettings } from '../kafka/settings.js'
import { openTopicReader } from '../kafka/topic-reader.js'
import type { Emit } from '../telemetry/event.js'
import { createAppendVerdicts } from './append-verdicts.js'
import { tailVerdicts } from './tail-verdicts.js'

type VerdictsParts = {
  /** Stores a finding of another process; false if it is not newer. */
  readonly learn: (indicator: Indicator, finding: Finding, isJustNow: boolean) => boolean
  readonly isFull: () => boolean
  /** Marks an entry as recently used, so that it is not evicted first. */
  readonly touch: (indicator: Indicator) => void
}

type Verdicts = {
  /** Shares a new finding, without waiting. */
  readonly paid: (indicator: Indicator, finding: Finding) => void
  readonly close: () => Promise<void>
}

/** Opens the verdicts topic; a parameter, because only the Kafka side knows the brokers. Resolves when useful verdicts are read, or after half a minute. */
export type OpenVerdicts = (parts: VerdictsParts) => Promise<Verdicts>

/** Undefined without a verdicts topic. */
export const verdictsOf = (
  settings: KafkaSettings,
  { now, emit }: { readonly now: () => number; readonly emit: Emit },
): OpenVerdicts | undefined => {
  const { verdictsTopic: topic = '', verdictsKey: key = '', clientId } = settings
  if (topic === '') return undefined
  return async ({ learn, isFull, touch }) => {
    const tail = tailVerdicts({
      openReader: () => openTopicReader(createClient(settings, emit)),
      topic,
      key,
      learn: ({ indicator, finding }, isJustNow) => learn(indicator, finding, isJustNow),
      isFull,
      touch,
      now,
      emit,
    })
    const appending = createAppendVerdicts({
      openSender: (failed) =>
        openIdempotentSender(createClient(settings, emit), 'none', (_records, cause) => failed(cause)),
      topic: async () => ({ topic, partitions: await tail.partitions, key }),
      by: `${clientId}@${hostname()}`,
      emit,
    })
    await tail.started
    return {
      paid: appending.append,
      close: async () => {
        await appending.close()
        await tail.close()
      },
    }
  }
}

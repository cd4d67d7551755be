// The verdicts topic: what one process has paid for, every other one knows a moment later.
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
  /** Takes in what somebody has obtained; false where it is no news. */
  readonly learn: (indicator: Indicator, finding: Finding, isJustNow: boolean) => boolean
  readonly isFull: () => boolean
  /** As if it had been asked for: it is not among the first to be forgotten. */
  readonly touch: (indicator: Indicator) => void
}

type Verdicts = {
  /** Shares what was paid for here; nobody waits for it. */
  readonly paid: (indicator: Indicator, finding: Finding) => void
  readonly close: () => Promise<void>
}

/** How a verdicts topic is opened, by who knows the brokers. Resolves when what is of use is known, or after half a minute. */
export type OpenVerdicts = (parts: VerdictsParts) => Promise<Verdicts>

/** Undefined where there is no such topic. */
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

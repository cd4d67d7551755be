// Appends what was paid for to the verdicts topic, behind the events: nobody waits for it, and a broker that is away loses nothing for a while.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Finding } from '../domain/finding.js'
import { ownIndicator, type Indicator } from '../domain/indicator.js'
import { failureOf } from '../kafka/failure.js'
import type { IdempotentSender } from '../kafka/producers.js'
import type { Outgoing } from '../kafka/records.js'
import type { Emit } from '../telemetry/event.js'
import { isShareable, writeVerdict, type SharedVerdict, type VerdictsTopic } from './verdict-record.js'

type AppendOptions = {
  readonly openSender: (failed: (cause: string) => void) => IdempotentSender
  /** Resolves when it is known how many partitions the topic has. */
  readonly topic: () => Promise<VerdictsTopic>
  /** Who pays here, as others are told. */
  readonly by: string
  readonly emit: Emit
}

type AppendVerdicts = {
  readonly append: (indicator: Indicator, finding: Finding) => void
  /** Sends what waits, for a moment at most. */
  readonly close: () => Promise<void>
}

/** An hour of a provider that answers three questions a second; beyond it they are known here and not shared. */
const maxWaiting = 10_000
const batchSize = 500
const againMs = 5_000
const closeMs = 2_000

export const createAppendVerdicts = ({ openSender, topic, by, emit }: AppendOptions): AppendVerdicts => {
  const waiting: SharedVerdict[] = []
  const closed = new AbortController()
  let isFailing = false
  let flushing: Promise<void> | undefined
  const failed = (message: string): void => {
    if (!isFailing && !closed.signal.aborted) emit({ event: 'verdicts_topic_failed', what: 'append', message })
    isFailing = true
  }
  const sender = openSender(failed)
  const flush = async (): Promise<void> => {
    const described = await topic()
    while (waiting.length > 0 && !closed.signal.aborted) {
      const batch = waiting.slice(0, batchSize)
      const records = batch.map((verdict) => writeVerdict(described, verdict))
      const small = records.filter((record): record is Outgoing => record !== undefined)
      try {
        const sent = small.length === 0 ? 'acknowledged' : await sender.send(small)
        waiting.splice(0, batch.length)
        if (isFailing) emit({ event: 'verdicts_topic_resumed', what: 'append' })
        isFailing = false
        const refused = sent === 'acknowledged' ? 0 : sent.left.length
        const appended = small.length - refused
        const tooLarge = batch.length - small.length
        if (appended > 0) emit({ event: 'verdicts_appended', verdicts: appended })
        if (refused > 0) emit({ event: 'verdicts_not_shared', verdicts: refused, reason: 'refused' })
        if (tooLarge > 0) emit({ event: 'verdicts_not_shared', verdicts: tooLarge, reason: 'too_large' })
      } catch (error) {
        failed(failureOf(error).message)
        await sleep(againMs, undefined, { signal: closed.signal }).catch(() => undefined)
      }
    }
    flushing = undefined
  }
  return {
    append: (indicator, finding) => {
      if (!isShareable(finding) || closed.signal.aborted) return
      if (waiting.length >= maxWaiting) {
        emit({ event: 'verdicts_not_shared', verdicts: 1, reason: 'too_many' })
        return
      }
      waiting.push({ indicator: ownIndicator(indicator), finding, by })
      flushing ??= flush()
    },
    close: async () => {
      await Promise.race([flushing, sleep(closeMs, undefined, { ref: false })])
      closed.abort()
      await sender.close()
    },
  }
}

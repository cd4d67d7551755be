// Appends new verdicts to the verdicts topic in the background, and queues them during a broker outage.
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
  /** Resolves when the number of partitions is known. */
  readonly topic: () => Promise<VerdictsTopic>
  /** The name of this process in records. */
  readonly by: string
  readonly emit: Emit
}

type AppendVerdicts = {
  readonly append: (indicator: Indicator, finding: Finding) => void
  /** Flushes the queue, with a short time limit. */
  readonly close: () => Promise<void>
}

/** An hour of verdicts at three lookups per second; further ones are not shared. */
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

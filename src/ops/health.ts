// Whether a restart would help, and whether the program does its work: two different questions.
import type { ConsumerView } from '../telemetry/metrics.js'

export type Health = { readonly ok: boolean; readonly problems: readonly string[] }

export type HealthLimits = {
  /** After this long in the works a chunk is stuck. */
  readonly chunkMs: number
  /** A tick of the event loop that is later than this was held up. */
  readonly loopMs: number
}

/** Broker and provider are not asked for: an outage of theirs is not cured by a restart. */
export const healthOf = (
  consumer: ConsumerView | undefined,
  blockedMs: number,
  { chunkMs, loopMs }: HealthLimits,
  now: number,
): Health => {
  const problems: string[] = []
  if (consumer?.state === 'failed' || consumer?.state === 'stopped') problems.push('the consumer is gone')
  for (const [name, { chunkSince }] of Object.entries(consumer?.partitions ?? {}))
    if (chunkSince !== undefined && now - chunkSince > chunkMs)
      problems.push(`${name}: a chunk is in the works for ${Math.round((now - chunkSince) / 1000)} s`)
  if (blockedMs > loopMs) problems.push(`the event loop is held up for ${Math.round(blockedMs / 1000)} s at a time`)
  return { ok: problems.length === 0, problems }
}

export const readinessOf = (consumer: ConsumerView | undefined, now: number): Health => {
  const problems: string[] = []
  if (consumer?.unreachableSince !== undefined)
    problems.push(`no broker has answered for ${Math.round((now - consumer.unreachableSince) / 1000)} s`)
  if (consumer && consumer.state !== 'running') problems.push(`the consumer is ${consumer.state}`)
  else if (consumer?.joins === 0) problems.push('the consumer has not joined its group yet')
  else if (consumer?.leftAt !== undefined) problems.push('the consumer has not joined its group again')
  return { ok: problems.length === 0, problems }
}

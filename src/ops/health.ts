// Health (would a restart help?) and readiness (does it process events?).
import type { Clock } from '../base/clock.js'
import type { ConsumerHealth } from '../domain/consumer-health.js'

export type Health = { readonly ok: boolean; readonly problems: readonly string[] }

export type HealthLimits = {
  /** A chunk in progress for longer than this is stuck. */
  readonly chunkMs: number
  /** The event loop is blocked if its ticks are later than this. */
  readonly loopMs: number
}

/** Ignores outages of brokers and provider, which a restart does not fix. */
export const healthOf = (
  consumer: ConsumerHealth | undefined,
  blockedMs: number,
  { chunkMs, loopMs }: HealthLimits,
  now: number,
): Health => {
  const problems: string[] = []
  if (consumer?.state === 'failed' || consumer?.state === 'stopped') problems.push('the consumer has stopped')
  for (const [name, { chunkSince }] of Object.entries(consumer?.partitions ?? {}))
    if (chunkSince !== undefined && now - chunkSince > chunkMs)
      problems.push(`${name}: a chunk has been in progress for ${Math.round((now - chunkSince) / 1000)} s`)
  if (blockedMs > loopMs) problems.push(`the event loop is blocked for ${Math.round(blockedMs / 1000)} s at a time`)
  return { ok: problems.length === 0, problems }
}

export const readinessOf = (consumer: ConsumerHealth | undefined, now: number): Health => {
  const problems: string[] = []
  if (consumer?.unreachableSince !== undefined)
    problems.push(`no broker has answered for ${Math.round((now - consumer.unreachableSince) / 1000)} s`)
  if (consumer && consumer.state !== 'running') problems.push(`the consumer is ${consumer.state}`)
  else if (consumer?.joins === 0) problems.push('the consumer has not joined its group yet')
  else if (consumer?.leftAt !== undefined) problems.push('the consumer has not rejoined its group')
  return { ok: problems.length === 0, problems }
}

type EventLoopDelay = {
  /** The shortest of the last three delays, so that a single hiccup does not count. */
  readonly blockedMs: () => number
  readonly close: () => void
}

const tickMs = 1000

/** Detects a blocked event loop by the delay of a timer. */
export const measureEventLoopDelay = (clock: Clock): EventLoopDelay => {
  let delays = [0, 0, 0]
  let due = clock.now() + tickMs
  let cancel = (): void => undefined
  const tick = (): void => {
    const now = clock.now()
    delays = [...delays.slice(1), Math.max(0, now - due)]
    due = now + tickMs
    cancel = clock.after(tickMs, tick)
  }
  cancel = clock.after(tickMs, tick)
  return { blockedMs: () => Math.min(...delays), close: () => cancel() }
}

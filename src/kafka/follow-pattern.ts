// Follows the input pattern: lists the topics at intervals, and changes the subscription when the matches change.
import type { Admin } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { failureOf } from './failure.js'
import type { KafkaSettings } from './settings.js'
import { inputTopics } from './topics.js'

type FollowOptions = {
  readonly admin: Admin
  readonly settings: KafkaSettings
  readonly signal: AbortSignal
  readonly emit: Emit
}

/** Returns a stop function, which waits for a change in progress. */
export const followPattern = (
  { admin, settings, signal, emit }: FollowOptions,
  current: readonly string[],
  readInstead: (topics: readonly string[]) => Promise<void>,
): (() => Promise<void>) => {
  let known = current
  let running: Promise<void> | undefined
  const check = async (): Promise<void> => {
    const found = inputTopics(settings, await admin.listTopics())
    if (found.length === 0 || found.join() === known.join() || signal.aborted) return
    emit({ event: 'topics_changed', topics: found })
    await readInstead(found)
    known = found
  }
  const timer = setInterval(() => {
    running ??= check()
      .catch((error: unknown) =>
        emit({ event: 'kafka_client_warned', about: 'topics', message: failureOf(error).message }),
      )
      .finally(() => {
        running = undefined
      })
  }, settings.limits.refreshMs)
  return async () => {
    clearInterval(timer)
    await running
  }
}

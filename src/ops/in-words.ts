// The state of things in one sentence each, for somebody who has ten seconds.
import type { ConsumerView, ProviderView } from '../telemetry/metrics.js'
import type { Health } from './health.js'
import { count, duration, rate } from './numbers.js'

export type Tone = 'good' | 'warn' | 'bad' | 'idle'
export type Words = { readonly text: string; readonly tone: Tone }

/** With records waiting, this long without one delivered is worth a look. */
const quietMs = 15_000

export const providerWords = (provider: ProviderView | undefined, now: number): Words => {
  if (!provider) return { tone: 'idle', text: 'No provider is asked: local feeds only.' }
  const { state, reason, until, inFlight, waiting, latencyMs } = provider
  const why = reason === undefined ? '' : ` (${reason.replaceAll('_', ' ')})`
  const again = until === undefined ? '' : `, tried again in ${duration(until - now)}`
  switch (state) {
    case 'open':
      return {
        tone: 'good',
        text: `The provider is asked: ${count(inFlight)} in flight, ${count(waiting)} waiting, about ${Math.round(latencyMs)} ms a lookup.`,
      }
    case 'paused':
      return { tone: 'warn', text: `The provider wants us to slow down${why}${again}.` }
    case 'breaker_open':
      return { tone: 'bad', text: `The provider does not answer; the breaker is open${again}.` }
    case 'stopped':
      return { tone: 'bad', text: `The provider refuses us${why}${again}.` }
    case 'probing':
      return { tone: 'warn', text: `The provider is tried again with one call${why}.` }
  }
}

export type Situation = {
  readonly health: Health
  readonly provider: ProviderView | undefined
  readonly consumer: ConsumerView | undefined
  /** What local feeds hold; absent where nobody counts them. */
  readonly feedEntries: number | undefined
  readonly lag: number
  readonly now: number
  readonly eventsPerSecond: number
}

export const headline = (situation: Situation): Words => {
  const { health, provider, consumer, feedEntries, lag, now, eventsPerSecond } = situation
  if (!health.ok) return { tone: 'bad', text: `Needs a restart: ${health.problems.join('; ')}.` }
  if (consumer?.unreachableSince !== undefined)
    return {
      tone: 'bad',
      text: `No broker has answered for ${duration(now - consumer.unreachableSince)}: events wait in Kafka.`,
    }
  if (consumer && consumer.state !== 'running') return { tone: 'warn', text: `The consumer is ${consumer.state}.` }
  if (consumer?.joins === 0) return { tone: 'warn', text: 'The consumer has not joined its group yet.' }
  if (consumer?.leftAt !== undefined) return { tone: 'warn', text: 'The consumer has not joined its group again.' }
  const waiting = Object.values(consumer?.partitions ?? {}).filter((partition) => partition.lag > 0)
  const quiet = Math.min(...waiting.map(({ progressAt }) => now - progressAt))
  if (waiting.length > 0 && quiet > quietMs)
    return {
      tone: 'bad',
      text: `${count(lag)} events wait and none was delivered for ${duration(quiet)}: are the brokers reachable?`,
    }
  if (provider && provider.state !== 'open')
    return { tone: 'warn', text: 'Events pass, but what is not known already leaves as unknown.' }
  if (!provider && feedEntries === 0)
    return {
      tone: 'bad',
      text: 'Events pass, but nothing can be known of them: no feed is in use, and no provider is asked.',
    }
  const pace = eventsPerSecond > 0 ? `${rate(eventsPerSecond)} events a second` : 'waiting for events'
  return { tone: 'good', text: `Enrichment works: ${pace}.` }
}

// The state of the process and of the provider, in one sentence each for the status page.
import type { ConsumerHealth } from '../../../domain/consumer-health.js'
import type { AllowedCalls, ProviderState } from '../../../domain/provider-state.js'
import type { ProcessKind } from '../../../telemetry/metrics.js'
import { formatCount, formatDuration, formatRate } from '../markup/numbers.js'

export type Tone = 'good' | 'warn' | 'bad' | 'idle'
export type Sentence = { readonly text: string; readonly tone: Tone }

/** No delivery for this long is a problem while records are waiting. */
const quietMs = 15_000

export const providerSentence = (provider: ProviderState | undefined, limits: AllowedCalls, now: number): Sentence => {
  if (!provider) return { tone: 'idle', text: 'No provider: local feeds only.' }
  const { state, reason, until, inFlight, allowed, waiting, latencyMs, budgetSpentUntil } = provider
  if (state === 'open' && budgetSpentUntil !== undefined)
    return { tone: 'warn', text: budgetSpentText(budgetSpentUntil - now, limits) }
  const because = reason === undefined ? '' : ` (${reason.replaceAll('_', ' ')})`
  const retry = until === undefined ? '' : `, retry in ${formatDuration(until - now)}`
  switch (state) {
    case 'open':
      return {
        tone: 'good',
        text: `Provider available: ${formatCount(inFlight)} of ${formatCount(allowed)} calls in flight, ${formatCount(waiting)} queued, about ${Math.round(latencyMs)} ms per lookup.`,
      }
    case 'paused':
      return { tone: 'warn', text: `Provider paused: it asked for fewer calls${because}${retry}.` }
    case 'breaker_open':
      return { tone: 'bad', text: `Provider not answering: the circuit breaker is open${retry}.` }
    case 'stopped':
      return { tone: 'bad', text: `Provider refuses our calls${because}${retry}.` }
    case 'probing':
      return { tone: 'warn', text: `Provider being probed with one call${because}.` }
  }
}

const budgetSpentText = (forMs: number, { day, isDefault = false }: AllowedCalls): string => {
  const what = isDefault
    ? `default budget of ${formatCount(day)} calls a day is spent (admit.perDay)`
    : 'budget is spent'
  return `The ${what}: ${forMs === Infinity ? 'no more calls in this run' : `no calls for ${formatDuration(forMs)}`}.`
}

type Situation = {
  readonly health: { readonly ok: boolean; readonly problems: readonly string[] }
  readonly provider: ProviderState | undefined
  readonly consumer: ConsumerHealth | undefined
  readonly kind: ProcessKind
  /** Names of feeds without a usable copy. */
  readonly missingFeeds: readonly string[]
  readonly hasFeeds: boolean
  readonly lag: number
  readonly now: number
  /** Events or requests per second. */
  readonly perSecond: number
}

export const headline = (situation: Situation): Sentence => {
  const { kind, health, provider, consumer, missingFeeds, hasFeeds, lag, now, perSecond } = situation
  const isServer = kind === 'server'
  if (!health.ok) return { tone: 'bad', text: `Restart needed: ${health.problems.join('; ')}.` }
  if (consumer?.unreachableSince !== undefined)
    return {
      tone: 'bad',
      text: `No broker has answered for ${formatDuration(now - consumer.unreachableSince)}: events are waiting in Kafka.`,
    }
  if (consumer && consumer.state !== 'running') return { tone: 'warn', text: `The consumer is ${consumer.state}.` }
  if (consumer?.joins === 0) return { tone: 'warn', text: 'The consumer has not joined its group yet.' }
  if (consumer?.leftAt !== undefined) return { tone: 'warn', text: 'The consumer has not rejoined its group.' }
  const waiting = Object.values(consumer?.partitions ?? {}).filter((partition) => partition.lag > 0)
  const quiet = Math.min(...waiting.map(({ progressAt }) => now - progressAt))
  if (waiting.length > 0 && quiet > quietMs)
    return {
      tone: 'bad',
      text: `${formatCount(lag)} events are waiting and none was delivered for ${formatDuration(quiet)}: are the brokers reachable?`,
    }
  if (provider && provider.state !== 'open')
    return {
      tone: 'warn',
      text: isServer
        ? 'Requests are answered, but only from local data and the memory.'
        : 'Events are delivered, but indicators outside the memory get the verdict unknown.',
    }
  if (!isServer && !provider && !hasFeeds)
    return {
      tone: 'bad',
      text: 'Events are delivered without verdicts: there is no feed and no provider.',
    }
  if (missingFeeds.length > 0)
    return {
      tone: 'warn',
      text: `No copy of ${missingFeeds.slice(0, 5).join(', ')} is in use: indicators without another listing are unknown (feed missing), never clean.`,
    }
  const what = isServer ? 'requests' : 'events'
  return {
    tone: 'good',
    text: `Working: ${perSecond > 0 ? `${formatRate(perSecond)} ${what}/s` : `waiting for ${what}`}.`,
  }
}

// What the status page says of the process and of the provider, in one sentence each.
import { describe, expect, it } from 'vitest'
import { headline, providerSentence } from '../../../../src/parts/status-page/content/sentences.js'
import { openProvider, runningConsumer } from '../../../support/ops.js'

describe('sentences', () => {
  const calm = {
    kind: 'pipeline' as 'pipeline' | 'server',
    health: { ok: true, problems: [] },
    provider: openProvider,
    consumer: runningConsumer(1000),
    missingFeeds: [] as string[],
    hasFeeds: false,
    lag: 12,
    now: 1000,
    perSecond: 5,
  }
  it.each<[string, Partial<typeof calm> | { provider: undefined }, string]>([
    ['everything works', {}, 'Working: 5.0 events/s.'],
    [
      'there is neither feed nor provider',
      { provider: undefined },
      'Events are delivered without verdicts: there is no feed and no provider.',
    ],
    ['there are no events', { perSecond: 0 }, 'Working: waiting for events.'],
    ['a gateway works', { kind: 'server' }, 'Working: 5.0 requests/s.'],
    [
      'a feed is missing',
      { missingFeeds: ['urlhaus'] },
      'No copy of urlhaus is in use: indicators without another listing are unknown (feed missing), never clean.',
    ],
    [
      'it is stuck',
      { health: { ok: false, problems: ['the consumer has stopped'] } } as never,
      'Restart needed: the consumer has stopped.',
    ],
    [
      'the brokers do not answer',
      { now: 61_000 },
      '12 events are waiting and none was delivered for 60 s: are the brokers reachable?',
    ],
    [
      'the provider does not answer',
      { provider: { ...openProvider, state: 'breaker_open' } },
      'Events are delivered, but indicators outside the memory get the verdict unknown.',
    ],
  ])('when %s', (_, over, text) => {
    expect(headline({ ...calm, ...over }).text).toBe(text)
  })

  it.each([
    [undefined, 'No provider: local feeds only.'],
    [
      { ...openProvider, state: 'stopped', reason: 'bad_key', until: 31_000 },
      'Provider refuses our calls (bad key), retry in 30 s.',
    ],
    [
      { ...openProvider, state: 'paused', reason: 'throttled', until: 3_000 },
      'Provider paused: it asked for fewer calls (throttled), retry in 2 s.',
    ],
    [
      { ...openProvider, budgetSpentUntil: 3_601_000 },
      'The default budget of 1000 calls a day is spent (admit.perDay): no calls for 60 min.',
    ],
  ] as const)('the provider: %j', (provider, text) => {
    expect(providerSentence(provider, { hour: 0, day: 1000, isDefault: true }, 1000).text).toBe(text)
  })
})

import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../src/domain/decision.js'
import { noFacts, unknownOf, type Known } from '../../../src/domain/finding.js'
import type { Indicator } from '../../../src/domain/indicator.js'
import type { Ask, Lookup } from '../../../src/domain/lookup.js'
import { judge } from '../../../src/domain/judge.js'
import { shippedTable } from '../../../src/domain/judgement-table.js'
import { feeds } from '../../../src/lookup/feeds.js'
import { indicator, known, malicious, outbound } from '../../support/lookup.js'

const host: Indicator = { type: 'domain', value: 'www.bad.example.com' }
const registrable: Indicator = { type: 'domain', value: 'example.com' }
const listed: Known = { status: 'known', facts: noFacts, source: 'feed:ours', at: 1 }
const ask = (decision?: Decision): Ask => ({
  role: 'query',
  action: 'allowed',
  evidence: 'field',
  ...(decision && { decision }),
})

const counting = (): { inner: Lookup; asked: string[] } => {
  const asked: string[] = []
  return { asked, inner: (indicator) => (asked.push(indicator.value), unknownOf('not_listed')) }
}

describe('feeds', () => {
  it.each<[string, Decision | undefined]>([
    ['no decision', undefined],
    ['a lookup', { decision: 'lookup', ask: registrable }],
    ['feeds alone', { decision: 'feeds', reason: 'feeds_only' }],
  ])('answers a listed indicator at once and asks nobody, given %s', (_, decision) => {
    const { inner, asked } = counting()
    const seen: Indicator[] = []
    const lookup = feeds((indicator) => (seen.push(indicator), listed))(inner)
    expect(lookup(host, ask(decision))).toBe(listed)
    expect([seen, asked]).toEqual([[host], []])
  })

  it('passes what may leave inward, not what was seen', () => {
    const { inner, asked } = counting()
    expect(feeds(() => undefined)(inner)(host, ask({ decision: 'lookup', ask: registrable }))).toEqual({
      status: 'unknown',
      reason: 'not_listed',
    })
    expect(asked).toEqual(['example.com'])
  })

  it('passes the indicator itself inward where nobody decided', () => {
    const { inner, asked } = counting()
    void feeds(() => undefined)(inner)(host, ask())
    expect(asked).toEqual(['www.bad.example.com'])
  })

  it.each<[Decision, string]>([
    [{ decision: 'feeds', reason: 'feeds_only' }, 'feeds_only'],
    [{ decision: 'skip', reason: 'private_address' }, 'private_address'],
  ])('asks nobody about an unlisted indicator decided %o', (decision, reason) => {
    const { inner, asked } = counting()
    expect(feeds(() => undefined)(inner)(host, ask(decision))).toEqual({ status: 'unknown', reason })
    expect(asked).toEqual([])
  })
})

describe('while a feed is missing', () => {
  const judged = (inner: Lookup, isMissing: boolean) => {
    const found = feeds(
      () => undefined,
      () => isMissing,
    )(inner)(indicator(1), outbound)
    if (found instanceof Promise) throw new Error('answered at once')
    return judge(found, { ...indicator(1), role: 'destination' }, shippedTable, 1)
  }

  it('nothing is clean, and whoever others accuse stays accused', () => {
    expect(judged(() => known(1), false)).toMatchObject({ level: 'clean' })
    expect(judged(() => known(1), true)).toMatchObject({ level: 'unknown', reason: 'feed_missing' })
    expect(judged(() => unknownOf('not_found'), true)).toMatchObject({ level: 'unknown', reason: 'feed_missing' })
    expect(judged(() => unknownOf('timeout'), true)).toMatchObject({ level: 'unknown', reason: 'timeout' })
    expect(judged(() => known(1, malicious), true)).toMatchObject({ level: 'malicious' })
  })

  it('gives the same finding and the same promise again, by which waiting events are grouped', () => {
    const [found, promise] = [known(1), Promise.resolve(known(2))]
    const asked = (answer: typeof found | typeof promise): unknown => {
      const lookup = feeds(
        () => undefined,
        () => true,
      )(() => answer)
      return lookup(indicator(1), outbound) === lookup(indicator(1), outbound)
    }
    expect([asked(found), asked(promise)]).toEqual([true, true])
  })
})

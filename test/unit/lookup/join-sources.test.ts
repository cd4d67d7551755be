// Main provider and sources together: the worst accusation counts, nobody is acquitted by silence or by a failure, and the same parts give the same object.
import { describe, expect, it } from 'vitest'
import { unknownOf, type Facts, type Finding, type Known } from '../../../src/domain/finding.js'
import { judgeCounting, worstLevel } from '../../../src/domain/judge.js'
import { shippedTable } from '../../../src/domain/judgement-table.js'
import type { Indicator } from '../../../src/domain/indicator.js'
import type { Ask, Lookup } from '../../../src/domain/lookup.js'
import { soFarOf } from '../../../src/domain/so-far.js'
import { joinSources, type AskMode } from '../../../src/lookup/join-sources.js'
import { newYear } from '../../support/clock.js'

const ip: Indicator = { type: 'ip', value: '198.51.100.7' }
const ask: Ask = { role: 'source', action: 'allowed', evidence: 'field' }
const classify = (finding: Known, about: Indicator) => worstLevel(finding, about, shippedTable, newYear)

const main = (facts: Partial<Facts>): Known => ({
  status: 'known',
  facts: { flags: {}, categories: [], ...facts },
  source: 'service',
  at: newYear,
})
const source = (id: string, facts: Partial<Facts>): Known => ({
  ...main(facts),
  source: `source:${id}`,
  at: newYear + 1,
})
const listed = (id: string, level: 'malicious' | 'suspicious', score: number): Known =>
  source(id, {
    listings: [
      { feed: id, entry: ip.value, level, score, categories: [], evidence: `score ${score}`, at: newYear + 1 },
    ],
  })

type Answer = 'accusing' | 'clean' | 'no opinion' | 'failed' | 'slow'
const answers: readonly Answer[] = ['accusing', 'clean', 'no opinion', 'failed', 'slow']
const never = new Promise<Finding>(() => undefined)
const unavailable = unknownOf('unavailable')

const mainSays: Record<Answer, Finding | Promise<Finding>> = {
  accusing: main({ flags: { is_malicious: true } }),
  clean: main({ flags: { is_malicious: false }, inbound: 'safe', outbound: 'safe' }),
  'no opinion': { status: 'unknown', reason: 'not_found', at: newYear },
  failed: unavailable,
  slow: never,
}
const sourceSays = (id: string, score: number): Record<Answer, Finding | Promise<Finding>> => ({
  accusing: listed(id, 'malicious', score),
  clean: source(id, { clearedBy: [id] }),
  'no opinion': source(id, {}),
  failed: unavailable,
  slow: never,
})

/** A lookup that counts how often it is asked. */
const asking = (answer: Finding | Promise<Finding>) => {
  const asked = { times: 0 }
  const lookup: Lookup = () => {
    asked.times++
    return answer
  }
  return { asked, lookup }
}

const join = (
  first: Finding | Promise<Finding>,
  others: readonly (readonly [AskMode, Finding | Promise<Finding>])[],
  options: { hasMain?: boolean; isSafeguarded?: () => boolean } = {},
) => {
  const parts = others.map(([mode, answer], nth) => ({ mode, id: `s${nth}`, ...asking(answer) }))
  const sources = parts.map(({ mode, id, lookup }) => ({ id, ask: mode, takes: () => true, lookup }))
  const lookup = joinSources(sources, { classify, hasMain: true, ...options })(asking(first).lookup)
  return { lookup, asked: () => parts.map(({ asked }) => asked.times) }
}

/** What an event gets that cannot wait any longer. */
const settled = async (found: Finding | Promise<Finding>): Promise<Finding> => {
  if (!(found instanceof Promise)) return found
  const late = Symbol('late')
  const turns = (async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    return late
  })()
  const first = await Promise.race([found, turns])
  if (typeof first !== 'symbol') return first
  const soFar = soFarOf(found)
  const level = soFar && judgeCounting(soFar, { ...ip, role: 'source' }, shippedTable, newYear).level
  return soFar && (level === 'malicious' || level === 'suspicious') ? soFar : unknownOf('pending')
}
const verdictOf = async (found: Finding | Promise<Finding>) => {
  const { level, score, reason, accusers } = judgeCounting(
    await settled(found),
    { ...ip, role: 'source' },
    shippedTable,
    newYear,
  )
  return { level, score, reason, accusers }
}

describe('main provider and two sources', () => {
  const rows = answers.flatMap((first) =>
    answers.flatMap((second) => answers.map((third) => [first, second, third] as const)),
  )
  it.each(rows)('main %s, source %s, source %s', async (first, second, third) => {
    const one = sourceSays('s0', 85)[second]
    const other = sourceSays('s1', 95)[third]
    const { lookup } = join(mainSays[first], [
      ['always', one],
      ['always', other],
    ])
    const { level, score, reason, accusers } = await verdictOf(lookup(ip, ask))
    const all = [first, second, third]
    const alone = await verdictOf(mainSays[first])

    // Whoever accuses is heard, by the worst of them, whatever the others say or fail to say.
    if (all.includes('accusing')) {
      expect(level).toBe('malicious')
      expect(score).toBe(
        Math.max(
          ...(['accusing', ''].includes(first) ? [90] : []),
          second === 'accusing' ? 85 : 0,
          third === 'accusing' ? 95 : 0,
        ),
      )
      expect(accusers).toBe(all.filter((each) => each === 'accusing').length)
      return
    }
    expect(accusers).toBeUndefined()
    // Nobody accuses: clean only where everyone who was asked answered, and one of them explicitly said so.
    const isAnswered = !all.includes('failed') && !all.includes('slow')
    expect(level).toBe(isAnswered && all.includes('clean') ? 'clean' : 'unknown')
    if (level === 'unknown') {
      if (all.includes('slow')) expect(reason).toBe('pending')
      else if (first === 'failed') expect(reason).toBe('unavailable')
      else expect(reason).toBe(all.includes('failed') ? 'feed_missing' : 'not_found')
    }
    // Never lower than the main provider alone.
    if (alone.level === 'malicious') expect(level).toBe('malicious')
  })
})

describe('without a main provider', () => {
  const rows = answers.flatMap((second) => answers.map((third) => [second, third] as const))
  it.each(rows)('source %s, source %s', async (second, third) => {
    const { lookup } = join(
      unknownOf('not_listed'),
      [
        ['always', sourceSays('s0', 85)[second]],
        ['always', sourceSays('s1', 95)[third]],
      ],
      { hasMain: false },
    )
    const { level, score, reason } = await verdictOf(lookup(ip, ask))
    const all = [second, third]
    if (all.includes('accusing')) {
      expect({ level, score }).toEqual({ level: 'malicious', score: third === 'accusing' ? 95 : 85 })
      return
    }
    const isAnswered = !all.includes('failed') && !all.includes('slow')
    expect(level).toBe(isAnswered && all.includes('clean') ? 'clean' : 'unknown')
    if (all.every((each) => each === 'failed')) expect(reason).toBe('unavailable')
    else if (all.includes('slow')) expect(reason).toBe('pending')
    else if (all.includes('failed')) expect(reason).toBe('feed_missing')
  })
})

describe('a source is asked', () => {
  const no = source('s0', {})
  it.each<[string, AskMode, Answer, number]>([
    ['where the main provider accuses', 'accused', 'accusing', 1],
    ['not where it is clean', 'accused', 'clean', 0],
    ['not where nothing is known', 'accused', 'no opinion', 0],
    ['not where the main provider failed', 'accused', 'failed', 0],
    ['where the main provider has no opinion', 'unknown', 'no opinion', 1],
    ['not where it accuses', 'unknown', 'accusing', 0],
    ['not where it is clean', 'unknown', 'clean', 0],
    ['not in an outage of it, which would burn its day', 'unknown', 'failed', 0],
    ['not while it is slow', 'unknown', 'slow', 0],
    ['always', 'always', 'clean', 1],
    ['always, in an outage too', 'always', 'failed', 1],
    ['always, at once', 'always', 'slow', 1],
  ])('%s (%s, main %s)', (_, mode, first, times) => {
    const { lookup, asked } = join(mainSays[first], [[mode, no]])
    void lookup(ip, ask)
    expect(asked()).toEqual([times])
  })

  it('as unknown only while those before it have no opinion', () => {
    const clears = source('s0', { clearedBy: ['s0'] })
    const { lookup, asked } = join(mainSays['no opinion'], [
      ['unknown', clears],
      ['unknown', no],
    ])
    void lookup(ip, ask)
    expect(asked()).toEqual([1, 0])
    const further = join(mainSays['no opinion'], [
      ['unknown', no],
      ['unknown', no],
    ])
    void further.lookup(ip, ask)
    expect(further.asked()).toEqual([1, 1])
  })

  it('as accused where another source accuses, whichever is first in the list', async () => {
    const late = Promise.resolve<Finding>(listed('s1', 'suspicious', 50))
    const { lookup, asked } = join(mainSays['no opinion'], [
      ['accused', no],
      ['unknown', late],
    ])
    expect(await verdictOf(lookup(ip, ask))).toMatchObject({ level: 'suspicious', score: 50, accusers: 1 })
    expect(asked()).toEqual([1, 1])
  })

  it('not about what it has no request for', () => {
    const { lookup, asked } = asking(no)
    const joined = joinSources([{ id: 's0', ask: 'always', takes: ({ type }) => type === 'ip', lookup }], {
      classify,
      hasMain: true,
    })(() => mainSays.clean)
    expect(joined({ type: 'domain', value: 'example.com' }, ask)).toBe(mainSays.clean)
    expect(asked.times).toBe(0)
  })
})

describe('the joined finding', () => {
  it('is the same object until a part changes', () => {
    let says: Finding = listed('s0', 'malicious', 85)
    const lookup = joinSources([{ id: 's0', ask: 'always', takes: () => true, lookup: () => says }], {
      classify,
      hasMain: true,
    })(() => mainSays.clean)
    const first = lookup(ip, ask)
    expect(lookup(ip, { ...ask, role: 'destination' })).toBe(first)
    says = { status: 'unknown', reason: 'cooling_down' }
    const second = lookup(ip, ask)
    expect(second).not.toBe(first)
    says = { status: 'unknown', reason: 'cooling_down' }
    expect(lookup(ip, ask)).toBe(second)
    says = listed('s0', 'malicious', 85)
    expect(lookup(ip, ask)).not.toBe(second)
  })

  it('is taken as it was for some seconds, and then its parts are looked at again', () => {
    const { lookup, asked } = join(mainSays.clean, [['always', listed('s0', 'malicious', 85)]])
    const first = lookup(ip, { ...ask, now: newYear })
    for (const afterMs of [0, 1, 14_999]) expect(lookup(ip, { ...ask, now: newYear + afterMs })).toBe(first)
    expect(asked()).toEqual([1])
    expect(lookup(ip, { ...ask, now: newYear + 15_000 })).toBe(first)
    expect(lookup(ip, { ...ask, now: newYear - 1 })).toBe(first)
    expect(asked()).toEqual([3])
  })

  it('is the main provider’s own where no source is due', () => {
    expect(join(mainSays.clean, [['accused', source('s0', {})]]).lookup(ip, ask)).toBe(mainSays.clean)
  })

  it('is the main provider’s own, too, where sources answer and have nothing to say', () => {
    expect(join(mainSays.clean, [['always', source('s0', {})]]).lookup(ip, ask)).toBe(mainSays.clean)
  })

  it('is one promise for all who ask meanwhile, each of whom counts where it is open', () => {
    const { lookup, asked } = join(mainSays.clean, [['always', never]])
    expect(lookup(ip, ask)).toBe(lookup({ ...ip }, ask))
    expect(asked()).toEqual([2])
  })

  it('shows flags of sources, and judges none of them', async () => {
    const flags = { is_tor: true, is_scanner: true, is_vpn: false }
    const { lookup } = join(main({ flags: { is_malicious: false, is_vpn: true }, inbound: 'safe' }), [
      ['always', source('s0', { described: flags })],
    ])
    const verdict = judgeCounting(await settled(lookup(ip, ask)), { ...ip, role: 'source' }, shippedTable, newYear)
    expect(verdict).toMatchObject({
      level: 'clean',
      flags: { is_tor: true, is_scanner: true, is_vpn: true, is_malicious: false },
    })
  })

  it('names the source that decides, its evidence, its categories and its time', async () => {
    const says = source('s0', {
      listings: [
        {
          feed: 's0',
          entry: ip.value,
          level: 'malicious',
          score: 85,
          categories: ['c2'],
          evidence: 'detections 17',
          at: newYear + 1,
        },
      ],
    })
    const { lookup } = join(mainSays.clean, [['always', says]])
    expect(
      judgeCounting(await settled(lookup(ip, ask)), { ...ip, role: 'source' }, shippedTable, newYear),
    ).toMatchObject({
      level: 'malicious',
      source: 'feed:s0',
      feed: 's0',
      at: newYear + 1,
      categories: ['c2'],
      because: 'not reported malicious, inbound score safe, s0: detections 17 (c2)',
    })
  })

  it('is stale where the accusation that decides is', async () => {
    const says: Finding = { ...listed('s0', 'malicious', 85), stale: true }
    const { lookup } = join(mainSays.clean, [['always', says]])
    expect(judgeCounting(await settled(lookup(ip, ask)), { ...ip, role: 'source' }, shippedTable, newYear).stale).toBe(
      true,
    )
    const both = join(mainSays.accusing, [['always', { ...listed('s0', 'suspicious', 50), stale: true }]])
    expect(
      judgeCounting(await settled(both.lookup(ip, ask)), { ...ip, role: 'source' }, shippedTable, newYear).stale,
    ).toBeUndefined()
  })

  it('accuses nothing that is safeguarded', async () => {
    const { lookup } = join(mainSays['no opinion'], [['always', listed('s0', 'malicious', 85)]], {
      isSafeguarded: () => true,
    })
    expect(await verdictOf(lookup(ip, ask))).toMatchObject({ level: 'unknown', reason: 'safeguarded' })
  })
})

// Repeated alerts are suppressed and counted.
import { describe, expect, it } from 'vitest'
import { createSharedWindows } from '../../../src/alerts/shared-windows.js'
import { createWindows, type WindowsDraft } from '../../../src/alerts/windows.js'
import type { AnnotationSummary } from '../../../src/domain/annotation.js'
import type { Rule } from '../../../src/alerts/sigma/rule.js'

type Matched = Parameters<WindowsDraft['decide']>[0]
type Suppress = { readonly decide: WindowsDraft['decide']; readonly size: () => number }

/** Of all partitions, where every alert counts at once. */
const createSuppress = (defaultMs: number): Suppress => {
  const windows = createWindows({ defaultMs, hasUpdates: false, shared: createSharedWindows(), now: () => 0 })
  return {
    decide: (match) => {
      const draft = windows.begin()
      const decision = draft.decide(match)
      draft.commit()
      return decision
    },
    size: windows.size,
  }
}
const rule = (id: string): Rule => ({ id }) as Rule

const hour = 3_600_000
const about = (more: Partial<Matched> = {}): Matched => ({
  rule: rule('rule-1'),
  value: '198.51.100.60',
  peer: '10.0.0.5',
  time: 10 * hour,
  origin: 'firewall/0/1',
  about: {} as AnnotationSummary,
  ...more,
})

describe('repeats of an alert', () => {
  it('are suppressed within a window, and counted in the alert of the next', () => {
    const suppress = createSuppress(hour)
    const counts = [
      about(),
      about({ origin: 'firewall/0/2', time: 10 * hour + 1 }),
      about({ origin: 'firewall/0/3', time: 11 * hour - 1 }),
      about({ origin: 'firewall/0/4', time: 11 * hour }),
      about({ origin: 'firewall/0/5', time: 12 * hour }),
    ].map((one) => suppress.decide(one).count)
    expect(counts).toEqual([1, 0, 0, 3, 1])
  })

  it.each<[string, Partial<Matched>]>([
    ['another rule', { rule: rule('rule-2') }],
    ['another indicator', { value: '198.51.100.61' }],
    ['another machine inside', { peer: '10.0.0.6' }],
  ])('are none for %s', (_, other) => {
    const suppress = createSuppress(hour)
    suppress.decide(about())
    expect(suppress.decide(about({ origin: 'firewall/0/2', ...other })).count).toBe(1)
  })

  it('do not include the event itself when its chunk is repeated: the alert is raised again with the same id', () => {
    const suppress = createSuppress(hour)
    const first = suppress.decide(about())
    const again = suppress.decide(about())
    expect(again.count).toBe(1)
    expect(again.id()).toBe(first.id())
  })

  it('have an id per event and a group per window, in every process: no id is that of two alerts', () => {
    const first = createSuppress(hour).decide(about())
    const again = createSuppress(hour).decide(about())
    const other = createSuppress(hour).decide(about({ origin: 'firewall/0/9', time: 11 * hour - 1 }))
    const next = createSuppress(hour).decide(about({ origin: 'firewall/0/10', time: 11 * hour }))
    expect([again.id(), again.groupId()]).toEqual([first.id(), first.groupId()])
    expect(new Set([first.id(), other.id(), next.id()]).size).toBe(3)
    expect(other.groupId()).toBe(first.groupId())
    expect(next.groupId()).not.toBe(first.groupId())
    expect(first.id()).toMatch(/^[0-9a-f]{32}$/)
  })

  it('may be hours late, from a partition that is behind: no window is alerted on twice', () => {
    const suppress = createSuppress(hour)
    for (const time of [10, 11, 12, 13]) suppress.decide(about({ time: time * hour, origin: `firewall/0/${time}` }))
    const counts = [10, 11, 12, 13].map(
      (time) => suppress.decide(about({ time: time * hour + 1, origin: `firewall/1/${time}` })).count,
    )
    expect(counts).toEqual([0, 0, 0, 0])
  })

  it('may be late: an event of the previous window does not start a new one', () => {
    const suppress = createSuppress(hour)
    const counts = [
      about({ time: 10 * hour, origin: 'a' }),
      about({ time: 11 * hour, origin: 'b' }),
      about({ time: 10 * hour + 5, origin: 'c' }),
      about({ time: 11 * hour + 5, origin: 'd' }),
    ].map((one) => suppress.decide(one).count)
    expect(counts).toEqual([1, 1, 0, 0])
  })

  it('are not suppressed without a window, and every event has its own id', () => {
    const suppress = createSuppress(0)
    const one = suppress.decide(about())
    const two = suppress.decide(about({ origin: 'firewall/0/2' }))
    expect([one.count, two.count]).toEqual([1, 1])
    expect(one.id()).not.toBe(two.id())
    expect(suppress.size()).toBe(0)
  })

  it('are tracked for the 50,000 most recent, and never for more than twice as many', () => {
    const suppress = createSuppress(hour)
    suppress.decide(about({ value: 'kept', origin: 'a' }))
    suppress.decide(about({ value: 'forgotten', origin: 'a' }))
    const decideOthers = (from: number, to: number): void => {
      for (let n = from; n < to; n++) suppress.decide(about({ value: String(n) }))
    }
    decideOthers(0, 49_998)
    expect(suppress.decide(about({ value: 'kept', origin: 'b' })).count).toBe(0)
    decideOthers(49_998, 99_997)
    expect(suppress.decide(about({ value: 'kept', origin: 'c' })).count).toBe(0)
    decideOthers(99_997, 149_996)
    expect(suppress.size()).toBeLessThanOrEqual(100_000)
    expect(suppress.decide(about({ value: 'kept', origin: 'd' })).count).toBe(0)
    expect(suppress.decide(about({ value: 'forgotten', origin: 'b' })).count).toBe(1)
  })
})

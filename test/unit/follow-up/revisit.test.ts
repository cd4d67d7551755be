import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/domain/finding.js'
import type { Judged } from '../../../src/domain/verdict.js'
import type { Reason } from '../../../src/domain/reason.js'
import { isLeftByBudget, revisit, type RaiseLate } from '../../../src/follow-up/revisit.js'

type Event = { readonly judged: readonly Judged[] }

const row = (reason: Reason | undefined, late?: Promise<Finding>): Judged => ({
  sighting: { type: 'ip', value: '198.51.100.60', field: 'src', role: 'source', evidence: 'field' },
  decision: { decision: 'lookup', ask: { type: 'ip', value: '198.51.100.60' } },
  verdict: { level: reason ? 'unknown' : 'malicious', reason, flags: {}, because: '' } as Judged['verdict'],
  late,
})
const never = new Promise<Finding>(() => undefined)
const later = Promise.resolve()
const raise: RaiseLate<Event, string> = (events) => ({
  alerts: events.filter(({ fired }) => fired.length === 0).map((_, place) => `alert ${place}`),
  fired: events.map(() => ['rule']),
})

describe('an event that is looked at again', () => {
  it('is done when all its answers are there, whatever they say', () => {
    const event = { judged: [row(undefined), row('not_found'), row('private_address')] }
    expect(revisit([{ note: { offset: 4, fired: [] }, event }], raise, () => later)).toEqual({
      alerts: ['alert 0'],
      done: [{ offset: 4, event }],
      open: [],
    })
  })

  it('raises its alerts at once and goes on waiting for the other answers', () => {
    const event = { judged: [row(undefined), row('pending', never)] }
    expect(revisit([{ note: { offset: 4, fired: [] }, event }], raise, () => later)).toEqual({
      alerts: ['alert 0'],
      done: [],
      open: [{ offset: 4, fired: ['rule'], awaited: [never], failures: undefined }],
    })
  })

  it('waits for a lookup that failed to be repeated, five times', () => {
    const event = { judged: [row('unavailable')] }
    const of = (failures: number | undefined): unknown =>
      revisit([{ note: { offset: 4, fired: ['rule'], failures }, event }], raise, () => later).open
    expect(of(undefined)).toEqual([{ offset: 4, fired: ['rule'], awaited: [later], failures: 1 }])
    expect(of(4)).toMatchObject([{ failures: 5 }])
    expect(of(5)).toEqual([])
  })
})

it.each([
  ['budget_spent alone', [row('budget_spent', never)], true],
  ['budget_spent beside what is known', [row('budget_spent', never), row(undefined), row('private_address')], true],
  ['budget_spent and another answer that may come', [row('budget_spent', never), row('pending', never)], false],
  ['a failed lookup', [row('unavailable', never)], false],
  ['nothing', [row(undefined)], false],
] as const)('whether an event was left by a spent budget: %s', (_, judged, expected) => {
  expect(isLeftByBudget({ judged })).toBe(expected)
})

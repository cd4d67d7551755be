// The summary for a person: its figures add up.
import { describe, expect, it } from 'vitest'
import { createSummary } from '../../../src/terminal/summary.js'
import { seen } from '../../support/ops.js'

describe('the summary', () => {
  it('names the events that show no address or name among the unknown ones', () => {
    const summary = createSummary()
    const unknown = { status: 'skipped', verdict: 'unknown' } as const
    for (const annotation of [unknown, unknown, { ...unknown, reason: 'private_address' } as const])
      summary.see(seen(annotation).annotation)
    expect(summary.text(undefined)).toBe(
      '3 events: 0 malicious, 0 suspicious, 0 clean, 3 unknown\n' +
        'unknown because: no address or name in the event 2, private_address 1\n',
    )
  })

  it('ends with the reasons for which no rule fires, most frequent first', () => {
    expect(createSummary().text(undefined, { no_rule: 1, blocked_inbound: 3 })).toMatch(
      /\n\nno rule fires because the inbound connection was blocked \(blocked_inbound\): 3 events\nno rule fires because none covers it \(no_rule\): 1 event\n$/,
    )
  })
})

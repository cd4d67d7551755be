// What a replay counts.
import { describe, expect, it } from 'vitest'
import { metadataOf } from '../../../src/kafka/commit-metadata.js'
import { addTallies, changedEvents, decodeTally, emptyTally } from '../../../src/replay/tally.js'

const tally = {
  ...emptyTally,
  events: 5,
  verdicts: { malicious: 2, unknown: 3 },
  compared: 4,
  stood: 1,
  changes: { 'unknown>malicious': 2, 'clean>unknown': 1 },
  alerts: 1,
}

describe('what a replay counted', () => {
  it('adds up', () => {
    const sum = addTallies(tally, { ...emptyTally, events: 1, verdicts: { clean: 1 }, changes: { 'clean>unknown': 1 } })
    expect(sum).toMatchObject({ events: 6, verdicts: { malicious: 2, unknown: 3, clean: 1 }, compared: 4, alerts: 1 })
    expect(changedEvents(sum)).toBe(4)
  })

  it('comes back from the text beside an offset, which has room for 4096 bytes', () => {
    const write = { owner: '0'.repeat(36), n: 1e9 }
    const text = metadataOf('a'.repeat(32), write, tally)
    expect(decodeTally(text)).toEqual(tally)
    expect(text.length).toBeLessThan(1024)
  })

  it.each([
    '',
    'null',
    '[]',
    '"x"',
    '{"events":"many","changes":{"__proto__":9,"a>b":3},"alerts":-1}',
    '{"verdicts":5}',
  ])('takes nothing from %j, which somebody else wrote', (text) => {
    expect(decodeTally(text)).toEqual(emptyTally)
  })
})

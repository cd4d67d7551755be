// What corrects an event that left before its answer: one record, or one for each member of a batch that is split.
import { describe, expect, it } from 'vitest'
import type { OutputTarget } from '../../../src/delivery/compose.js'
import { createCorrect } from '../../../src/follow-up/correction.js'
import type { EventOut } from '../../../src/pipeline/event.js'
import type { Incoming } from '../../../src/kafka/records.js'

const target: OutputTarget = {
  placement: 'json',
  key: 'threatweave',
  topic: 'out',
  deadLetterTopic: 'dead',
  maxBytes: 1_000_000,
  maxDeadLetterBytes: 1_000_000,
  outputPartition: () => 0,
  deadLetterPartition: () => 0,
}
const record: Incoming = {
  topic: 'in',
  partition: 5,
  offset: '42',
  timestamp: '1000',
  key: null,
  value: Buffer.from('[…]'),
  headers: [],
}
const eventOf = (text: string, decision: 'lookup' | 'skip'): EventOut =>
  ({ bytes: () => Buffer.from(text), annotationText: () => '{}', judged: [{ decision: { decision } }] }) as never
const partOf = (event: EventOut): object => ({ own: Buffer.alloc(event.bytes().length), event })
const correct = createCorrect(target, 'corrections', { partitions: 3, maxBytes: 10_000 }, () => 5_000)

describe('a correction', () => {
  it('is the event as the output topic would have had it, and says what it is', () => {
    expect(correct(record, eventOf('{"a":1}', 'lookup'))).toMatchObject([
      { topic: 'corrections', partition: 2, value: Buffer.from('{"a":1}'), headers: [['threatweave-correction', {}]] },
    ])
  })

  it('is one for every member that is looked up, and nothing for one that is too large', () => {
    const members = [eventOf('first', 'lookup'), eventOf('second', 'skip'), eventOf('x'.repeat(20_000), 'lookup')]
    const split = { ...eventOf('whole', 'lookup'), parts: members.map(partOf) } as never
    expect(correct(record, split).map((one) => one?.value?.toString())).toEqual(['first', undefined])
  })
})

import { describe, expect, it } from 'vitest'
import type { Incoming, Outgoing } from '../../../src/kafka/compose.js'
import { below, composeItem, deliver, type Deliver, type Send } from '../../../src/kafka/deliver.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'

const record = (offset: number, value: string): Incoming => ({
  topic: 'in',
  partition: 0,
  offset: String(offset),
  timestamp: '1000',
  key: null,
  value: Buffer.from(value),
  headers: [],
})
const told: TelemetryEvent[] = []
const how: Deliver = {
  target: {
    placement: 'headers',
    key: 'threatweave',
    topic: 'out',
    deadLetterTopic: 'dead',
    maxBytes: 1_000_000,
    maxDeadLetterBytes: 1_000_000,
    outputPartition: () => 0,
    deadLetterPartition: () => 0,
  },
  max: { count: 4, bytes: 1_000_000 },
  emit: (event) => told.push(event),
  now: () => 5_000,
}
const annotated = (records: readonly Incoming[]): never[] =>
  records.map(() => ({ annotation: {}, annotationText: () => '{}', bytes: () => Buffer.alloc(0) })) as never[]

describe('delivery', () => {
  it('finds the record a broker refuses and writes it to the dead letters, the others in order around it', async () => {
    const records = ['a', 'b', 'POISON', 'c', 'd', 'e'].map((value, offset) => record(offset, value))
    const written: Outgoing[] = []
    const send: Send = (sent) => {
      if (sent.some(({ topic, value }) => topic === 'out' && value?.toString() === 'POISON'))
        return Promise.resolve({ refused: 'INVALID_RECORD' })
      written.push(...sent)
      return Promise.resolve('acknowledged')
    }
    const again = (record: Incoming): never => annotated([record])[0]!
    await deliver(
      records.map((one) => composeItem(one, annotated([one])[0], how, 5_000)),
      send,
      how,
      again,
    )
    expect(written.map(({ topic, value }) => `${topic} ${value?.toString() ?? ''}`)).toEqual([
      'out a',
      'out b',
      'dead POISON',
      'out c',
      'out d',
      'out e',
    ])
    const reason = written[2]!.headers.find(([name]) => name === 'threatweave-reason')
    expect(reason?.[1]?.toString()).toBe('invalid_record')
    expect(told.at(-1)).toMatchObject({ event: 'record_reduced', offset: '2', to: 'dead_letter' })
  })

  it.each([
    ['whole', 'MESSAGE_TOO_LARGE', 'compact'],
    ['compact', 'record_list_too_large', 'accused'],
    ['accused', 'record_list_too_large', 'header'],
    ['dead_letter', 'message_too_large', 'pointer'],
    ['whole', 'INVALID_TIMESTAMP', 'dead_letter'],
    ['header', 'invalid_record', 'dead_letter'],
    ['dead_letter', 'invalid_record', 'pointer'],
    ['pointer', 'invalid_record', undefined],
  ] as const)('tries what was refused as %s for %s next as %s', (rung, refusal, next) => {
    expect(below(rung, refusal)).toBe(next)
  })
})

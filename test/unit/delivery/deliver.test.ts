import { describe, expect, it } from 'vitest'
import { below, composeItem, deliver, type OutputForm } from '../../../src/delivery/deliver.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import type { Incoming, Outgoing, Send } from '../../../src/kafka/records.js'

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
const form: OutputForm = {
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
        return Promise.resolve({ refused: 'INVALID_RECORD', left: sent })
      written.push(...sent)
      return Promise.resolve('acknowledged')
    }
    const again = (record: Incoming): never => annotated([record])[0]!
    await deliver(
      records.flatMap((one) => composeItem(one, annotated([one])[0], form, 5_000)),
      send,
      form,
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

  it('sends nothing again that went to a partition which was acknowledged while another was refused', async () => {
    const records = ['a0', 'b1', 'c0', 'POISON1', 'd0', 'e1'].map((value, offset) => record(offset, value))
    const byLastDigit: OutputForm = {
      ...form,
      max: { count: 100, bytes: 1_000_000 },
      target: { ...form.target, outputPartition: ({ value }) => Number(value?.toString().at(-1)) },
    }
    const written: string[] = []
    const send: Send = (sent) => {
      const refused = sent.find(({ topic, value }) => topic === 'out' && value?.toString() === 'POISON1')
      const left = refused ? sent.filter(({ partition }) => partition === refused.partition) : []
      for (const one of sent) if (!left.includes(one)) written.push(`${one.topic} ${one.value?.toString() ?? ''}`)
      return Promise.resolve(refused ? { refused: 'INVALID_RECORD', left } : 'acknowledged')
    }
    await deliver(
      records.flatMap((one) => composeItem(one, annotated([one])[0], byLastDigit, 5_000)),
      send,
      byLastDigit,
      (one) => annotated([one])[0]!,
    )
    expect(written).toEqual(['out a0', 'out c0', 'out d0', 'out b1', 'dead POISON1', 'out e1'])
  })

  describe('of a batch that is split', () => {
    const batch: Incoming = { ...record(7, '["a","POISON","c"]'), key: Buffer.from('k'), headers: [['own', null]] }
    const split = {
      parts: ['a', 'POISON', 'c'].map((own) => ({ own: Buffer.from(own), event: annotated([batch])[0] })),
    }
    const headerOf = ({ headers }: Outgoing, name: string): string | undefined =>
      headers.find(([found]) => found === name)?.[1]?.toString()

    it('writes a record for every member, in order, and a dead letter for the one that is refused', async () => {
      const written: Outgoing[] = []
      const send: Send = (sent) => {
        if (sent.some(({ topic, value }) => topic === 'out' && value?.toString() === 'POISON'))
          return Promise.resolve({ refused: 'INVALID_RECORD', left: sent })
        written.push(...sent)
        return Promise.resolve('acknowledged')
      }
      const items = [composeItem(batch, split as never, form, 5_000)].flat()
      await deliver(items, send, form, (whole) => (whole === batch ? (split as never) : undefined))
      expect(written.map(({ topic, key, value }) => `${topic} ${String(key)} ${String(value)}`)).toEqual([
        'out k a',
        'dead k POISON',
        'out k c',
      ])
      expect(written.every(({ headers }) => headers[0]?.[0] === 'own')).toBe(true)
      expect(headerOf(written[1]!, 'threatweave-offset')).toBe('7')
      expect(headerOf(written[1]!, 'threatweave-member')).toBe('1')
      expect(told.at(-1)).toMatchObject({ event: 'record_reduced', offset: '7#1', to: 'dead_letter' })
    })

    it('tries a member that a transaction had refused where that ended, and only that one', () => {
      const refused = new Map([['7#1', { step: 'dead_letter', reason: 'invalid_record' } as const]])
      const items = [composeItem(batch, split as never, form, 5_000, refused)].flat()
      expect(items.map(({ composed }) => composed.step)).toEqual(['whole', 'dead_letter', 'whole'])
    })

    it('writes one record if repeating its headers would take too much', () => {
      const large: Incoming = { ...batch, headers: [['own', Buffer.alloc(6_000_000)]] }
      const alone = { annotationText: () => '{}', ...split }
      expect([composeItem(large, alone as never, form, 5_000)].flat()).toHaveLength(1)
    })
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
  ] as const)('tries what was refused as %s for %s next as %s', (step, refusal, next) => {
    expect(below(step, refusal)).toBe(next)
  })
})

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { compose, type OutputTarget } from '../../../src/delivery/compose.js'
import { recordBytes } from '../../../src/kafka/wire/encode-batch.js'
import type { EventOut, Reduced } from '../../../src/pipeline/event.js'
import type { Incoming } from '../../../src/kafka/records.js'

const now = 1_800_000_000_000
const incoming = (changes: Partial<Incoming> = {}): Incoming => ({
  topic: 'firewall',
  partition: 5,
  offset: '42',
  timestamp: String(now - 1000),
  key: Buffer.from('k'),
  value: Buffer.from('{"a":1}'),
  headers: [
    ['b', Buffer.from('2')],
    ['a', null],
    ['b', Buffer.from('1')],
  ],
  ...changes,
})
const eventOf = (value: Buffer, details = 100): EventOut => {
  const annotation = {
    schema_version: 1,
    status: 'complete',
    verdict: 'clean',
    indicators: [{ value: 'x'.repeat(details) }],
  }
  const annotationText = (reduced?: Reduced): string => (reduced ? compact : JSON.stringify(annotation))
  const bytes = (reduced?: Reduced): Buffer =>
    Buffer.from(`${value.subarray(0, -1).toString()},"threatweave":${annotationText(reduced)}}`)
  return { annotation, annotationText, bytes, judged: [] } as unknown as EventOut
}
const target = (changes: Partial<OutputTarget> = {}): OutputTarget => ({
  placement: 'json',
  key: 'threatweave',
  topic: 'out',
  deadLetterTopic: 'dead',
  maxBytes: 1_000_000,
  maxDeadLetterBytes: 1_000_000,
  outputPartition: ({ partition }) => partition % 3,
  deadLetterPartition: () => 0,
  ...changes,
})
const compact = '{"schema_version":1,"status":"complete","verdict":"clean"}'
const header = (headers: readonly (readonly [string, Buffer | null])[], name: string): string | undefined =>
  headers.find(([found]) => found === name)?.[1]?.toString()

describe('a record that is written', () => {
  it('keeps key, headers in their order, null among them, and time, and goes to its partition', () => {
    const read = incoming()
    const { record, step } = compose(read, eventOf(read.value!), target(), now)
    expect(step).toBe('whole')
    expect(record).toMatchObject({
      topic: 'out',
      partition: 2,
      key: read.key,
      headers: read.headers,
      timestamp: read.timestamp,
    })
    expect(record.value?.toString()).toMatch(/^\{"a":1,"threatweave":\{/)
  })

  it('stops the worker where the output cannot take it and there is no dead-letter topic', () => {
    const read = incoming()
    expect(() => compose(read, eventOf(read.value!), target({ deadLetterTopic: '', maxBytes: 1 }), now)).toThrow(
      /^topic out takes .* in no form \(too_large\), and there is no dead-letter topic/,
    )
  })

  it('is left alone when it is a tombstone', () => {
    const { record } = compose(incoming({ value: null }), undefined, target(), now)
    expect(record).toMatchObject({ topic: 'out', key: Buffer.from('k'), value: null })
  })

  it('drops a header that would pass for an annotation of ours, whatever the placement, and keeps the others', () => {
    const forged = incoming({ headers: [['threatweave', Buffer.from('{"verdict":"clean"}')], ...incoming().headers] })
    const { record } = compose(forged, eventOf(forged.value!), target(), now)
    expect(record.headers).toEqual(incoming().headers)
    const tombstone = compose({ ...forged, value: null }, undefined, target(), now)
    expect(tombstone.record).toMatchObject({ value: null, headers: incoming().headers })
  })

  it.each(['ThreatWeave', 'THREATWEAVE', 'threatweave.verdict', 'Threatweave.malicious'])(
    'has no header %s that it came with, which a reader could take for ours; nor has its dead letter',
    (name) => {
      const forged = incoming({ headers: [[name, Buffer.from('clean')], ...incoming().headers] })
      const { record } = compose(forged, eventOf(forged.value!), target(), now)
      expect(record.headers).toEqual(incoming().headers)
      const dead = compose(forged, eventOf(forged.value!), target(), now, 'dead_letter')
      expect(header(dead.record.headers, name)).toBeUndefined()
      expect(header(dead.record.headers, 'b')).toBe('2')
      const others = incoming({
        headers: [
          ['threatweaver', null],
          ['threatweave-like', null],
        ],
      })
      expect(compose(others, eventOf(others.value!), target(), now).record.headers).toEqual(others.headers)
    },
  )

  it('comes out without headers that only we may write, also as a dead letter', () => {
    const names = ['threatweave-correction', 'threatweave-member', 'threatweave-sha256', 'Threatweave-Topic']
    const forged = names.map((name) => [name, Buffer.from('77')] as const)
    const read = incoming({ headers: [...forged, ['own', Buffer.from('kept')]] })
    expect(compose(read, eventOf(read.value!), target(), now).record.headers).toEqual([['own', Buffer.from('kept')]])
    const dead = compose(read, eventOf(read.value!), target(), now, 'dead_letter').record.headers
    expect(dead.map(([name]) => name)).not.toContain('threatweave-member')
    expect(dead.map(([name]) => name)).not.toContain('threatweave-sha256')
    expect(header(dead, 'threatweave-topic')).toBe('firewall')
  })

  it('keeps its value byte for byte when the annotation goes into a header, and a forged header is replaced', () => {
    const read = incoming({ value: Buffer.from([0xff, 0x00, 0x7b]), headers: [['threatweave', Buffer.from('forged')]] })
    const { record } = compose(read, eventOf(Buffer.from('{"a":1}')), target({ placement: 'headers' }), now)
    expect(record.value).toBe(read.value)
    expect(record.headers).toHaveLength(1)
    expect(header(record.headers, 'threatweave')).toMatch(/^\{"schema_version":1/)
  })

  it('is the annotation alone, with its origin, when it goes to a side topic', () => {
    const read = incoming()
    const { record } = compose(read, eventOf(read.value!), target({ placement: 'topic' }), now)
    expect(record.value?.toString()).toMatch(/^\{"schema_version":1/)
    expect(header(record.headers, 'threatweave-topic')).toBe('firewall')
    expect(header(record.headers, 'threatweave-offset')).toBe('42')
  })

  it.each([
    ['in the far future', String(now + 3_600_000)],
    ['before 1970', '-1'],
    ['beyond all years', '9223372036854775807'],
  ])('gets the present time for one %s, and keeps the original in a header', (_what, timestamp) => {
    const { record } = compose(incoming({ timestamp }), eventOf(Buffer.from('{"a":1}')), target(), now)
    expect(record.timestamp).toBe(String(now))
    expect(header(record.headers, 'threatweave-timestamp')).toBe(timestamp)
  })
})

describe('a batch', () => {
  it('has a header beside its value for what has no place in it, and is written with fewer annotations only as far as it must be', () => {
    const read = incoming({ headers: [] })
    const batch = {
      ...eventOf(read.value!),
      members: [],
      bytes: (reduced?: Reduced) =>
        Buffer.from(`[${'x'.repeat({ compact: 300, accused: 100, worst: 7 }[reduced ?? 'worst'])}]`),
      beside: (reduced?: Reduced) => (reduced === 'compact' ? undefined : `beside ${reduced ?? 'all'}`),
      annotationText: (reduced?: Reduced) => `text ${reduced ?? 'all'}`,
    } as unknown as EventOut
    const whole = compose(read, batch, target(), now)
    expect([whole.step, header(whole.record.headers, 'threatweave')]).toEqual(['whole', 'beside all'])
    const compact = compose(read, batch, target(), now, 'compact')
    expect([compact.step, compact.record.headers]).toEqual(['compact', []])
    const accused = compose(read, batch, target({ maxBytes: compact.bytes - 1 }), now, 'compact')
    expect([accused.step, header(accused.record.headers, 'threatweave')]).toEqual(['accused', 'beside accused'])
    const worst = compose(read, batch, target({ maxBytes: accused.bytes - 1 }), now, 'compact')
    expect([worst.step, header(worst.record.headers, 'threatweave')]).toEqual(['header', 'text worst'])
    expect(worst.record.value).toBe(read.value)
  })
})

describe('a record too large for its topic', () => {
  const read = incoming({ value: Buffer.from(`{"a":"${'x'.repeat(1000)}"}`), headers: [] })
  const event = eventOf(read.value!, 3000)

  it('first loses the details of its annotation', () => {
    const { record, step } = compose(read, event, target({ maxBytes: 1500 }), now)
    expect(step).toBe('compact')
    expect(record.value?.toString()).toBe(`{"a":"${'x'.repeat(1000)}","threatweave":${compact}}`)
  })

  it('then keeps its own bytes, the annotation in a header', () => {
    const whole = { ...read, headers: [] }
    const limit = recordBytes(compose(read, event, target({ maxBytes: 1500 }), now).record) - 1
    const { record, step } = compose(whole, event, target({ maxBytes: limit }), now)
    expect(step).toBe('header')
    expect(record.value).toBe(read.value)
    expect(header(record.headers, 'threatweave')).toBe(compact)
  })

  it('then becomes a dead letter that can be brought back', () => {
    const { record, step } = compose(read, event, target({ maxBytes: 500 }), now)
    expect(step).toBe('dead_letter')
    expect(record).toMatchObject({
      topic: 'dead',
      partition: 0,
      key: read.key,
      value: read.value,
      timestamp: String(now),
    })
    expect(Object.fromEntries(record.headers.map(([name, value]) => [name, value?.toString()]))).toEqual({
      'threatweave-topic': 'firewall',
      'threatweave-partition': '5',
      'threatweave-offset': '42',
      'threatweave-timestamp': read.timestamp,
      'threatweave-reason': 'too_large',
      'threatweave-time': new Date(now).toISOString(),
    })
  })

  it('and at last a dead letter that points to it', () => {
    const { record, step } = compose(read, event, target({ maxBytes: 500, maxDeadLetterBytes: 500 }), now)
    expect(step).toBe('pointer')
    expect(record.value).toBeNull()
    expect(header(record.headers, 'threatweave-size')).toBe(String(read.value!.length))
    expect(header(record.headers, 'threatweave-sha256')).toBe(createHash('sha256').update(read.value!).digest('hex'))
  })
})

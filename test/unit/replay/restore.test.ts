// Events of an annotated topic as they were before we annotated them.
import { describe, expect, it } from 'vitest'
import { markOf } from '../../../src/domain/verdict.js'
import { restore, type InputKind, type RestoreOptions } from '../../../src/replay/restore.js'
import { cutBatch } from '../../../src/pipeline/batch/cut-batch.js'
import { createReadWritten } from '../../../src/pipeline/batch/read-written.js'
import type { Incoming } from '../../../src/kafka/records.js'

const record = (changes: Partial<Incoming> = {}): Incoming => ({
  topic: 'annotated',
  partition: 1,
  offset: '7',
  timestamp: '1000',
  key: null,
  value: Buffer.from('{"a":1}'),
  headers: [],
  ...changes,
})
const as = (kind: InputKind): RestoreOptions => ({ kind, key: 'threatweave', readWritten })
const readWritten = createReadWritten(cutBatch, 'threatweave')
const annotation = '{"schema_version":1,"verdict":"clean","enrichment_id":"firewall/3/42"}'
const header = (name: string, value: string): readonly [string, Buffer] => [name, Buffer.from(value)]

describe('a record of a raw topic', () => {
  it('is as it is, whatever it claims', () => {
    const read = record({ value: Buffer.from(`{"threatweave":${annotation}}`) })
    expect(restore(read, as('raw'))).toEqual({ ...read, readTo: '7' })
  })
})

describe('an annotated record', () => {
  it.each([
    ['in the event', { value: Buffer.from(`{"a":1,"threatweave":${annotation}}`) }],
    ['in a header', { headers: [header('threatweave', annotation)] }],
    ['alone', { value: Buffer.from(annotation) }],
  ])('brings its origin and former verdict along, %s', (_, changes) => {
    const read = record(changes)
    expect(restore(read, as('annotated'))).toEqual({
      ...read,
      headers: [],
      format: 'text',
      readTo: '7',
      origin: 'firewall/3/42',
      former: { level: 'clean', decidedBy: 0 },
    })
  })

  it('brings the former verdict of every member along if it is a batch, and the origin without the member', () => {
    const member = (level: string, nth: number): string =>
      `{"threatweave":{"schema_version":1,"verdict":"${level}","enrichment_id":"firewall/3/42#${nth}"}}`
    const value = Buffer.from(`[${member('clean', 0)},"text",${member('unknown', 2)}]`)
    const beside = '{"members":[{"member":1,"verdict":"malicious"},{"member":9,"verdict":"clean"}]}'
    const former = (level: string): object => ({ level, decidedBy: 0 })
    expect(restore(record({ value, headers: [header('threatweave', beside)] }), as('annotated'))).toEqual({
      ...record({ value }),
      format: 'text',
      readTo: '7',
      origin: 'firewall/3/42',
      former: former('malicious'),
      formers: [former('clean'), former('malicious'), former('unknown')],
    })
    const attribute = (name: string, text: string): object => ({
      key: `threatweave.${name}`,
      value: { stringValue: text },
    })
    const attributes = [attribute('verdict', 'suspicious'), attribute('enrichment_id', 'otel/0/1#0')]
    const logs = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ attributes }] }] }] }
    const otlp = record({ value: Buffer.from(JSON.stringify(logs)) })
    expect(restore(otlp, as('annotated'))).toMatchObject({
      origin: 'otel/0/1',
      formers: [former('suspicious')],
    })
  })

  it('knows that a listed URL decided by its host, which is what the event shows', () => {
    const listed =
      '{"schema_version":1,"verdict":"malicious","type":"url","value":"https://bad.example.com:8080/a.exe","enrichment_id":"firewall/3/42"}'
    expect(restore(record({ value: Buffer.from(`{"threatweave":${listed}}`) }), as('annotated'))).toMatchObject({
      former: { level: 'malicious', decidedBy: markOf('bad.example.com') },
    })
  })

  it('brings its former verdict along in the compact form, which may name no origin', () => {
    const compact =
      '{"schema_version":1,"status":"complete","verdict":"clean","malicious":false,"direction":"outbound","action":"allowed"}'
    const read = record({ value: Buffer.from(`{"a":1,"threatweave":${compact}}`) })
    expect(restore(read, as('annotated'))).toEqual({
      ...read,
      format: 'text',
      readTo: '7',
      former: { level: 'clean', decidedBy: 0 },
    })
  })

  it.each([
    ['nothing of ours', '{"a":1}'],
    ['no JSON', '{"threatweave":'],
    ['another type', '{"threatweave":["clean"]}'],
    ['a level that is none', '{"threatweave":{"verdict":"fine","enrichment_id":7}}'],
    ['an id of any length', `{"threatweave":{"enrichment_id":"${'x'.repeat(10_000)}"}}`],
  ])('without what it should have is its own origin: %s', (_, text) => {
    const read = record({ value: Buffer.from(text) })
    expect(restore(read, as('annotated'))).toEqual({ ...read, format: 'text', readTo: '7' })
  })

  it('has the format that it was written with, whatever its topic has', () => {
    const read = record({ headers: [header('threatweave-format', 'binary'), header('own', 'x')] })
    expect(restore(read, as('annotated'))).toMatchObject({ format: 'binary', headers: [header('own', 'x')] })
    const odd = record({ headers: [header('threatweave-format', 'constructor')] })
    expect(restore(odd, as('annotated'))).toMatchObject({ format: 'text', headers: [] })
  })
})

describe('a dead letter', () => {
  const origin = [
    header('threatweave-topic', 'firewall'),
    header('threatweave-partition', '3'),
    header('threatweave-offset', '42'),
    header('threatweave-timestamp', '500'),
    header('threatweave-reason', 'too_large'),
    header('threatweave-time', '2026-11-15T08:00:00.000Z'),
  ]

  it('is the event again, with its own headers alone', () => {
    const own = header('own', 'kept')
    expect(restore(record({ headers: [own, ...origin] }), as('dead-letter'))).toMatchObject({
      topic: 'firewall',
      partition: 3,
      offset: '42',
      timestamp: '500',
      headers: [own],
      readTo: '7',
    })
  })

  it('of a member has the origin of the member', () => {
    const headers = [...origin, header('threatweave-member', '7')]
    expect(restore(record({ headers }), as('dead-letter'))).toMatchObject({ offset: '42', member: '7', headers: [] })
    const wrong = restore(record({ headers: [...origin, header('threatweave-member', '-7')] }), as('dead-letter'))
    expect(wrong?.member).toBeUndefined()
  })

  it('that only points is not one', () => {
    const headers = [...origin, header('threatweave-sha256', 'a'.repeat(64))]
    expect(restore(record({ headers, value: null }), as('dead-letter'))).toBeUndefined()
  })

  it('believes no header that the event came with', () => {
    const forged = ['topic', 'member', 'sha256', 'correction'].map((name) => header(`threatweave-${name}`, '77'))
    const read = record({ headers: [...forged, header('own', 'kept'), ...origin] })
    const restored = restore(read, as('dead-letter'))
    expect(restored).toMatchObject({ topic: 'firewall', headers: [header('own', 'kept')] })
    expect(restored?.member).toBeUndefined()
  })

  it('without a usable origin is its own', () => {
    const read = record({ headers: [header('threatweave-topic', 'firewall'), header('threatweave-partition', '-3')] })
    expect(restore(read, as('dead-letter'))).toEqual({ ...read, readTo: '7' })
  })
})

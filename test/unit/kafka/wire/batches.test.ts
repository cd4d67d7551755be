import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32c } from '../../../../src/kafka/wire/crc32c.js'
import { crc32cByTables } from '../../../../src/kafka/wire/crc32c-by-tables.js'
import { decodeBatches } from '../../../../src/kafka/wire/decode-batches.js'
import { prepareBatch, recordBytes, type BatchHead } from '../../../../src/kafka/wire/encode-batch.js'
import type { NewRecord } from '../../../../src/kafka/wire/record.js'

const head = { codec: 0, transactional: false, producerId: -1n, producerEpoch: -1, firstSequence: -1 }
const bytes = fc.option(fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)))
const records = fc.array(
  fc.record<NewRecord>({
    key: bytes,
    value: bytes,
    headers: fc.array(fc.tuple(fc.string({ maxLength: 10, unit: 'grapheme' }), bytes), { maxLength: 4 }),
    timestamp: fc.integer({ min: 0, max: 4_102_444_800_000 }).map(String),
  }),
  { minLength: 1, maxLength: 40 },
)
/** Written behind some other bytes, as in a request. */
const encodeBatch = (written: readonly NewRecord[], about: BatchHead): Buffer => {
  const batch = prepareBatch(written, about)
  const whole = Buffer.alloc(batch.length + 9)
  batch.writeTo(whole, 7)
  expect([...whole.subarray(0, 7), ...whole.subarray(-2)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0])
  return whole.subarray(7, -2)
}
/** With the checksum that its bytes have now. */
const sealed = (batch: Buffer): Buffer => {
  batch.writeUInt32BE(crc32c(batch, 21), 17)
  return batch
}
const plain = ({ key, value, headers, timestamp }: NewRecord): NewRecord => ({ key, value, headers, timestamp })

describe('record batches', () => {
  it.each([0, 1])('come back as they were written, in codec %i', (codec) => {
    fc.assert(
      fc.property(records, (written) => {
        const read = decodeBatches(encodeBatch(written, { ...head, codec }))
        expect(read.map(plain)).toEqual(written)
        expect(read.map(({ offset }) => Number(offset))).toEqual(written.map((_, index) => index))
      }),
    )
  })

  it('are what kafkajs would have written, byte for byte', async () => {
    const require = createRequire(import.meta.url)
    const Long = require('kafkajs/src/utils/long') as { fromValue: (value: string) => unknown }
    const theirs = require('kafkajs/src/protocol/recordBatch/v0') as {
      RecordBatch: (given: object) => Promise<{ buffer: Buffer }>
    }
    const Record = require('kafkajs/src/protocol/recordBatch/record/v0') as (given: object) => unknown
    const written = Array.from({ length: 20 }, (_, index) => ({
      key: Buffer.from(`key ${index}`),
      value: Buffer.from('v'.repeat(index * 30)),
      headers: [['name', Buffer.from('value')]] as const,
      timestamp: String(1_700_000_000_000 + index),
    }))
    const expected = await theirs.RecordBatch({
      firstTimestamp: 1_700_000_000_000,
      maxTimestamp: 1_700_000_000_019,
      lastOffsetDelta: 19,
      producerId: Long.fromValue('7'),
      producerEpoch: 2,
      firstSequence: 5,
      transactional: true,
      records: written.map(({ key, value }, index) =>
        Record({ key, value, headers: { name: Buffer.from('value') }, offsetDelta: index, timestampDelta: index }),
      ),
    })
    const ours = encodeBatch(written, {
      codec: 0,
      transactional: true,
      producerId: 7n,
      producerEpoch: 2,
      firstSequence: 5,
    })
    expect(ours.equals(expected.buffer)).toBe(true)
  })

  it('are never larger than the sum that is taken to bound them', () => {
    fc.assert(
      fc.property(records, (written) => {
        const sum = written.reduce((total, record) => total + recordBytes(record), 61)
        expect(encodeBatch(written, head).length).toBeLessThanOrEqual(sum)
      }),
    )
  })

  const event: NewRecord = { key: null, value: Buffer.from('{}'), headers: [], timestamp: '1' }

  it('may hold more records than a call has room for arguments', () => {
    const many = Array.from({ length: 150_000 }, () => event)
    expect(decodeBatches(encodeBatch(many, head))).toHaveLength(150_000)
  })

  it('that compaction has emptied at the end still move the position to their last offset', () => {
    const batch = encodeBatch([event, event], head)
    batch.writeBigInt64BE(100n, 0)
    batch.writeInt32BE(9, 23)
    const read = decodeBatches(sealed(batch))
    expect(read.map(({ offset, isControlRecord }) => [offset, isControlRecord])).toEqual([
      ['100', false],
      ['101', false],
      ['109', true],
    ])
  })

  it('that are cut off at the end of an answer are left for the next', () => {
    const batch = encodeBatch([event], head)
    expect(decodeBatches(Buffer.concat([batch, batch.subarray(0, -1)]))).toHaveLength(1)
    expect(decodeBatches(Buffer.concat([batch, batch.subarray(0, 20)]))).toHaveLength(1)
  })

  it('of any bytes are read or refused, and never hang or throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 61, maxLength: 400 }), fc.integer(), (array, length) => {
        const batch = Buffer.from(array)
        batch.writeUInt8(2, 16)
        batch.writeInt32BE(batch.length - 12, 8)
        const read = decodeBatches(sealed(batch))
        for (const { unreadable } of read) expect(unreadable === undefined || read.length === 1).toBe(true)
        batch.writeInt32BE(length, 8)
        expect(Array.isArray(decodeBatches(batch))).toBe(true)
      }),
    )
  })

  it('that unpack to more than there is room for are left for the next answer, but never the first', () => {
    const large = { ...event, value: Buffer.alloc(60_000_000) }
    const batch = encodeBatch([large, event], { ...head, codec: 1 })
    const read = decodeBatches(Buffer.concat(Array.from({ length: 10 }, () => batch)))
    expect(read).toHaveLength(6)
    const many = encodeBatch(
      Array.from({ length: 300_000 }, () => event),
      { ...head, codec: 1 },
    )
    expect(decodeBatches(Buffer.concat(Array.from({ length: 10 }, () => many)))).toHaveLength(900_000)
    expect(decodeBatches(many, { left: 1 })).toHaveLength(300_000)
    expect(decodeBatches(many, { left: 0 })).toEqual([])
  })

  it('refuse to hold more records than any producer writes', () => {
    const batch = encodeBatch([event], head)
    batch.writeInt32BE(1_000_001, 57)
    expect(decodeBatches(sealed(batch))).toMatchObject([
      { unreadable: expect.stringContaining('1000001 records, more than 1000000') as string },
    ])
  })

  it('refuse to unpack to more than memory can hold', () => {
    const batch = encodeBatch([event], head)
    batch.writeInt16BE(2, 21)
    const packed = Buffer.concat([batch.subarray(0, 61), Buffer.from('ffffffff0f00', 'hex')])
    packed.writeInt32BE(packed.length - 12, 8)
    expect(decodeBatches(sealed(packed))).toMatchObject([{ unreadable: expect.stringMatching(/more than/) as string }])
  })
})

describe('crc32c', () => {
  it.each([
    ['', 0],
    ['123456789', 0xe3069283],
    ['The quick brown fox jumps over the lazy dog', 0x22620404],
  ])('of %j is the published one', (text, expected) => {
    expect(crc32c(Buffer.from(text))).toBe(expected)
    expect(crc32cByTables(Buffer.from(text))).toBe(expected)
  })

  it('of any part is the same by the processor and by tables', () => {
    const bytes = Buffer.from(Array.from({ length: 600 }, (_, n) => (n * 7919) >> 3))
    for (let from = 0; from < 20; from++)
      for (const length of [0, 1, 7, 8, 9, 63, 64, 65, 500])
        expect(crc32c(bytes, from, from + length)).toBe(crc32cByTables(bytes, from, from + length))
  })
})

// The same input through a part of kafkajs and through its replacement: the same outcome wherever the original is right.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeMessages, type FetchDecoder } from '../../../../src/kafka/patched-kafkajs/decode-messages.js'
import { dropAborted } from '../../../../src/kafka/patched-kafkajs/drop-aborted.js'
import type { WireRecord } from '../../../../src/kafka/wire/record.js'
import { original } from '../../../support/original-kafkajs.js'

describe('records of aborted transactions', () => {
  const theirs = original('consumer/filterAbortedMessages.js') as typeof dropAborted

  /** Transactions one after the other, as kafkajs expects them; each of some records and a marker. */
  const transactions = fc.array(
    fc.record({
      producerId: fc.constantFrom('1', '2', '3'),
      records: fc.integer({ min: 1, max: 4 }),
      isAborted: fc.boolean(),
    }),
    { maxLength: 8 },
  )

  it('are dropped alike where transactions do not overlap', () => {
    fc.assert(
      fc.property(transactions, (list) => {
        const messages: WireRecord[] = []
        const abortedTransactions: { producerId: string; firstOffset: string }[] = []
        const add = (producerId: string, key: Buffer | null): void => {
          const offset = String(messages.length)
          const context = { firstOffset: offset, producerId, inTransaction: true, isControlBatch: key !== null }
          const shape = { timestamp: '0', value: null, headers: [] }
          messages.push({ ...shape, offset, key, isControlRecord: key !== null, batchContext: context })
        }
        for (const { producerId, records, isAborted } of list) {
          if (isAborted) abortedTransactions.push({ producerId, firstOffset: String(messages.length) })
          for (let count = 0; count < records; count++) add(producerId, null)
          add(producerId, Buffer.from([0, 0, 0, isAborted ? 0 : 1]))
        }
        expect(dropAborted({ messages, abortedTransactions })).toEqual(theirs({ messages, abortedTransactions }))
      }),
    )
  })
})

describe('the records of a fetch response', () => {
  type Encoded = { readonly buffer: Buffer }
  const Decoder = original('protocol/decoder.js') as new (bytes: Buffer) => FetchDecoder
  const { RecordBatch } = original('protocol/recordBatch/v0/index.js') as {
    RecordBatch: (g: object) => Promise<Encoded>
  }
  const NewRecord = original('protocol/recordBatch/record/v0/index.js') as (given: object) => unknown
  const MessageSet = original('protocol/messageSet/index.js') as (given: object) => Encoded
  const theirs = original('protocol/requests/fetch/v4/decodeMessages.js') as (decoder: FetchDecoder) => Promise<unknown>
  const ours = decodeMessages(theirs)

  type Decoded = Omit<WireRecord, 'headers'> & { readonly headers: unknown }
  /** Headers as an object, as kafkajs has them, and of the rest what both have. */
  const comparable = (decoded: unknown): unknown =>
    (decoded as readonly Decoded[]).map(
      ({ offset, timestamp, key, value, headers, isControlRecord, batchContext }) => ({
        offset,
        timestamp,
        key,
        value,
        headers: Array.isArray(headers) ? Object.fromEntries(headers as [string, Buffer][]) : headers,
        isControlRecord,
        producerId: batchContext.producerId,
        inTransaction: batchContext.inTransaction,
      }),
    )
  /** As they stand in a response: a length, and something else before and after them. */
  const responseOf = (bytes: Buffer): FetchDecoder => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(bytes.length)
    const decoder = new Decoder(Buffer.concat([Buffer.from('before'), length, bytes, Buffer.from('after')]))
    decoder.readBytes(6)
    return decoder
  }
  const decodedAlike = async (bytes: Buffer): Promise<void> => {
    const [mine, his] = [responseOf(bytes), responseOf(bytes)]
    expect(comparable(await ours(mine))).toEqual(comparable(await theirs(his)))
    expect(mine.offset).toBe(his.offset)
  }

  const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array))
  const batches = fc.array(
    fc.record({
      transactional: fc.boolean(),
      compression: fc.constantFrom(0, 1),
      records: fc.array(
        fc.record({
          key: fc.option(bytes),
          value: fc.option(bytes),
          headers: fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), bytes, {
            maxKeys: 3,
            noNullPrototype: true,
          }),
          timestampDelta: fc.integer({ min: 0, max: 100_000 }),
        }),
        { minLength: 1, maxLength: 10 },
      ),
    }),
    { maxLength: 4 },
  )
  const written = async (list: typeof batches extends fc.Arbitrary<infer List> ? List : never): Promise<Buffer> => {
    const encoded: Buffer[] = []
    let offset = 0
    for (const { transactional, compression, records } of list) {
      const { buffer } = await RecordBatch({
        compression,
        firstTimestamp: 1_700_000_000_000,
        maxTimestamp: 1_700_000_100_000,
        lastOffsetDelta: records.length - 1,
        transactional,
        records: records.map((record, offsetDelta) => NewRecord({ ...record, offsetDelta })),
      })
      buffer.writeBigInt64BE(BigInt(offset), 0) // the broker does that, and the checksum leaves it out
      offset += records.length
      encoded.push(buffer)
    }
    return Buffer.concat(encoded)
  }

  it('are decoded alike from whatever batches kafkajs itself writes, also where the last one is cut off', async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.integer({ min: 0, max: 80 }), async (list, cut) => {
        const whole = await written(list)
        await decodedAlike(whole)
        if (whole.length > cut + 61) await decodedAlike(whole.subarray(0, -cut || undefined))
      }),
    )
  })

  it('are decoded alike from a message set of an older broker', async () => {
    const entries = [
      { key: 'k', value: 'one', timestamp: 1 },
      { key: null, value: 'two', timestamp: 2 },
    ]
    const { buffer } = MessageSet({ messageVersion: 1, entries })
    const decode = async (with_: typeof theirs): Promise<unknown> => {
      const decoder = responseOf(buffer)
      return { records: await with_(decoder), offset: decoder.offset }
    }
    const his = await decode(theirs)
    expect(his).toMatchObject({ records: [{ value: Buffer.from('one') }, { value: Buffer.from('two') }] })
    expect(await decode(ours)).toEqual(his)
  })

  it('of which one bit is wrong are refused with the offset of the batch; kafkajs passes them on', async () => {
    const event = { key: null, value: Buffer.from('198.51.100.7'), headers: {}, timestampDelta: 0 }
    const one = { transactional: false, compression: 0 as const, records: [event, event] }
    const two = await written([one, one])
    const secondAt = two.length / 2
    const damaged = Buffer.from(two)
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 2) ^ 1, damaged.length - 2)
    expect(await theirs(responseOf(damaged))).toHaveLength(4)
    // What precedes the damaged batch comes first, and the batch itself when it is fetched again.
    expect(await ours(responseOf(damaged))).toHaveLength(2)
    expect(await ours(responseOf(damaged.subarray(secondAt)))).toMatchObject([
      {
        unreadable: expect.stringMatching(
          /^the record batch at offset 2 cannot be read: its checksum is \w+, and it says/,
        ) as string,
      },
    ])
    for (let at = 17; at < secondAt; at++) {
      const flipped = Buffer.from(two)
      flipped.writeUInt8(flipped.readUInt8(at) ^ 0x10, at)
      expect(await ours(responseOf(flipped))).toMatchObject([
        { isControlRecord: false, unreadable: expect.stringContaining('offset 0') as string },
      ])
    }
  })
})

// OpenTelemetry requests in Protobuf, byte by byte: what is read of log records, what is added to them and cut out of them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAnnotationKey } from '../../../../src/pipeline/annotate/annotation-key.js'
import { attributesOf } from '../../../../src/pipeline/batch/add-items.js'
import { readableRecord } from '../../../../src/pipeline/batch/readable-record.js'
import { addAttributesTo } from '../../../../src/pipeline/otlp/add-attributes.js'
import { findLogRecords, hasAttribute, withoutAttributes } from '../../../../src/pipeline/otlp/find-log-records.js'
import { readableMember, readableRest } from '../../../../src/pipeline/otlp/readable-log-record.js'
import { anyValues, delimited, otlpLogs, otlpRequest, varint } from '../../../support/otlp.js'

const annotationKey = createAnnotationKey('threatweave')
const { isAnnotationName } = annotationKey
const find = (bytes: Buffer, max = 100) => findLogRecords(bytes, annotationKey, max)
const framesOf = (bytes: Buffer) => find(bytes)?.frames ?? []
const read = (bytes: Buffer): readonly string[] => {
  const frames = framesOf(bytes)
  return frames.map((_, nth) => readableMember(bytes, frames, nth).toString())
}
const logsOf = (...records: readonly object[]) => ({ resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] })
const requestOf = (...records: readonly Buffer[]): Buffer =>
  delimited(1, delimited(2, Buffer.concat(records.map((one) => delimited(2, one)))))
const attribute = (key: string, value: Buffer): Buffer =>
  delimited(6, Buffer.concat([delimited(1, key), delimited(2, value)]))
const annotation = attributesOf(
  { schema_version: 1, verdict: 'malicious', malicious: true, score: 90.5, indicators: [{ value: 'é', at: -1 }] },
  'threatweave',
)
/** Unknown fields of every wire type: a number, 8 bytes, text, a group in a group, 4 bytes. */
const unknown = Buffer.concat([
  Buffer.from([0x98, 0x06, 0x80, 0x80, 0x00]),
  Buffer.from([0x99, 0x06, 1, 2, 3, 4, 5, 6, 7, 8]),
  delimited(99, 'to 198.51.100.7'),
  Buffer.from([0x9b, 0x06, 0x0b, 0x08, 0x01, 0x0c, 0x9c, 0x06]),
  Buffer.from([0x9d, 0x06, 1, 2, 3, 4]),
])
const without = <Of>(value: Of, ...names: readonly string[]): Of =>
  JSON.parse(JSON.stringify(value, (name, one: unknown) => (names.includes(name) ? undefined : one))) as Of
const spellings = fc.record({
  padding: fc.integer({ min: 0, max: 3 }),
  unknown: fc.constantFrom(Buffer.alloc(0), unknown),
})

describe('a log record in Protobuf', () => {
  it('is read as the same one in JSON is', () => {
    fc.assert(
      fc.property(otlpLogs, spellings, (logs, spelling) => {
        const records = logs.resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
        expect(read(otlpRequest(logs, spelling))).toEqual(
          records.map((record) => readableRecord(Buffer.from(JSON.stringify(record))).toString()),
        )
      }),
    )
  })

  it.each([
    [
      'text, its attributes as members',
      { body: { stringValue: 'a "b"' }, attributes: [{ key: 'x.y', value: { intValue: '-5' } }] },
      '{"message":"a \\"b\\"","x.y":"-5"}',
    ],
    [
      'an object',
      { body: { kvlistValue: { values: [{ key: 'a', value: { boolValue: false } }] } } },
      '{"body":{"a":false}}',
    ],
    [
      'a list with what is no content',
      { body: { arrayValue: { values: [{}, { doubleValue: 1.5 }, { bytesValue: 'AAEC' }] } } },
      '{"message":[null,1.5,null]}',
    ],
    ['bytes, which are not read', { body: { bytesValue: 'AAEC' }, attributes: [{ key: 'a' }] }, '{}'],
    ['a number that JSON has not', { body: { doubleValue: 'NaN' } }, '{"message":"NaN"}'],
    ['the largest number', { body: { intValue: '-9223372036854775808' } }, '{"message":"-9223372036854775808"}'],
    [
      'a name twice',
      {
        attributes: [
          { key: 'a', value: { stringValue: '1' } },
          { key: 'a', value: { stringValue: '2' } },
        ],
      },
      '{"a":"1","a":"2"}',
    ],
  ])('has as body %s', (_, record, text) => {
    expect(read(otlpRequest(logsOf(record)))).toEqual([text])
    expect(readableRecord(Buffer.from(JSON.stringify(record))).toString()).toBe(text)
  })

  it('is read with every value that one reader or another would take', () => {
    const two = Buffer.concat([delimited(1, '198.51.100.7'), delimited(1, '203.0.113.9')])
    const twice = Buffer.concat([
      delimited(1, 'x'),
      delimited(2, two),
      delimited(2, delimited(1, 'z')),
      delimited(1, 'src'),
    ])
    expect(
      read(requestOf(Buffer.concat([delimited(5, two), delimited(5, delimited(1, 'b')), delimited(6, twice)]))),
    ).toEqual([
      '{"message":"198.51.100.7","message":"203.0.113.9","message":"b","src":["198.51.100.7","203.0.113.9","z"]}',
    ])
    // Where scopes were for a while.
    expect(read(delimited(1, delimited(1000, delimited(2, delimited(5, delimited(1, 'old'))))))).toEqual([
      '{"message":"old"}',
    ])
    // A field of another wire type is one that nobody knows, and text that is none is read as far as it is.
    expect(read(requestOf(Buffer.from([0x30, 0x01, 0x2a, 0x03, 0x0a, 0x01, 0xff])))).toEqual(['{"message":"\ufffd"}'])
  })

  it('gets attributes at its end, as an encoder would have written them', () => {
    fc.assert(
      fc.property(otlpLogs, fc.integer({ min: 1, max: 3 }), (given, every) => {
        // An encoder writes the ids of a record behind its attributes.
        const logs = without(given, 'traceId', 'spanId')
        const bytes = otlpRequest(logs)
        const added = addAttributesTo(bytes, framesOf(bytes), (nth) => (nth % every === 0 ? annotation : undefined))
        let nth = 0
        for (const { scopeLogs } of logs.resourceLogs)
          for (const { logRecords } of scopeLogs)
            for (const record of logRecords)
              if (nth++ % every === 0)
                record.attributes = [...(record.attributes ?? []), ...annotation] as typeof record.attributes
        expect(added.equals(otlpRequest(logs))).toBe(true)
      }),
    )
  })

  it('is what it was when they are cut out again', () => {
    fc.assert(
      fc.property(otlpLogs, spellings, fc.integer({ min: 1, max: 3 }), (logs, { padding, unknown: more }, every) => {
        const bytes = otlpRequest(logs, { padding, unknown: more })
        const frames = framesOf(bytes)
        const added = addAttributesTo(bytes, frames, (nth) => (nth % every === 0 ? annotation : undefined))
        const found = framesOf(added)
        expect(found).toHaveLength(frames.length)
        for (const [nth, { from, to }] of frames.entries()) {
          const one = found[nth]!
          // Every byte of the record is there, and the new ones behind it.
          expect(added.subarray(one.from, one.from + to - from).equals(bytes.subarray(from, to))).toBe(true)
          expect(hasAttribute(added, one, isAnnotationName)).toBe(nth % every === 0)
        }
        const again = withoutAttributes(added, isAnnotationName)
        if (padding === 0) expect(again.equals(bytes)).toBe(true)
        // A length that took more bytes than it needs takes no more than it needs.
        else expect(again.length).toBeLessThanOrEqual(bytes.length)
        expect(read(again)).toEqual(read(bytes))
      }),
    )
  })

  it('loses what is named like our annotation at any depth, and nothing else', () => {
    const forged = [
      { key: 'threatweave.verdict', value: { stringValue: 'clean' } },
      { key: 'ThreatWeave', value: { kvlistValue: { values: [{ key: 'threatweave', value: { boolValue: false } }] } } },
    ]
    const own = { key: 'a', value: { stringValue: 'b'.repeat(200) } }
    const inside = (more: readonly object[]) => ({ kvlistValue: { values: [own, ...more] } })
    const make = (more: readonly object[]) => ({
      resourceLogs: [
        {
          resource: { attributes: [...more, own] },
          scopeLogs: [
            {
              scope: { name: 's', attributes: [own, ...more] },
              logRecords: [
                { body: inside(more), attributes: [...more, own, ...more] },
                { body: own.value },
                { body: { arrayValue: { values: [{ arrayValue: { values: [inside(more)] } }] } } },
              ],
            },
          ],
          schemaUrl: 'threatweave.verdict',
        },
      ],
    })
    const bytes = otlpRequest(make(forged), { unknown })
    expect(find(bytes)?.forged).toBe(12)
    const clean = withoutAttributes(bytes, isAnnotationName)
    expect(clean.equals(otlpRequest(make([]), { unknown }))).toBe(true)
    expect(find(clean)?.forged).toBe(0)
    // Of a name that comes twice both are looked at.
    const twice = requestOf(delimited(6, Buffer.concat([delimited(1, 'threatweave'), delimited(1, 'x')])))
    expect(withoutAttributes(twice, isAnnotationName).equals(requestOf(Buffer.alloc(0)))).toBe(true)
  })
})

describe('a request in Protobuf', () => {
  const nested = (depth: number): Buffer => {
    const innermost = delimited(1, '198.51.100.7')
    const heads: Buffer[] = []
    let { length } = innermost
    for (let nth = 0; nth < depth; nth++)
      for (const field of [1, 5]) {
        const head = Buffer.concat([varint(field * 8 + 2), varint(length)])
        heads.push(head)
        length += head.length
      }
    return requestOf(delimited(5, Buffer.concat([...heads.toReversed(), innermost])))
  }

  it('may have no log records, or be empty', () => {
    expect(find(Buffer.alloc(0))).toMatchObject({ count: 0, frames: [] })
    expect(
      find(otlpRequest({ resourceLogs: [{ resource: {}, scopeLogs: [{ scope: { name: 'x' } }] }] })),
    ).toMatchObject({ count: 0 })
  })

  it('may be nested deep, and is not read beyond that', () => {
    expect(read(nested(490))[0]).toContain('[["198.51.100.7"]]')
    expect(find(nested(500))).toBeUndefined()
    expect(find(nested(20_000))).toBeUndefined()
  })

  it('counts log records beyond the first, and shows them to who asks', () => {
    const bytes = otlpRequest(logsOf(...Array.from({ length: 7 }, (_, nth) => ({ body: { intValue: String(nth) } }))))
    const seen: number[] = []
    const found = findLogRecords(bytes, annotationKey, 3, (from, to) => seen.push(to - from) < 2)
    expect(found).toMatchObject({ count: 7, to: bytes.length })
    expect(found?.frames).toHaveLength(3)
    expect(seen).toEqual([4, 4])
    expect(readableRest(bytes, 5).toString()).toBe('{"message":"5"}\n{"message":"6"}')
  })

  it.each([
    ['a length beyond the end', Buffer.concat([varint(10), varint(5), Buffer.from('a')])],
    ['a length beyond the message', delimited(1, Buffer.concat([varint(18), varint(9), Buffer.from('ab')]))],
    ['a length of 64 bits', Buffer.concat([varint(10), varint(-1n)])],
    ['a length that overflows', Buffer.from([0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02])],
    ['a length that does not end', Buffer.concat([varint(10), Buffer.alloc(20, 0x80)])],
    ['a tag that is cut off', Buffer.from([0x80])],
    ['field 0', delimited(0, '')],
    ['a tag of more than 32 bits', Buffer.from([0x8a, 0x80, 0x80, 0x80, 0x10, 0x00])],
    ['a wire type that there is not', Buffer.from([0x0e])],
    ['8 bytes that are fewer', Buffer.from([0x09, 1, 2, 3])],
    ['the end of a group that did not begin', Buffer.from([0x0c])],
    ['a group that does not end', Buffer.from([0x9b, 0x06, 0x08, 0x01])],
    ['a group that ends as another', Buffer.from([0x9b, 0x06, 0x0c])],
    ['groups without end', Buffer.alloc(200_000, 0x0b)],
    ['text', Buffer.from('{"resourceLogs":[]}')],
    ['an attribute that is broken', requestOf(delimited(6, Buffer.from([0x0a, 0x05])))],
    [
      'a value in a value that is broken',
      requestOf(attribute('a', delimited(5, delimited(1, Buffer.from([0x0a, 0x05]))))),
    ],
  ])('is none with %s', (_, bytes) => {
    expect(find(bytes)).toBeUndefined()
  })

  it('is never a crash, whatever the bytes are', () => {
    const mutated = fc
      .tuple(otlpLogs, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }))
      .map(([logs, changes]) => {
        const bytes = otlpRequest(logs)
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte
        return bytes
      })
    fc.assert(
      fc.property(
        fc.oneof(
          mutated,
          fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
        ),
        (bytes) => {
          const found = find(bytes)
          if (!found) return
          for (const text of read(bytes)) JSON.parse(text)
          const added = addAttributesTo(bytes, found.frames, () => annotation)
          expect(find(added)?.count).toBe(found.count)
          if (found.forged === 0) expect(read(withoutAttributes(added, isAnnotationName))).toEqual(read(bytes))
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('values', () => {
  it('that are lists of a hundred thousand are read', () => {
    const repeated = (field: Buffer): Buffer => Buffer.concat(Array.from({ length: 200_000 }, () => field))
    const list = delimited(5, repeated(delimited(1, delimited(1, ''))))
    expect(read(requestOf(delimited(5, list)))).toEqual([`{"message":[${Array(200_000).fill('""').join(',')}]}`])
    expect(read(requestOf(delimited(5, repeated(delimited(1, '')))))[0]).toContain('"message":"","message":""')
    expect(read(requestOf(repeated(attribute('a', delimited(1, '')))))[0]).toContain('"a":"","a":""')
    // A name is long, and values are many: what is read is no longer than both.
    const values = repeated(delimited(2, delimited(1, '')))
    const long = delimited(6, Buffer.concat([delimited(1, 'n'.repeat(100_000)), values]))
    expect(read(requestOf(long))[0]?.length).toBeLessThan(1_000_000)
    expect(find(requestOf(repeated(attribute('threatweave', delimited(1, '')))))?.forged).toBe(200_000)
  })

  it('of every kind are written as they are read', () => {
    fc.assert(
      fc.property(fc.array(anyValues, { maxLength: 4 }), (values) => {
        const bytes = requestOf(Buffer.alloc(0))
        const attributes = values.map((value, nth) => ({ key: `k${nth}`, value }))
        const added = addAttributesTo(bytes, framesOf(bytes), () => attributes as unknown as typeof annotation)
        expect(added.equals(otlpRequest(logsOf({ attributes })))).toBe(true)
      }),
    )
  })
})

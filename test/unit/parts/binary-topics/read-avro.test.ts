// Avro values: as Python's fastavro writes them, and hostile ones.
import { describe, expect, it } from 'vitest'
import { compileAvro, UnusableSchema } from '../../../../src/parts/binary-topics/avro-schema.js'
import { readAvro } from '../../../../src/parts/binary-topics/read-avro.js'
import { Undecodable } from '../../../../src/parts/binary-topics/reading.js'

const read = (schema: unknown, hex: string): string =>
  readAvro(Buffer.from(hex, 'hex'), 0, compileAvro(JSON.stringify(schema), [])).toString()

const fields = (...types: readonly unknown[]): object => ({
  type: 'record',
  name: 'R',
  fields: types.map((type, nth) => ({ name: `f${nth}`, type })),
})

describe('an Avro value', () => {
  it('becomes JSON with its names, unions as what they hold, and logical types as what they mean', () => {
    const schema = {
      type: 'record',
      name: 'Event',
      namespace: 'com.example',
      fields: [
        { name: 'src_ip', type: 'string' },
        { name: 'dst', type: ['null', 'string'] },
        { name: 'n', type: 'long' },
        { name: 't', type: { type: 'long', logicalType: 'timestamp-millis' } },
        { name: 'tu', type: { type: 'long', logicalType: 'timestamp-micros' } },
        { name: 'd', type: { type: 'int', logicalType: 'date' } },
        { name: 'dec', type: { type: 'bytes', logicalType: 'decimal', precision: 10, scale: 2 } },
        { name: 'id', type: { type: 'string', logicalType: 'uuid' } },
        { name: 'kind', type: { type: 'enum', name: 'Kind', symbols: ['ALLOW', 'DENY'] } },
        { name: 'labels', type: { type: 'map', values: 'string' } },
        {
          name: 'list',
          type: {
            type: 'array',
            items: [
              'null',
              'int',
              {
                type: 'record',
                name: 'Inner',
                fields: [
                  { name: 'f', type: 'float' },
                  { name: 'next', type: ['null', 'Inner'] },
                ],
              },
            ],
          },
        },
        { name: 'raw', type: { type: 'fixed', name: 'Raw', size: 4 } },
        { name: 'client_ip', type: 'bytes' },
        { name: 'b', type: 'boolean' },
        { name: 'x', type: 'double' },
      ],
    }
    // Written by fastavro 1.12.
    const value =
      '183230332e302e3131332e3636008180808080808020f6f1a888bd688089baff889db006ccc40204fb2e4831323334353637382d313233' +
      '342d353637382d313233342d353637383132333435363738020406612e6206c3a9220675726c20687474703a2f2f782e6578616d706c65' +
      '000600020e040000c03f02000000c000000001ff0208c6336407019a9999999999b93f'
    expect(JSON.parse(read(schema, value))).toEqual({
      src_ip: '203.0.113.66',
      dst: null,
      n: -9007199254740992, // JSON.parse rounds it; the text does not, see below
      t: '2026-11-17T08:00:00.123Z',
      tu: '2026-11-17T08:00:00.123456Z',
      d: '2026-11-17',
      dec: -12.34,
      id: '12345678-1234-5678-1234-567812345678',
      kind: 'DENY',
      labels: { 'a.b': 'é"', url: 'http://x.example' },
      list: [null, 7, { f: 1.5, next: { f: -2, next: null } }],
      raw: 'AAH/Ag==',
      client_ip: '198.51.100.7',
      b: true,
      x: 0.1,
    })
    expect(read(schema, value)).toContain('"n":-9007199254740993,')
  })

  it.each([
    ['long', 'feffffffffffffffff01', '9223372036854775807'],
    ['long', 'ffffffffffffffffff01', '-9223372036854775808'],
    ['int', '01', '-1'],
    ['boolean', '01', 'true'],
    ['double', '000000000000f87f', '"NaN"'],
    ['null', '', 'null'],
    [{ type: 'int', logicalType: 'time-millis' }, '80c2d72f', '"13:53:20.000"'],
    [{ type: 'long', logicalType: 'timestamp-nanos' }, '01', '"1969-12-31T23:59:59.999999999Z"'],
    [{ type: 'long', logicalType: 'local-timestamp-millis' }, '00', '"1970-01-01T00:00:00.000"'],
    [{ type: 'long', logicalType: 'timestamp-millis' }, 'feffffffffffffffff01', '9223372036854776000'],
    [
      { type: 'fixed', name: 'F', size: 16, logicalType: 'uuid' },
      '00112233445566778899aabbccddeeff',
      '"00112233-4455-6677-8899-aabbccddeeff"',
    ],
    [{ type: 'fixed', name: 'F', size: 2, logicalType: 'decimal', scale: 3 }, 'ffff', '-0.001'],
    [{ type: 'fixed', name: 'F', size: 12, logicalType: 'duration' }, '010000000200000003000000', '"P1M2DT0.003S"'],
    [{ type: 'array', items: 'int' }, '03040204020200', '[1,2,1]'],
    [{ type: 'map', values: ['null', 'long'] }, '020261020200', '{"a":1}'],
  ])('of type %j', (schema, hex, json) => {
    expect(read(schema, hex)).toBe(json)
  })

  it('of text alone is the text, and of bytes alone the bytes, as Java writes them', () => {
    expect(read('string', '0661 62 63'.replaceAll(' ', ''))).toBe('abc')
    expect(read('bytes', '616263')).toBe('abc')
  })

  it('is read with types of schemas that its own refers to', () => {
    const inner = { type: 'record', name: 'Inner', namespace: 'a.b', fields: [{ name: 'ip', type: 'string' }] }
    const outer = {
      type: 'record',
      name: 'Outer',
      namespace: 'a.b',
      fields: [
        { name: 'one', type: 'Inner' },
        { name: 'two', type: 'a.b.Inner' },
      ],
    }
    const type = compileAvro(JSON.stringify(outer), [JSON.stringify(inner)])
    expect(readAvro(Buffer.from('0261' + '0262', 'hex'), 0, type).toString()).toBe(
      '{"one":{"ip":"a"},"two":{"ip":"b"}}',
    )
  })

  it('may have names of JavaScript', () => {
    const schema = {
      type: 'record',
      name: 'R',
      fields: [
        { name: '__proto__', type: 'string' },
        { name: 'constructor', type: { type: 'map', values: 'int' } },
      ],
    }
    expect(read(schema, '0261' + '02' + '12' + Buffer.from('__proto__').toString('hex') + '0200')).toBe(
      '{"__proto__":"a","constructor":{"__proto__":1}}',
    )
  })
})

describe('a hostile Avro value', () => {
  const recursive = { type: 'record', name: 'R', fields: [{ name: 'r', type: ['null', 'R'] }] }
  it.each([
    ['that is cut off', 'string', '0a6162'],
    ['with a length that is negative', 'string', '0161'],
    ['with a length of 2^62', fields('string'), 'feffffffffffffff7f'],
    ['with a number that does not end', 'long', 'ffffffffffffffffffff01'],
    ['with a branch that is not there', ['null', 'int'], '04'],
    ['with a branch below zero', ['null', 'int'], '01'],
    ['with a symbol that is not there', { type: 'enum', name: 'E', symbols: ['A'] }, '02'],
    ['with 2^62 items that take no byte', { type: 'array', items: 'null' }, 'feffffffffffffff7f00'],
    ['with a block of −2^63 items', { type: 'array', items: 'null' }, 'ffffffffffffffffff010000'],
    ['nested deeper than anybody nests', recursive, '02'.repeat(500) + '00'],
    ['with something behind its end', fields('int'), '0200'],
  ])('%s is refused', (_, schema, hex) => {
    expect(() => read(schema, hex)).toThrow(Undecodable)
  })

  it('costs no more than its size allows, whatever its schema doubles', () => {
    let type: unknown = 'null'
    for (let level = 0; level < 60; level++)
      type = {
        type: 'record',
        name: `L${level}`,
        fields: [
          { name: 'a', type },
          { name: 'b', type: level === 0 ? type : `L${level - 1}` },
        ],
      }
    expect(() => read(type, '')).toThrow(Undecodable)
  })

  it('is never written longer than the bound, however long its names are', () => {
    const items = { type: 'record', name: 'R', fields: [{ name: 'x'.repeat(100_000), type: 'int' }] }
    expect(() => read({ type: 'array', items }, 'e807' + '02'.repeat(500) + '00')).toThrow(Undecodable)
  })
})

describe('a hostile Avro schema', () => {
  it.each([
    ['that is no JSON', '{"type":'],
    ['that is a number', '7'],
    ['with a type that nobody defined', '"com.example.Missing"'],
    ['with a record without fields', '{"type":"record","name":"R"}'],
    ['with a field without a name', '{"type":"record","name":"R","fields":[{}]}'],
    ['with a record without a name', '{"type":"record","fields":[]}'],
    ['with a size below zero', '{"type":"fixed","name":"F","size":-1}'],
    ['with a size of gigabytes', '{"type":"fixed","name":"F","size":1e12}'],
    ['nested 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['of many types', JSON.stringify(Array(60_000).fill('int'))],
    ['whose type is itself', '{"type":{"type":{"type":null}}}'],
  ])('%s is refused in words', (_, schema) => {
    expect(() => compileAvro(schema, [])).toThrow(UnusableSchema)
  })
})

// Protobuf values: as Google's library for Python writes them, by both forms of a .proto file, and hostile ones.
import { describe, expect, it } from 'vitest'
import { UnusableSchema } from '../../../../src/parts/binary-topics/avro-schema.js'
import { compileSchema } from '../../../../src/parts/binary-topics/compile-schema.js'
import { Undecodable } from '../../../../src/parts/binary-topics/reading.js'

const descriptor =
  'CgpmbG93LnByb3RvEgtjb20uZXhhbXBsZRofZ29vZ2xlL3Byb3RvYnVmL3RpbWVzdGFtcC5wcm90bxocZ29vZ2xlL3Byb3RvYnVmL3N0cnVjdC' +
  '5wcm90bxoeZ29vZ2xlL3Byb3RvYnVmL3dyYXBwZXJzLnByb3RvIhIKBU90aGVyEgkKAXgYASABKAkihAQKBEZsb3cSDgoGc3JjX2lwGAEgASgJ' +
  'Ei0KBmxhYmVscxgCIAMoCzIdLmNvbS5leGFtcGxlLkZsb3cuTGFiZWxzRW50cnkSJgoFaW5uZXIYAyABKAsyFy5jb20uZXhhbXBsZS5GbG93Lk' +
  'lubmVyEigKBmFjdGlvbhgEIAEoDjIYLmNvbS5leGFtcGxlLkZsb3cuQWN0aW9uEg0KBXBvcnRzGAUgAygNEgkKAW4YBiABKAMSCQoBcxgHIAEo' +
  'EhIlCgF0GAggASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIQCghzcmNfYWRkchgJIAEoDBIJCgF4GAogASgBEiYKBWV4dHJhGAsgAS' +
  'gLMhcuZ29vZ2xlLnByb3RvYnVmLlN0cnVjdBInCgF3GAwgASgLMhwuZ29vZ2xlLnByb3RvYnVmLlN0cmluZ1ZhbHVlEgoKAm9rGA0gASgIEgkK' +
  'AWYYDiABKAcSDQoFbmFtZXMYDyADKAkaLQoLTGFiZWxzRW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgJOgI4ARo+CgVJbm5lchIOCg' +
  'Zkc3RfaXAYASABKAkSJQoEbmV4dBgCIAEoCzIXLmNvbS5leGFtcGxlLkZsb3cuSW5uZXIiHAoGQWN0aW9uEggKBE5PTkUQABIICgRERU5ZEAJi' +
  'BnByb3RvMw=='
const value =
  '0a0c3230332e302e3131332e363612070a016b120276221a1e0a0c3139382e35312e3130302e31120e0a0c3139382e35312e3130302e32' +
  '20022a0601bb03f0a20430fbffffffffffffffff01388180808080808020420b088093f0d706108094ef3a4a04c6336407510000000000' +
  '00e03f5a340a160a04686f7374120e1a0c6576696c2e6578616d706c650a1a0a016e121532130a0911000000000000f03f0a0208000a02' +
  '200162040a026869680175ffffffff7a09612e6578616d706c657a09622e6578616d706c65'

const proto = `
// The same as text.
syntax = "proto3";
package com.example;
import "google/protobuf/timestamp.proto"; /* and others */
option java_package = "com.example; not the end";
message Other { string x = 1; }
message Flow {
  reserved 20, 30 to max;
  reserved "old";
  message Inner { string dst_ip = 1; Inner next = 2; }
  enum Action { option allow_alias = true; NONE = 0; DENY = 2 [deprecated = true]; BLOCK = 2; }
  string src_ip = 1 [json_name = "sourceIp", (my.option) = { a: [1, 2] }];
  map<string, string> labels = 2;
  Inner inner = 3;
  Action action = 4;
  repeated uint32 ports = 5;
  int64 n = 6;
  sint64 s = 7;
  .google.protobuf.Timestamp t = 8;
  oneof more { bytes src_addr = 9; double x = 10; }
  google.protobuf.Struct extra = 11;
  google.protobuf.StringValue w = 12;
  optional bool ok = 13;
  fixed32 f = 14;
  repeated string names = 15;
}
service Flows { rpc Send (Flow) returns (stream Flow) { option (x) = { get: "/v1" }; } }
`

const expected = {
  src_ip: '203.0.113.66',
  inner: { dst_ip: '198.51.100.1', next: { dst_ip: '198.51.100.2' } },
  action: 'DENY',
  n: -5,
  s: -9007199254740992,
  t: '2026-11-17T08:00:00.123456000Z',
  src_addr: '198.51.100.7',
  x: 0.5,
  extra: { host: 'evil.example', n: [1, null, true] },
  w: 'hi',
  ok: true,
  f: 4294967295,
  labels: { k: 'v"' },
  ports: [1, 443, 70000],
  names: ['a.example', 'b.example'],
}

const read = (schema: string, hex: string, references: readonly string[] = []): string => {
  const bytes = Buffer.from(`0000000001${hex}`, 'hex')
  return compileSchema({ type: 'PROTOBUF', schema, references })(bytes, { key: 1, at: 5, rest: undefined }).toString()
}

const text = (value: string): string => Buffer.from(value).toString('hex')

describe('a Protobuf value', () => {
  it.each([
    ['in base64, as Python registers it', descriptor],
    ['as text, as Java registers it', proto],
  ])('becomes JSON by a schema %s', (_, schema) => {
    expect(JSON.parse(read(schema, `0202${value}`))).toEqual(expected)
  })

  it('is the message that its indexes name: the first, another, one inside another', () => {
    expect(read(proto, '00' + '0a01' + text('a'))).toBe('{"x":"a"}')
    expect(read(proto, '0200' + '0a01' + text('a'))).toBe('{"x":"a"}')
    expect(read(proto, '040200' + '0a01' + text('b'))).toBe('{"dst_ip":"b"}')
    // The serialized form counts the entries of a map as messages, and Python does.
    expect(read(descriptor, '040202' + '0a01' + text('b'))).toBe('{"dst_ip":"b"}')
  })

  it('has its indexes in the header where its id is', () => {
    const compiled = compileSchema({ type: 'PROTOBUF', schema: proto, references: [] })
    const bytes = Buffer.from(`0a01${text('b')}`, 'hex')
    expect(compiled(bytes, { key: 'aa', at: 0, rest: Buffer.from('040200', 'hex') }).toString()).toBe('{"dst_ip":"b"}')
  })

  it('is read with types of files that its own imports', () => {
    const outer =
      'syntax = "proto3"; package b; import "inner.proto"; message Outer { a.Inner one = 1; repeated a.Kind kinds = 2; }'
    const inner = 'syntax = "proto3"; package a; message Inner { string ip = 1; } enum Kind { NO = 0; YES = 1; }'
    expect(read(outer, '00' + '0a03' + '0a01' + text('c') + '12020100', [inner])).toBe(
      '{"one":{"ip":"c"},"kinds":["YES","NO"]}',
    )
  })

  it('shows a field that comes twice twice: readers differ in which of them counts', () => {
    expect(read(proto, '00' + '0a01' + text('a') + '0a01' + text('b'))).toBe('{"x":"a","x":"b"}')
  })

  it('may have groups and fields that its schema does not know', () => {
    const old =
      'syntax = "proto2"; message M { required group Part = 1 { optional string ip = 2; } optional int32 n = 3 [default = 5]; extensions 100 to 199; }'
    const unknown = '4b' + '1001' + '4c' + 'a00601' + 'a90600000000000000ff' + '3d00000000'
    expect(read(old, '00' + '0b' + '1201' + text('d') + '0c' + unknown + '1807')).toBe('{"part":{"ip":"d"},"n":7}')
  })

  it.each([
    ['google.protobuf.Duration', '0803' + '1080cab5ee01', '"3.5s"'],
    ['google.protobuf.Timestamp', '', '"1970-01-01T00:00:00.000Z"'],
    ['google.protobuf.Int64Value', '08ffffffffffffffffff01', '-1'],
    ['google.protobuf.BoolValue', '', 'false'],
    ['google.protobuf.Value', '0800', 'null'],
    ['google.protobuf.ListValue', '0a03' + '1a01' + text('e'), '["e"]'],
    ['google.protobuf.Any', '0a01' + text('t') + '1202' + text('hi'), '{"type_url":"t","value":"hi"}'],
  ])('with %s is written as that is meant', (type, hex, json) => {
    const length = (hex.length / 2).toString(16).padStart(2, '0')
    expect(read(`message M { ${type} v = 1; }`, `000a${length}${hex}`)).toBe(`{"v":${json}}`)
  })

  it('may have names of JavaScript', () => {
    const schema = 'message M { string __proto__ = 1; map<string, string> constructor = 2; }'
    expect(read(schema, '00' + '0a0161' + '1206' + '0a0161' + '120162')).toBe(
      '{"__proto__":"a","constructor":{"a":"b"}}',
    )
  })
})

describe('a hostile Protobuf value', () => {
  const simple = 'message M { string ip = 1; M m = 2; repeated int32 list = 3; map<string, M> all = 4; }'
  it.each([
    ['that is cut off', '000a0561'],
    ['with a length of 2^63', '000affffffffffffffffff01'],
    ['with a number that does not end', '0018ffffffffffffffffffff01'],
    ['with the field 0', '000201'],
    ['with an unknown kind of field', '000f'],
    ['with a group that does not end', '000b'],
    ['with the end of a group that did not begin', '000c'],
    ['with groups in groups without end', '00' + '4b'.repeat(5_000)],
    ['with a message that its schema does not have', '02080a0161'],
    ['with indexes that are none', '03'],
    ['with very many indexes', 'feffff7f00'],
    ['without indexes', ''],
    ['with nothing that its schema knows', '00480149024a0161'],
  ])('%s is refused', (_, hex) => {
    expect(() => read(simple, hex)).toThrow(Undecodable)
  })

  it('nested deeper than anybody nests is refused', () => {
    let bytes = Buffer.alloc(0)
    for (let depth = 0; depth < 300; depth++) {
      const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7]
      bytes = Buffer.concat([Buffer.from([0x12, ...length]), bytes])
    }
    expect(() => read(simple, `00${bytes.toString('hex')}`)).toThrow(Undecodable)
  })

  it('is never written longer than the bound, however long its names are', () => {
    const schema = `message M { string ${'x'.repeat(100_000)} = 1; }`
    expect(() => read(schema, `00${'0a00'.repeat(500)}`)).toThrow(Undecodable)
  })
})

describe('a hostile .proto file', () => {
  it.each([
    ['that ends too early', 'message M { string ip = '],
    ['with a sign that is none', 'message M { string ip = 1; \u0000 }'],
    ['with a type that nobody defined', 'message M { Missing m = 1; }'],
    ['nested 10,000 deep', 'message M {'.repeat(10_000) + '}'.repeat(10_000)],
    ['of very many words', 'message M { ' + 'int32 x = 1; '.repeat(150_000) + '}'],
    ['that is base64 of nothing', 'AAAA'],
    ['with a number that is none', 'message M { string ip = one; }'],
    ['with a comment without end', 'message M { string ip = 1; } /* and'],
  ])('%s is refused in words', (_, schema) => {
    expect(() => read(schema, '00')).toThrow(UnusableSchema)
  })

  it('of an unknown kind is refused in words', () => {
    expect(() => compileSchema({ type: 'XML', schema: '<x/>', references: [] })).toThrow(UnusableSchema)
  })
})

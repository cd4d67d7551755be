import { describe, expect, it } from 'vitest'
import { readControl, readWord, writeControl, writeWord } from '../../../src/election/control-record.js'

const key = 'a-key-of-thirty-two-characters-or-more'
const signed = { topic: 'gateways', key }
const open = { topic: 'gateways', key: '' }
const reserved = { hour: { index: 5, count: 7 }, day: { index: 1, count: 70 } }

/** As a record is read: with headers as pairs. */
const asRead = (record: ReturnType<typeof writeControl>): Parameters<typeof readControl>[1] => record

describe('the record of the control topic', () => {
  it.each([{ caller: 'one', reserved }, { reserved }])('is read as it was written: %o', (record) => {
    expect(readControl(signed, asRead(writeControl(signed, record, 1)))).toEqual(record)
    expect(readControl(open, asRead(writeControl(open, record, 1)))).toEqual(record)
  })

  it('is not believed without the signature of the key, or with one for another topic', () => {
    expect(readControl(signed, asRead(writeControl(open, { reserved }, 1)))).toBeUndefined()
    expect(readControl(signed, asRead(writeControl({ topic: 'other', key }, { reserved }, 1)))).toBeUndefined()
    const changed = { ...writeControl(signed, { caller: 'one', reserved }, 1), value: Buffer.from('{}') }
    expect(readControl(signed, asRead(changed))).toBeUndefined()
  })

  it.each([
    '',
    'null',
    '[]',
    '{"schema_version":2}',
    '{"schema_version":1,"caller":7}',
    '{"schema_version":1,"caller":null,"reserved":{"hour":{"index":-1,"count":0},"day":{"index":0,"count":0}}}',
    'x'.repeat(3_000),
  ])('is not believed where it is %s', (text) => {
    expect(
      readControl(open, asRead({ ...writeControl(open, { reserved }, 1), value: Buffer.from(text) })),
    ).toBeUndefined()
  })
})

describe('the word of the leader', () => {
  it('is its address', () => {
    expect(readWord(signed, writeWord(signed, 'http://10.0.0.7:8787'))).toBe('http://10.0.0.7:8787')
    expect(readWord(open, writeWord(open, 'https://one.example:8787'))).toBe('https://one.example:8787')
  })

  it('is not believed unsigned, signed with another key, or as anything but a plain address', () => {
    expect(readWord(signed, writeWord(open, 'http://10.0.0.7:8787'))).toBeUndefined()
    expect(
      readWord(signed, writeWord({ topic: 'gateways', key: key.toUpperCase() }, 'http://10.0.0.7')),
    ).toBeUndefined()
    for (const address of ['file:///etc/passwd', 'http://user:word@10.0.0.7', 'ten', ''])
      expect(readWord(open, writeWord(open, address))).toBeUndefined()
    for (const word of ['', '7', '{}', 'x'.repeat(3_000)]) expect(readWord(open, Buffer.from(word))).toBeUndefined()
  })
})

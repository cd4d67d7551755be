import { describe, expect, it } from 'vitest'
import { isOfGateway, readControl, readWord, writeControl, writeWord } from '../../../src/election/control-record.js'
import { createLatestControl } from '../../../src/election/latest-control.js'

const key = 'a-key-of-thirty-two-characters-or-more'
const signed = { topic: 'gateways', key }
const open = { topic: 'gateways', key: '' }
const reserved = { hour: { index: 5, count: 7 }, day: { index: 1, count: 70 } }

const first = { reserved, sequence: 1 }

/** As a record is read: with headers as pairs. */
const asRead = (record: ReturnType<typeof writeControl>): Parameters<typeof readControl>[0] => record

describe('the record of the control topic', () => {
  it.each([{ caller: 'one', ...first }, first])('is read as it was written: %o', (record) => {
    expect(readControl(asRead(writeControl(signed, record, 1)))).toEqual(record)
    expect(isOfGateway(signed, asRead(writeControl(signed, record, 1)))).toBe(true)
    expect(isOfGateway(open, asRead(writeControl(open, record, 1)))).toBe(true)
  })

  it('is not of a gateway without the signature of the key, or with one for another topic', () => {
    expect(isOfGateway(signed, asRead(writeControl(open, first, 1)))).toBe(false)
    expect(isOfGateway(signed, asRead(writeControl({ topic: 'other', key }, first, 1)))).toBe(false)
    const changed = { ...writeControl(signed, { caller: 'one', ...first }, 1), value: Buffer.from('{}') }
    expect(isOfGateway(signed, asRead(changed))).toBe(false)
  })

  it.each([
    '',
    'null',
    '[]',
    '{"schema_version":2}',
    '{"schema_version":1,"caller":7}',
    '{"schema_version":1,"sequence":-1,"caller":null,"reserved":{"hour":{"index":1,"count":0},"day":{"index":0,"count":0}}}',
    '{"schema_version":1,"caller":null,"reserved":{"hour":{"index":-1,"count":0},"day":{"index":0,"count":0}}}',
    'x'.repeat(3_000),
  ])('cannot be read where it is %s', (text) => {
    expect(readControl(asRead({ ...writeControl(open, first, 1), value: Buffer.from(text) }))).toBeUndefined()
  })
})

describe('the record of the control topic that holds', () => {
  const count = (calls: number, sequence: number, caller = 'one') =>
    writeControl(signed, { caller, sequence, reserved: { ...reserved, day: { index: 1, count: calls } } }, 1)
  const latestOf = (
    records: readonly ReturnType<typeof writeControl>[],
    known?: Parameters<typeof createLatestControl>[1],
  ) => {
    const latest = createLatestControl(signed, known)
    for (const record of records) latest.take(asRead(record))
    return { record: latest.record(), ignored: Object.fromEntries(latest.ignored()) }
  }

  it('is the last of the gateways, also where it gives back what was reserved', () => {
    const { record, ignored } = latestOf([count(10, 1), count(20, 2), count(15, 3)])
    expect(record).toMatchObject({ sequence: 3, reserved: { day: { count: 15 } } })
    expect(ignored).toEqual({})
  })

  it('is not one that somebody has written again, which would open the budget a second time', () => {
    const { record, ignored } = latestOf([count(10, 1), count(50, 2), count(10, 1), count(10, 1)])
    expect(record).toMatchObject({ sequence: 2, reserved: { day: { count: 50 } } })
    expect(ignored).toEqual({ repeated: 2 })
  })

  it('is what this process has seen before, where the topic has only an older one', () => {
    const known = { reserved: { ...reserved, day: { index: 1, count: 50 } }, sequence: 9 }
    expect(latestOf([count(10, 1)], known).record).toEqual(known)
  })

  it('is not one that no gateway has signed, which would make the next one wait for calls of nobody', () => {
    const last = writeControl(signed, { sequence: 2, reserved }, 1)
    const forged = writeControl(
      { topic: 'gateways', key: 'another-key' },
      { caller: 'nobody', sequence: 9, reserved },
      1,
    )
    const { record, ignored } = latestOf([
      last,
      writeControl(open, { caller: 'nobody', sequence: 9, reserved }, 1),
      forged,
    ])
    expect(record).toEqual({ sequence: 2, reserved })
    expect(ignored).toEqual({ not_signed: 2 })
  })

  it('names a caller that may still call where a gateway of another version wrote it, or anybody without a key', () => {
    const unreadable = { ...writeControl(open, first, 1), value: Buffer.from('{"schema_version":2}') }
    const latest = createLatestControl(open)
    latest.take(asRead(writeControl(open, first, 1)))
    latest.take(asRead(unreadable))
    expect(latest.record()).toEqual({ caller: '', ...first })
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

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unlz4 } from '../../../../src/kafka/wire/lz4.js'
import { unsnappy } from '../../../../src/kafka/wire/snappy.js'

const max = 1_000_000
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('snappy', () => {
  it.each([
    ['a literal', '05 10 68656c6c6f', 'hello'],
    ['a copy that repeats what it is writing', '0a 04 6162 11 02', 'ababababab'.slice(0, 10)],
    ['nothing', '00', ''],
  ])('reads %s', (_what, packed, text) => {
    expect(unsnappy(hex(packed), max).toString()).toBe(text)
  })

  it('reads the frames of the Java library', () => {
    const block = hex('05 10 68656c6c6f')
    const frame = Buffer.concat([
      hex('82 53 4e 41 50 50 59 00 00000001 00000001'),
      hex('00000007'),
      block,
      hex('00000007'),
      block,
    ])
    expect(unsnappy(frame, max).toString()).toBe('hellohello')
  })

  it.each([
    ['a literal past the end', '05 10 6865'],
    ['a copy from before the beginning', '0a 04 6162 11 09'],
    ['a length that is never reached', '0a 10 68656c6c6f'],
    ['more than may be', 'ff ff ff ff 0f 00'],
  ])('refuses %s', (_what, packed) => {
    expect(() => unsnappy(hex(packed), max)).toThrow()
  })
})

describe('lz4', () => {
  const frame = (block: string, stored = false): Buffer => {
    const bytes = hex(block)
    const size = Buffer.alloc(4)
    size.writeUInt32LE(stored ? (bytes.length | 0x80000000) >>> 0 : bytes.length)
    return Buffer.concat([hex('04 22 4d 18 60 40 82'), size, bytes, hex('00000000')])
  }
  it('reads a stored block', () => {
    expect(unlz4(frame('68656c6c6f', true), max).toString()).toBe('hello')
  })
  it('reads literals and a copy that repeats what it is writing', () => {
    // two literals, a copy of 8 from 2 back, then five last literals
    expect(unlz4(frame('24 6162 0200 50 6364656667'), max).toString()).toBe('ababababab' + 'cdefg')
  })
  it.each([
    ['what is no frame', hex('00 00 00 00 00 00 00 00')],
    ['a copy from before its block', frame('24 6162 0900 50 6364656667')],
    ['a block longer than the data', Buffer.concat([hex('04 22 4d 18 60 40 82'), hex('ff000000')])],
  ])('refuses %s', (_what, packed) => {
    expect(() => unlz4(packed, max)).toThrow()
  })
})

describe('any bytes', () => {
  it.each([
    ['snappy', unsnappy],
    ['lz4', unlz4],
  ] as const)('are read or refused by %s within the bound', (_name, read) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (array) => {
        try {
          expect(read(Buffer.from(array), 10_000).length).toBeLessThanOrEqual(10_000)
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
        }
      }),
      { numRuns: 500 },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxUnpackedBytes, unpack } from '../../../../src/kafka/wire/codecs.js'
import { unlz4 } from '../../../../src/kafka/wire/lz4.js'
import { unsnappy } from '../../../../src/kafka/wire/snappy.js'
import { unzstd } from '../../../../src/kafka/wire/zstd.js'

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

describe('zstd', () => {
  const magic = '28b52ffd'
  const stored = (text: string, isLast: boolean): string => {
    const size = Buffer.alloc(4)
    size.writeUInt32LE((text.length << 3) | Number(isLast))
    return size.toString('hex', 0, 3) + Buffer.from(text).toString('hex')
  }
  /** A block of 128 KiB of the same letter, in four bytes. */
  const repeated = (isLast: boolean): string => (isLast ? '030010' : '020010') + '61'
  /** No size is said; a window of 128 KiB. */
  const frame = (...blocks: string[]): string => `${magic} 00 38 ${blocks.join('')}`
  const bomb = (blocks: number): Buffer =>
    hex(frame(...new Array<string>(blocks - 1).fill(repeated(false)), repeated(true)))

  it.each([
    ['a frame that says its size', `${magic} 20 05 ${stored('hello', true)}`, 'hello'],
    ['a frame that does not', frame(stored('hel', false), stored('lo', true)), 'hello'],
    ['a frame with a checksum', `${magic} 24 05 ${stored('hello', true)} 00000000`, 'hello'],
    [
      'frames one after the other, and what is to be skipped',
      `${frame(stored('he', true))} 502a4d18 03000000 010203 ${frame(stored('llo', true))}`,
      'hello',
    ],
  ])('reads %s', (_what, packed, text) => {
    expect(unzstd(hex(packed), max).toString()).toBe(text)
  })
  it('reads blocks of one letter up to the bound', () => {
    expect(unzstd(bomb(7), max).equals(Buffer.alloc(7 * 131_072, 'a'))).toBe(true)
  })
  it.each([
    ['8 blocks that unpack to more than may be', bomb(8), max],
    ['8 KB that unpack to more than 256 MiB', bomb(2_049), maxUnpackedBytes],
    ['a frame that says it has 4 GiB', hex(`${magic} e0 0000000001000000 ${stored('hello', true)}`), maxUnpackedBytes],
    ['frames that have too much together', Buffer.concat([bomb(4), bomb(4)]), max],
    ['a window of 2 GiB', hex(`${magic} 00 a8 ${stored('hello', true)}`), maxUnpackedBytes],
    ['a block of 2 MB', hex(`${magic} 00 38 fbffff 61`), maxUnpackedBytes],
    [
      'a hundred thousand blocks, each of which would move a large window',
      Buffer.concat([hex(`${magic} 00 80`), Buffer.alloc(400_000, hex('0a000061')), hex(stored('', true))]),
      maxUnpackedBytes,
    ],
    ['a block longer than the data', hex(frame('29000068')), max],
    ['what is no frame', hex('00 00 00 00 00 00'), max],
  ])('refuses %s before anything is set aside for it', (_what, packed, bound) => {
    const before = process.memoryUsage().arrayBuffers
    expect(() => unzstd(packed, bound)).toThrow()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000)
  })
  it('is bounded whatever Node reads it with', () => {
    expect(() => unpack(4, bomb(2_049))).toThrow()
    expect(unpack(4, bomb(2)).length).toBe(262_144)
  })
})

describe('any bytes', () => {
  it.each([
    ['snappy', unsnappy],
    ['lz4', unlz4],
    ['zstd', unzstd],
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

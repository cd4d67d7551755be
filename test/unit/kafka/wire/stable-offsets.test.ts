// The request for settled offsets, byte by byte.
import { describe, expect, it } from 'vitest'
import { decodeStableOffsets, encodeStableOffsets } from '../../../../src/kafka/wire/stable-offsets.js'

const compact = (text: string): string =>
  Buffer.concat([Buffer.from([text.length + 1]), Buffer.from(text)]).toString('hex')

describe('settled offsets', () => {
  it('are asked for by group, topic and partition', () => {
    expect(encodeStableOffsets('soc', 'fw', [0, 3]).toString('hex')).toBe(
      `00${compact('soc')}02${compact('fw')}030000000000000003000100`,
    )
  })

  const partition = (number: string, offset: string, metadata: string, failure: string): string =>
    [number, offset, 'ffffffff', metadata, failure, '00'].join('')
  const answer = Buffer.from(
    [
      '00', // no tags in its head
      '00000000',
      `02${compact('fw')}03`,
      partition('00000000', '0000000000000029', compact('note'), '0000'),
      partition('00000003', 'ffffffffffffffff', '00', '0058'),
      '00',
      '0000',
      '00',
    ].join(''),
    'hex',
  )

  it('are told for each partition, with what an open transaction holds back', () => {
    expect(decodeStableOffsets(answer)).toEqual({
      partitions: [
        { partition: 0, offset: '41', metadata: 'note', errorCode: 0 },
        { partition: 3, offset: '-1', metadata: '', errorCode: 88 },
      ],
      errorCode: 0,
    })
  })

  it.each([0, 1, 6, 12, 30])('are not made up from an answer of %i bytes', (length) => {
    expect(() => decodeStableOffsets(answer.subarray(0, length))).toThrow()
  })
})

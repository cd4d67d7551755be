// The request for topic ids, byte by byte.
import { describe, expect, it } from 'vitest'
import { decodeTopicIds, encodeTopicIds } from '../../../../src/kafka/wire/topic-ids.js'

const compact = (text: string): string =>
  Buffer.concat([Buffer.from([text.length + 1]), Buffer.from(text)]).toString('hex')
const id = '00112233445566778899aabbccddeeff'
const topic = (failure: string, name: string, topicId: string): string =>
  [
    failure,
    compact(name),
    topicId,
    '00', // not internal
    '02', // one partition
    ['0000', '00000000', '00000001', '00000005', '0200000001', '0200000001', '01', '00'].join(''),
    '80000000',
    '00',
  ].join('')
const answer = (topics: readonly string[]): Buffer =>
  Buffer.from(
    [
      '00', // no tags in its head
      '00000000',
      '02', // one broker
      ['00000001', compact('kafka-1.example.com'), '00002384', '00', '00'].join(''),
      compact('cluster'),
      '00000001',
      (topics.length + 1).toString(16).padStart(2, '0'),
      ...topics,
      '80000000',
      '00',
    ].join(''),
    'hex',
  )

describe('the ids of topics', () => {
  it('are asked for by name, creating nothing', () => {
    expect(encodeTopicIds(['fw']).toString('hex')).toBe(`0002${'00'.repeat(16)}${compact('fw')}0000000000`)
  })

  it('are those of the topics that exist', () => {
    const bytes = answer([
      topic('0000', 'fw', id),
      topic('0003', 'gone', '0'.repeat(32)),
      topic('0000', 'old', '0'.repeat(32)),
    ])
    expect([...decodeTopicIds(bytes)]).toEqual([['fw', id]])
  })

  it.each([0, 1, 12, 40, 60])('are not made up from an answer of %i bytes', (length) => {
    expect(() => decodeTopicIds(answer([topic('0000', 'fw', id)]).subarray(0, length))).toThrow()
  })
})

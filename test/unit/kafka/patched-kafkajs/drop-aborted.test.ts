import { describe, expect, it } from 'vitest'
import { dropAborted } from '../../../../src/kafka/patched-kafkajs/drop-aborted.js'
import type { WireRecord } from '../../../../src/kafka/wire/record.js'

const record = (offset: number, producerId: string, key: Buffer | null = null, control = false): WireRecord => ({
  offset: String(offset),
  timestamp: '0',
  key,
  value: null,
  headers: [],
  isControlRecord: control,
  batchContext: {
    firstOffset: String(offset),
    producerId,
    inTransaction: producerId !== '-1',
    isControlBatch: control,
  },
})
const aborts = Buffer.from([0, 0, 0, 0])
const commits = Buffer.from([0, 0, 0, 1])
const kept = (messages: readonly WireRecord[], list: readonly (readonly [string, number])[]): number[] =>
  dropAborted({
    messages,
    abortedTransactions: list.map(([producerId, first]) => ({ producerId, firstOffset: String(first) })),
  })
    .filter(({ isControlRecord }) => !isControlRecord)
    .map(({ offset }) => Number(offset))

describe('records of aborted transactions', () => {
  it('are dropped up to the marker, and what their producer wrote afterwards is kept', () => {
    const messages = [
      record(1, 'a'),
      record(2, 'b'),
      record(3, 'a', aborts, true),
      record(4, 'a'),
      record(5, 'b', commits, true),
    ]
    expect(kept(messages, [['a', 1]])).toEqual([2, 4])
  })

  it('are dropped when the fetch begins inside of two of them', () => {
    const messages = [
      record(10, 'a'),
      record(11, 'b'),
      record(12, 'a', aborts, true),
      record(13, 'b', aborts, true),
      record(14, 'b'),
    ]
    expect(
      kept(messages, [
        ['a', 3],
        ['b', 5],
      ]),
    ).toEqual([14])
  })

  it('are dropped whatever the order of the list', () => {
    const messages = [
      record(1, 'a'),
      record(2, 'b'),
      record(3, 'b', aborts, true),
      record(4, 'a'),
      record(5, 'a', aborts, true),
    ]
    expect(
      kept(messages, [
        ['b', 2],
        ['a', 1],
      ]),
    ).toEqual([])
  })

  it('are not ended by a data record whose key looks like a marker', () => {
    const messages = [record(1, 'a', aborts), record(2, 'a'), record(3, 'a', aborts, true)]
    expect(kept(messages, [['a', 1]])).toEqual([])
  })

  it('are dropped twice over when their producer aborts twice', () => {
    const messages = [
      record(1, 'a'),
      record(2, 'a', aborts, true),
      record(3, 'a'),
      record(4, 'a', aborts, true),
      record(5, 'a'),
    ]
    expect(
      kept(messages, [
        ['a', 1],
        ['a', 3],
      ]),
    ).toEqual([5])
  })

  it('leave records without a transaction alone', () => {
    expect(
      kept(
        [record(1, '-1'), record(2, 'a')],
        [
          ['a', 1],
          ['-1', 1],
        ],
      ),
    ).toEqual([1])
  })
})

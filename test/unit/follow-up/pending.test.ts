import { describe, expect, it } from 'vitest'
import { createPending, type Pending } from '../../../src/follow-up/pending.js'
import { settle } from '../../support/clock.js'

const open = (max = Infinity): { pending: Pending; due: string[]; dropped: number[] } => {
  const due: string[] = []
  const dropped: number[] = []
  const pending = createPending({
    due: (partition) => due.push(partition),
    dropped: (notes) => dropped.push(notes),
    max,
  })
  return { pending, due, dropped }
}

const never = new Promise<void>(() => undefined)
const offsets = (pending: Pending, partition: string): number[] =>
  pending.take(partition, Infinity).map(({ offset }) => offset)

describe('notes of events that wait for an answer', () => {
  it('are due in order when one of their answers has arrived, failed or not', async () => {
    const { pending, due } = open()
    let arrive = (): void => undefined
    const answer = new Promise<void>((resolve) => (arrive = resolve))
    const failed = Promise.reject(new Error('no answer'))
    pending.note('firewall/0', [
      { offset: 9, fired: ['a'], awaited: [answer, never] },
      { offset: 10, fired: [], awaited: [never] },
    ])
    pending.note('firewall/0', [{ offset: 3, fired: [], awaited: [answer] }])
    pending.note('proxy/1', [{ offset: 3, fired: [], awaited: [failed] }])
    await settle()
    expect([due, offsets(pending, 'proxy/1')]).toEqual([['proxy/1'], [3]])
    arrive()
    await settle()
    expect(pending.take('firewall/0', 1)).toEqual([{ offset: 3, fired: [] }])
    expect(pending.take('firewall/0', 5)).toMatchObject([{ offset: 9, fired: ['a'] }])
    expect(pending.take('firewall/0', 5)).toEqual([])
    expect(pending.size()).toBe(4)
  })

  it('are due at once if the answer arrived before they were committed, or if nobody knows what they wait for', async () => {
    const { pending } = open()
    pending.note('firewall/0', [{ offset: 1, fired: [], awaited: [Promise.resolve()] }])
    pending.note('firewall/0', [{ offset: 2, fired: [], awaited: [] }])
    expect(offsets(pending, 'firewall/0')).toEqual([2])
    await settle()
    expect(offsets(pending, 'firewall/0')).toEqual([1])
  })

  it.each(['before', 'after'])(
    'of a former owner say nothing about an event that was delivered again %s they were restored',
    async (when) => {
      const { pending } = open()
      const again = (): void =>
        pending.note('firewall/0', [{ offset: 7, fired: [], awaited: [Promise.resolve()] }], '7/2')
      if (when === 'before') again()
      pending.restore(
        'firewall/0',
        [7, 8].map((offset) => ({ offset, fired: ['a'], awaited: [] })),
        '7/1',
      )
      if (when === 'after') again()
      await settle()
      expect(pending.take('firewall/0', 5)).toEqual([
        { offset: 7, fired: [] },
        { offset: 8, fired: ['a'] },
      ])
      expect(pending.blocksAfter('firewall/0', [7], [])).toEqual([
        { id: '7/1', notes: [{ offset: 8, fired: ['a'] }] },
        { id: '7/2', notes: [] },
      ])
    },
  )

  it('of a former owner that are being followed up settle nothing for an event that is delivered again meanwhile', async () => {
    const { pending } = open()
    pending.restore('firewall/0', [{ offset: 7, fired: ['a'], awaited: [] }], '7/1')
    expect(pending.take('firewall/0', 5)).toEqual([{ offset: 7, fired: ['a'] }])
    pending.note('firewall/0', [{ offset: 7, fired: [], awaited: [Promise.resolve()] }], '7/2')
    expect(pending.blocksAfter('firewall/0', [7], [])).toEqual([{ id: '7/1', notes: [] }])
    pending.settle('firewall/0', [7])
    await settle()
    expect(pending.take('firewall/0', 5)).toEqual([{ offset: 7, fired: [] }])
    pending.settle('firewall/0', [7])
    expect(pending.size()).toBe(0)
  })

  it('say of what a spent budget left, in the blocks that change too, that nobody asks the provider', () => {
    const { pending } = open()
    const notes = [1, 2, 3].map((offset) => ({ offset, fired: [], awaited: [], isFree: offset > 1 }))
    pending.note('firewall/0', notes, '1/0')
    expect(pending.take('firewall/0', 5).map(({ isFree = false }) => isFree)).toEqual([false, true, true])
    const open1 = { offset: 2, fired: ['a'], isFree: true }
    expect(pending.blocksAfter('firewall/0', [1], [open1])).toEqual([
      { id: '1/0', notes: [open1, { offset: 3, fired: [], isFree: true }] },
    ])
    pending.wait('firewall/0', [{ ...open1, awaited: [] }])
    expect(pending.take('firewall/0', 5)).toEqual([open1])
  })

  it('are forgotten with their partition, and when they are settled', async () => {
    const { pending, due } = open()
    let arrive = (): void => undefined
    const answer = new Promise<void>((resolve) => (arrive = resolve))
    pending.note('firewall/0', [{ offset: 1, fired: [], awaited: [answer] }])
    pending.note('firewall/1', [{ offset: 1, fired: [], awaited: [answer] }])
    pending.forget('firewall/0')
    pending.settle('firewall/1', [1])
    await pending.idle()
    arrive()
    await settle()
    expect([due, pending.size()]).toEqual([[], 0])
  })

  it('beyond the limit are dropped, the oldest of the partition with the most first, and counted', () => {
    const { pending, dropped } = open(64)
    pending.note('small/0', [{ offset: 1, fired: [], awaited: [] }])
    pending.note(
      'large/0',
      Array.from({ length: 70 }, (_, offset) => ({ offset, fired: [], awaited: [] })),
    )
    expect([pending.size(), dropped]).toEqual([60, [11]])
    expect(offsets(pending, 'large/0')[0]).toBe(11)
    expect(offsets(pending, 'small/0')).toEqual([1])
  })

  it('that are being followed up are not dropped', () => {
    const { pending, dropped } = open(2)
    const notes = [1, 2, 3].map((offset) => ({ offset, fired: [], awaited: [] }))
    pending.note('firewall/0', notes.slice(0, 2))
    expect(offsets(pending, 'firewall/0')).toEqual([1, 2])
    pending.note('firewall/0', notes.slice(2))
    expect(dropped).toEqual([1])
    pending.settle('firewall/0', [1])
    expect([pending.size(), offsets(pending, 'firewall/0')]).toEqual([1, []])
    pending.wait('firewall/0', notes.slice(0, 2))
    expect(offsets(pending, 'firewall/0')).toEqual([2])
  })

  it('of a chunk whose block was read before it was delivered are all in its block again when they leave that of its first delivery', () => {
    const pending = createPending({ due: () => undefined, dropped: () => undefined, max: 10 })
    const notes = [1, 2].map((offset) => ({ offset, fired: [], awaited: [] }))
    const stored = (): unknown =>
      pending.blocksAfter('fw/0', [], []).map(({ id, notes: left }) => [id, left.map(({ offset }) => offset)])
    pending.restore('fw/0', notes, 'first')
    pending.restore('fw/0', notes, 'second')
    expect(stored()).toEqual([['second', []]])
    pending.settle('fw/0', [])
    pending.note('fw/0', notes, 'second')
    expect(stored()).toEqual([
      ['second', [1, 2]],
      ['first', []],
    ])
  })

  it('are stored by chunk, and a block changes with every note that is settled or fired', () => {
    const { pending } = open()
    const notes = (...all: number[]): { offset: number; fired: string[]; awaited: Promise<void>[] }[] =>
      all.map((offset) => ({ offset, fired: [], awaited: [never] }))
    pending.note('firewall/0', notes(10, 12))
    pending.note('firewall/0', notes(20, 21))
    expect(pending.blocksAfter('firewall/0', [10], [{ offset: 21, fired: ['rule'] }])).toEqual([
      { id: '10', notes: [{ offset: 12, fired: [] }] },
      {
        id: '20',
        notes: [
          { offset: 20, fired: [] },
          { offset: 21, fired: ['rule'] },
        ],
      },
    ])
    expect(pending.blocksAfter('firewall/0', [20, 21], [])).toEqual([{ id: '20', notes: [] }])
    expect(pending.blocksAfter('firewall/0', [], notes(20))).toEqual([])
    // The events from 12 on were delivered again, in another chunk.
    pending.note('firewall/0', notes(12, 20))
    expect(pending.blocksAfter('firewall/0', [], [])).toEqual([
      { id: '10', notes: [{ offset: 10, fired: [] }] },
      { id: '20', notes: [{ offset: 21, fired: [] }] },
    ])
    expect(pending.blocks('firewall/0')).toEqual(['10', '12', '20'])
  })
})

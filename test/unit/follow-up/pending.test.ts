import { describe, expect, it } from 'vitest'
import { createPending, type Pending, type PendingNotes } from '../../../src/follow-up/pending.js'
import { settle } from '../../support/clock.js'

type Open = {
  readonly pending: Pending
  /** The notes of a partition. */
  readonly of: (partition: string) => PendingNotes
  readonly due: string[]
  readonly dropped: number[]
}

const open = (max = Infinity): Open => {
  const due: string[] = []
  const dropped: number[] = []
  const pending = createPending({ dropped: (notes) => dropped.push(notes), max })
  const opened = new Map<string, PendingNotes>()
  const of = (partition: string): PendingNotes => {
    const notes = opened.get(partition) ?? pending.open(() => due.push(partition))
    opened.set(partition, notes)
    return notes
  }
  return { pending, of, due, dropped }
}

const never = new Promise<void>(() => undefined)
const offsets = (notes: PendingNotes): number[] => notes.take(Infinity).map(({ offset }) => offset)

describe('notes of events that wait for an answer', () => {
  it('are due in order when one of their answers has arrived, failed or not', async () => {
    const { pending, of, due } = open()
    let arrive = (): void => undefined
    const answer = new Promise<void>((resolve) => (arrive = resolve))
    const failed = Promise.reject(new Error('no answer'))
    of('firewall/0').note([
      { offset: 9, fired: ['a'], awaited: [answer, never] },
      { offset: 10, fired: [], awaited: [never] },
    ])
    of('firewall/0').note([{ offset: 3, fired: [], awaited: [answer] }])
    of('proxy/1').note([{ offset: 3, fired: [], awaited: [failed] }])
    await settle()
    expect([due, offsets(of('proxy/1'))]).toEqual([['proxy/1'], [3]])
    arrive()
    await settle()
    expect(of('firewall/0').take(1)).toEqual([{ offset: 3, fired: [] }])
    expect(of('firewall/0').take(5)).toMatchObject([{ offset: 9, fired: ['a'] }])
    expect(of('firewall/0').take(5)).toEqual([])
    expect(pending.size()).toBe(4)
  })

  it('are due at once if the answer arrived before they were committed, or if nobody knows what they wait for', async () => {
    const { of } = open()
    of('firewall/0').note([{ offset: 1, fired: [], awaited: [Promise.resolve()] }])
    of('firewall/0').note([{ offset: 2, fired: [], awaited: [] }])
    expect(offsets(of('firewall/0'))).toEqual([2])
    await settle()
    expect(offsets(of('firewall/0'))).toEqual([1])
  })

  it.each(['before', 'after'])(
    'of a former owner say nothing about an event that was delivered again %s they were restored',
    async (when) => {
      const { of } = open()
      const again = (): void => of('firewall/0').note([{ offset: 7, fired: [], awaited: [Promise.resolve()] }], '7/2')
      if (when === 'before') again()
      of('firewall/0').restore(
        [7, 8].map((offset) => ({ offset, fired: ['a'], awaited: [] })),
        '7/1',
      )
      if (when === 'after') again()
      await settle()
      expect(of('firewall/0').take(5)).toEqual([
        { offset: 7, fired: [] },
        { offset: 8, fired: ['a'] },
      ])
      expect(of('firewall/0').blocksAfter([7], [])).toEqual([
        { id: '7/1', notes: [{ offset: 8, fired: ['a'] }] },
        { id: '7/2', notes: [] },
      ])
    },
  )

  it('of a former owner that are being followed up settle nothing for an event that is delivered again meanwhile', async () => {
    const { pending, of } = open()
    of('firewall/0').restore([{ offset: 7, fired: ['a'], awaited: [] }], '7/1')
    expect(of('firewall/0').take(5)).toEqual([{ offset: 7, fired: ['a'] }])
    of('firewall/0').note([{ offset: 7, fired: [], awaited: [Promise.resolve()] }], '7/2')
    expect(of('firewall/0').blocksAfter([7], [])).toEqual([{ id: '7/1', notes: [] }])
    of('firewall/0').settle([7])
    await settle()
    expect(of('firewall/0').take(5)).toEqual([{ offset: 7, fired: [] }])
    of('firewall/0').settle([7])
    expect(pending.size()).toBe(0)
  })

  it('say of what a spent budget left, in the blocks that change too, that nobody asks the provider', () => {
    const { of } = open()
    const notes = [1, 2, 3].map((offset) => ({ offset, fired: [], awaited: [], isFree: offset > 1 }))
    of('firewall/0').note(notes, '1/0')
    expect(
      of('firewall/0')
        .take(5)
        .map(({ isFree = false }) => isFree),
    ).toEqual([false, true, true])
    const open1 = { offset: 2, fired: ['a'], isFree: true }
    expect(of('firewall/0').blocksAfter([1], [open1])).toEqual([
      { id: '1/0', notes: [open1, { offset: 3, fired: [], isFree: true }] },
    ])
    of('firewall/0').wait([{ ...open1, awaited: [] }])
    expect(of('firewall/0').take(5)).toEqual([open1])
  })

  it('are forgotten with their partition, and when they are settled', async () => {
    const { pending, of, due } = open()
    let arrive = (): void => undefined
    const answer = new Promise<void>((resolve) => (arrive = resolve))
    of('firewall/0').note([{ offset: 1, fired: [], awaited: [answer] }])
    of('firewall/1').note([{ offset: 1, fired: [], awaited: [answer] }])
    of('firewall/0').clear()
    of('firewall/1').settle([1])
    await pending.idle()
    arrive()
    await settle()
    expect([due, pending.size()]).toEqual([[], 0])
  })

  it('beyond the limit are dropped, the oldest of the partition with the most first, and counted', () => {
    const { pending, of, dropped } = open(64)
    of('small/0').note([{ offset: 1, fired: [], awaited: [] }])
    of('large/0').note(Array.from({ length: 70 }, (_, offset) => ({ offset, fired: [], awaited: [] })))
    expect([pending.size(), dropped]).toEqual([60, [11]])
    expect(offsets(of('large/0'))[0]).toBe(11)
    expect(offsets(of('small/0'))).toEqual([1])
  })

  it('that are being followed up are not dropped', () => {
    const { pending, of, dropped } = open(2)
    const notes = [1, 2, 3].map((offset) => ({ offset, fired: [], awaited: [] }))
    of('firewall/0').note(notes.slice(0, 2))
    expect(offsets(of('firewall/0'))).toEqual([1, 2])
    of('firewall/0').note(notes.slice(2))
    expect(dropped).toEqual([1])
    of('firewall/0').settle([1])
    expect([pending.size(), offsets(of('firewall/0'))]).toEqual([1, []])
    of('firewall/0').wait(notes.slice(0, 2))
    expect(offsets(of('firewall/0'))).toEqual([2])
  })

  it('of a chunk whose block was read before it was delivered are all in its block again when they leave that of its first delivery', () => {
    const { of } = open(10)
    const notes = [1, 2].map((offset) => ({ offset, fired: [], awaited: [] }))
    const stored = (): unknown =>
      of('fw/0')
        .blocksAfter([], [])
        .map(({ id, notes: left }) => [id, left.map(({ offset }) => offset)])
    of('fw/0').restore(notes, 'first')
    of('fw/0').restore(notes, 'second')
    expect(stored()).toEqual([['second', []]])
    of('fw/0').settle([])
    of('fw/0').note(notes, 'second')
    expect(stored()).toEqual([
      ['second', [1, 2]],
      ['first', []],
    ])
  })

  it('are stored by chunk, and a block changes with every note that is settled or fired', () => {
    const { of } = open()
    const notes = (...all: number[]): { offset: number; fired: string[]; awaited: Promise<void>[] }[] =>
      all.map((offset) => ({ offset, fired: [], awaited: [never] }))
    of('firewall/0').note(notes(10, 12))
    of('firewall/0').note(notes(20, 21))
    expect(of('firewall/0').blocksAfter([10], [{ offset: 21, fired: ['rule'] }])).toEqual([
      { id: '10', notes: [{ offset: 12, fired: [] }] },
      {
        id: '20',
        notes: [
          { offset: 20, fired: [] },
          { offset: 21, fired: ['rule'] },
        ],
      },
    ])
    expect(of('firewall/0').blocksAfter([20, 21], [])).toEqual([{ id: '20', notes: [] }])
    expect(of('firewall/0').blocksAfter([], notes(20))).toEqual([])
    // The events from 12 on were delivered again, in another chunk.
    of('firewall/0').note(notes(12, 20))
    expect(of('firewall/0').blocksAfter([], [])).toEqual([
      { id: '10', notes: [{ offset: 10, fired: [] }] },
      { id: '20', notes: [{ offset: 21, fired: [] }] },
    ])
  })
})

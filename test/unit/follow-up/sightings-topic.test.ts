import { describe, expect, it } from 'vitest'
import { blockValue, createBlocks, splitNotes } from '../../../src/follow-up/sightings-topic.js'
import type { Block } from '../../../src/follow-up/pending.js'
import type { StateRecord } from '../../../src/follow-up/state-record.js'

const block = (first: number, ...notes: readonly (readonly [number, ...string[]])[]): Block => ({
  id: `${first}/99`,
  notes: notes.map(([offset, ...fired]) => ({ offset, fired })),
})

type Written = Pick<StateRecord, 'id' | 'value' | 'version'>

const read = (
  records: readonly Written[],
  max = 1_000,
  dropped: (notes: number) => void = () => undefined,
): readonly Block[] => {
  const blocks = createBlocks({ max, dropped })
  for (const record of records) blocks.apply(record)
  return blocks.all().map(({ id, notes }) => ({ id, notes }))
}
const write = (one: Block, version: 1 | 2 = 2): Written => ({ id: one.id, value: blockValue(one), version })

describe('the notes of a partition', () => {
  it('have offsets as distances', () => {
    expect(String(write(block(7_000, [7_000], [7_003, 'a rule'])).value)).toBe(
      '{"schema_version":2,"offsets":[0,3],"fired":{"3":["a rule"]}}',
    )
    expect(write(block(7_000)).value).toBeNull()
  })

  it('of version 1 are read too, until they are written again', () => {
    const former = block(10, [10], [11])
    expect(read([write(former, 1)])).toEqual([former])
    expect(read([write(former, 1), write(block(10, [11]))])).toEqual([block(10, [11])])
    expect(read([write(former, 1), write(block(10, [11])), write(block(10), 1)])).toEqual([block(10, [11])])
    expect(read([write(former, 1), write(block(10), 1)])).toEqual([])
  })

  it('are written in blocks of a bounded size, whatever fired for their events', () => {
    const members = Array.from({ length: 10_000 }, (_, nth) => `${nth} ${'0123456789ab'.repeat(3)}`)
    const notes = [0, 1, 2].map((offset) => ({ offset, fired: offset === 1 ? members : members.slice(0, 2_000) }))
    let left = 0
    const records = splitNotes(notes).map((some, nth): Written => {
      const id = `${some[0]?.offset}/${nth}`
      return { id, value: blockValue({ id, notes: some }, (firings) => (left += firings)), version: 2 }
    })
    expect(records.map(({ value }) => (value?.length ?? 0) < 140_000)).toEqual([true, true, true])
    expect(left).toBeGreaterThan(5_000)
    const notesRead = read(records).flatMap((one) => one.notes)
    expect(notesRead.map(({ offset }) => offset)).toEqual([0, 1, 2])
    expect(notesRead[2]?.fired).toEqual(members.slice(0, 2_000))
  })

  it.each([
    [[true, true], '{"schema_version":2,"offsets":[0,1],"free":true}'],
    [[false, true], '{"schema_version":2,"offsets":[0,1],"free":[1]}'],
  ])('say of which events nobody asks the provider: %j', (free, text) => {
    const notes = free.map((isFree, nth) => ({ offset: 10 + nth, fired: [], ...(isFree && { isFree }) }))
    const record = write({ id: '10/99', notes })
    expect(String(record.value)).toBe(text)
    expect(read([record])).toEqual([{ id: '10/99', notes }])
  })

  it('are read back as they were written last', () => {
    const kept = block(30, [31, 'a rule'])
    const withoutTime = { id: '40', notes: [{ offset: 41, fired: [] }] }
    const records = [
      write(block(10, [10], [11])),
      write(block(20, [20])),
      write(kept),
      write(withoutTime),
      write(block(20)),
      write(block(10, [11])),
    ]
    expect(read(records)).toEqual([kept, withoutTime, block(10, [11])])
  })

  it.each(['', '{', '[]', '{"schema_version":1}', '{"schema_version":3,"offsets":[0]}'])(
    'are nothing where somebody wrote %j',
    (text) => {
      expect(read([{ ...write(block(10, [10])), value: Buffer.from(text) }])).toEqual([])
    },
  )

  it('have only offsets that can be, and rules that are names', () => {
    const value = Buffer.from('{"schema_version":1,"offsets":[0,-1,"2",1.5,1e300,4],"fired":{"0":[1,"a"],"4":"b"}}')
    expect(read([{ ...write(block(10, [10])), value }])).toEqual([block(10, [10, 'a'], [14])])
  })

  it('note an offset once, however often somebody wrote it', () => {
    const value = Buffer.from(JSON.stringify({ schema_version: 1, offsets: Array<number>(100_000).fill(0) }))
    expect(read([{ ...write(block(10, [10])), value }])).toEqual([block(10, [10])])
  })

  it('are at most as many as are noted in memory, the newest', () => {
    const left: number[] = []
    const records = [block(10, [10], [11]), block(20, [20], [21]), block(30, [30], [31])].map((one) => write(one))
    const found = read([...records, write(block(20))], 4, (notes) => left.push(notes))
    expect([found, left]).toEqual([[block(30, [30], [31])], [2]])
  })

  it.each(['10/99/a/b', '10/x', '10/99/', 'x', `10/99/${'a'.repeat(65)}`])(
    'are nothing under a key of another form: %s',
    (id) => {
      expect(read([{ ...write(block(10, [10])), id }])).toEqual([])
    },
  )

  it('have no rules that are longer than a name', () => {
    expect(read([write(block(10, [10, 'a rule', 'x'.repeat(513)]))])).toEqual([block(10, [10, 'a rule'])])
  })
})

import { describe, expect, it } from 'vitest'
import { readUpTo, type Fetch } from '../../../src/kafka/topic-reader.js'
import { blockRecord, readBlocks, splitNotes } from '../../../src/follow-up/sightings-topic.js'
import type { WireRecord } from '../../../src/kafka/wire/record.js'
import type { Outgoing } from '../../../src/kafka/records.js'

const topic = { topic: 'sightings', partitions: 2 }
const input = { topic: 'firewall', partition: 3 }
const block = (
  first: number,
  ...notes: readonly (readonly [number, ...string[]])[]
): Parameters<typeof blockRecord>[2] => ({
  id: `${first}/99`,
  notes: notes.map(([offset, ...fired]) => ({ offset, fired })),
})

const read = (
  records: readonly Outgoing[],
  max = 1_000,
  dropped: (notes: number) => void = () => undefined,
): ReturnType<typeof readBlocks> => {
  const log = records.map((record, offset) => ({ ...record, offset: String(offset) })) as unknown as WireRecord[]
  const fetch = (_topic: string, _partition: number, offset: number): Promise<Fetch> =>
    Promise.resolve({ records: log.slice(offset, offset + 2), next: Math.min(offset + 2, log.length), deleted: 0 })
  const offsetsAt = (): Promise<ReadonlyMap<number, number>> => Promise.resolve(new Map([[1, 0]]))
  return readBlocks(
    (use) => readUpTo({ fetch, offsetsAt }, { topic: topic.topic, partition: 1, end: log.length }, use, () => true),
    input,
    { max, dropped },
  )
}
const write = (one: Parameters<typeof blockRecord>[2], of = input): Outgoing => blockRecord(topic, of, one, 0)

describe('the notes of a partition', () => {
  it('stand at its number modulo the number of partitions, offsets as distances', () => {
    const { partition, key, value } = write(block(7_000, [7_000], [7_003, 'a rule']))
    expect([partition, String(key), String(value)]).toEqual([
      1,
      'firewall/3/pending/7000/99',
      '{"schema_version":1,"offsets":[0,3],"fired":{"3":["a rule"]}}',
    ])
    expect(write(block(7_000)).value).toBeNull()
  })

  it('are written in blocks of a bounded size, whatever fired for their events', async () => {
    const members = Array.from({ length: 10_000 }, (_, nth) => `${nth} ${'0123456789ab'.repeat(3)}`)
    const notes = [0, 1, 2].map((offset) => ({ offset, fired: offset === 1 ? members : members.slice(0, 2_000) }))
    let left = 0
    const records = splitNotes(notes).map((some, nth) =>
      blockRecord(topic, input, { id: `${some[0]?.offset}/${nth}`, notes: some }, 0, (firings) => (left += firings)),
    )
    expect(records.map(({ value }) => (value?.length ?? 0) < 140_000)).toEqual([true, true, true])
    expect(left).toBeGreaterThan(5_000)
    const notesRead = (await read(records)).flatMap((one) => one.notes)
    expect(notesRead.map(({ offset }) => offset)).toEqual([0, 1, 2])
    expect(notesRead[2]?.fired).toEqual(members.slice(0, 2_000))
  })

  it.each([
    [[true, true], '{"schema_version":1,"offsets":[0,1],"free":true}'],
    [[false, true], '{"schema_version":1,"offsets":[0,1],"free":[1]}'],
  ])('say of which events nobody asks the provider: %j', async (free, text) => {
    const notes = free.map((isFree, nth) => ({ offset: 10 + nth, fired: [], ...(isFree && { isFree }) }))
    const record = write({ id: '10/99', notes })
    expect(String(record.value)).toBe(text)
    expect(await read([record])).toEqual([{ id: '10/99', notes }])
  })

  it('are read back as they were written last, without those of other partitions', async () => {
    const kept = block(30, [31, 'a rule'])
    const withoutTime = { id: '40', notes: [{ offset: 41, fired: [] }] }
    const records = [
      write(block(10, [10], [11])),
      write(block(10, [10]), { topic: 'firewall', partition: 31 }),
      write(block(20, [20])),
      write(kept),
      write(withoutTime),
      write(block(20)),
      write(block(10, [11])),
    ]
    expect(await read(records)).toEqual([kept, withoutTime, block(10, [11])])
  })

  it.each(['', '{', '[]', '{"schema_version":1}', '{"schema_version":2,"offsets":[0]}'])(
    'are nothing where somebody wrote %j',
    async (text) => {
      expect(await read([{ ...write(block(10, [10])), value: Buffer.from(text) }])).toEqual([])
    },
  )

  it('have only offsets that can be, and rules that are names', async () => {
    const value = Buffer.from('{"schema_version":1,"offsets":[0,-1,"2",1.5,1e300,4],"fired":{"0":[1,"a"],"4":"b"}}')
    expect(await read([{ ...write(block(10, [10])), value }])).toEqual([block(10, [10, 'a'], [14])])
  })

  it('note an offset once, however often somebody wrote it', async () => {
    const value = Buffer.from(JSON.stringify({ schema_version: 1, offsets: Array<number>(100_000).fill(0) }))
    expect(await read([{ ...write(block(10, [10])), value }])).toEqual([block(10, [10])])
  })

  it('are at most as many as are noted in memory, the newest', async () => {
    const left: number[] = []
    const records = [block(10, [10], [11]), block(20, [20], [21]), block(30, [30], [31])].map((one) => write(one))
    const found = await read([...records, write(block(20))], 4, (notes) => left.push(notes))
    expect([found, left]).toEqual([[block(30, [30], [31])], [2]])
  })

  it.each(['10/99/a/b', '10/x', '10/99/', 'x', `10/99/${'a'.repeat(65)}`])(
    'are nothing under a key of another form: %s',
    async (id) => {
      expect(await read([{ ...write(block(10, [10])), key: Buffer.from(`firewall/3/pending/${id}`) }])).toEqual([])
    },
  )

  it('have no rules that are longer than a name', async () => {
    expect(await read([write(block(10, [10, 'a rule', 'x'.repeat(513)]))])).toEqual([block(10, [10, 'a rule'])])
  })
})

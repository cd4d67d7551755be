// Promise: every record comes out as the table in docs/kafka.md says, whatever it holds and however it was packed.
import { createHash } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readWithJava, runJava } from '../support/java.js'
import { makeTopic, makeTopics, readTopic, settingsFor, soak, type Names, type Read } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterEach(endWorkers)

const good = soak ? 10_000 : 2_000
/** What leaves for the output: the good, the hard ones without the two that are too large, four codecs, the committed. */
const expectedCount = good + 8 + 4 * 200 + 30
const rows = {
  input: new Map<string, Read>(),
  json: [] as readonly Read[],
  headers: [] as readonly Read[],
  dead: [] as readonly Read[],
}

const name = ({ key }: Read): string => key?.toString() ?? 'null-key'
const byName = (records: readonly Read[]): Map<string, Read> => new Map(records.map((record) => [name(record), record]))

beforeAll(async () => {
  const names = await makeTopics({
    partitions: 1,
    config: {
      input: { 'max.message.bytes': '4000000', 'message.timestamp.after.max.ms': '9223372036854775807' },
      dead: { 'max.message.bytes': '2000000' },
    },
  })
  await runJava('WritePoison', names.input, String(good))
  const second: Names = { ...names, output: `${names.output}-headers`, groupId: `${names.groupId}-headers` }
  await makeTopic(second.output, 1)
  startWorker(settingsFor(names))
  startWorker(settingsFor(second, { delivery: 'exactly-once' }), { placement: 'headers' })
  const enough = (records: readonly Read[]): boolean => records.length >= expectedCount
  rows.json = await readTopic(names.output, enough)
  rows.headers = await readTopic(second.output, enough)
  rows.dead = await readTopic(names.dead, (records) => records.length >= 4)
  rows.input = byName((await readWithJava(names.input))[0])
  await endWorkers()
})

describe('among good records', () => {
  it('everything that was committed comes out once, in order, and nothing that was aborted', () => {
    for (const records of [rows.json, rows.headers]) {
      const names = records.map(name)
      const read = [...rows.input.keys()].filter(
        (key) => !['above', 'far-above'].includes(key) && !key.startsWith('\0') && !key.startsWith('aborted'),
      )
      expect(names).toEqual(read)
      expect(names).toHaveLength(expectedCount)
    }
  })

  it('values are byte for byte what was written when the annotation goes into a header', () => {
    const wrong = rows.headers.filter((record) => {
      const value = rows.input.get(name(record))!.value
      return value === null ? record.value !== null : !record.value?.equals(value)
    })
    expect(wrong.map(name)).toEqual([])
    const bare = rows.headers.filter(({ headers }) => headers.threatweave === undefined)
    expect(bare.map(name)).toEqual(['tombstone'])
  })

  it('values begin with what was written when the annotation is added to them', () => {
    const wrong = rows.json.filter((record) => {
      const value = rows.input.get(name(record))!.value
      return (
        value?.[0] === 0x7b &&
        name(record) !== 'near' &&
        record.value?.subarray(0, value.length - 1).equals(value.subarray(0, -1)) !== true
      )
    })
    expect(wrong.map(name)).toEqual([])
  })

  it.each(['gzip', 'snappy', 'lz4', 'zstd'])('a batch that Java packed with %s is read', (codec) => {
    expect(rows.json.filter((record) => name(record).startsWith(`${codec}-`))).toHaveLength(200)
  })
})

describe('a record', () => {
  const json = (key: string): Read => byName(rows.json).get(key)!

  it('without a value, a tombstone, stays one', () => {
    expect(json('tombstone').value).toBeNull()
    expect(json('tombstone').headers.h?.toString()).toBe('1')
  })
  it('without a key stays without one', () => {
    expect(json('null-key').key).toBeNull()
  })
  it('of no bytes or of any bytes comes out as JSON', () => {
    for (const key of ['empty', 'binary'])
      expect(() => JSON.parse(json(key).value!.toString()) as unknown).not.toThrow()
  })
  it('keeps its headers: repeated ones, empty ones and null', () => {
    const { b, none, empty } = json('headers').headers
    expect([b?.toString(), none, (empty as Buffer).length]).toEqual([
      ['2', '1'].map((text) => Buffer.from(text)).toString(),
      null,
      0,
    ])
  })
  it('from the future is written now, its own time in a header', () => {
    expect(Number(json('future').timestamp)).toBeLessThan(Date.now())
    expect(json('future').headers['threatweave-timestamp']?.toString()).toBe(rows.input.get('future')!.timestamp)
  })
  it('keeps its time otherwise', () => {
    const changed = rows.json.filter(
      (record) => name(record) !== 'future' && record.timestamp !== rows.input.get(name(record))!.timestamp,
    )
    expect(changed.map(name)).toEqual([])
  })
  it('near the limit keeps the compact form of its annotation', () => {
    const { indicators, ...flat } = (
      JSON.parse(json('near').value!.toString()) as { threatweave: Record<string, unknown> }
    ).threatweave
    expect(flat).toMatchObject({ schema_version: 1, status: 'skipped' })
    expect(indicators).toBeUndefined()
  })
  it('of text that grows past the limit as JSON keeps its own bytes, the annotation in a header', () => {
    expect(json('grows').value!.equals(rows.input.get('grows')!.value!)).toBe(true)
    expect(json('grows').headers.threatweave?.toString()).toMatch(/^\{"schema_version":1/)
  })
  it('above the limit is a dead letter that can be brought back', () => {
    const letters = rows.dead.filter((record) => name(record) === 'above')
    expect(letters).toHaveLength(2)
    for (const { value, headers } of letters) {
      expect(value!.equals(rows.input.get('above')!.value!)).toBe(true)
      expect(headers['threatweave-reason']?.toString()).toBe('too_large')
      expect(headers['threatweave-offset']?.toString()).toBe(rows.input.get('above')!.offset)
    }
  })
  it('above that limit too is a dead letter that points to it', () => {
    const letters = rows.dead.filter((record) => name(record) === 'far-above')
    const { value, offset } = rows.input.get('far-above')!
    expect(letters).toHaveLength(2)
    for (const letter of letters) {
      expect(letter.value).toBeNull()
      expect(letter.headers['threatweave-offset']?.toString()).toBe(offset)
      expect(letter.headers['threatweave-sha256']?.toString()).toBe(createHash('sha256').update(value!).digest('hex'))
    }
  })
})

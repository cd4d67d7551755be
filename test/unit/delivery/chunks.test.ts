import { describe, expect, it } from 'vitest'
import { countEvents, eventsOf, startChunks, splitBatch } from '../../../src/delivery/chunks.js'
import type { Item, OutputTarget } from '../../../src/delivery/compose.js'
import type { OutputForm } from '../../../src/delivery/deliver.js'
import type { Fetched } from '../../../src/kafka/fetched.js'
import type { Batch } from '../../../src/pipeline/batch/cut-batch.js'
import type { EventOut, Pipeline } from '../../../src/pipeline/pipeline.js'
import type { Wait } from '../../../src/pipeline/enrich/wait.js'
import { elapsed, event, never, setUp as setUpEnrich } from '../../support/enriching.js'
import type { Incoming } from '../../../src/kafka/records.js'

const records = Array.from({ length: 200 }, (_, place): Incoming => {
  const value = place === 70 ? null : Buffer.from(String(place))
  return { topic: 'in', partition: 0, offset: String(place), timestamp: '1', key: null, value, headers: [] }
})
const target: OutputTarget = {
  placement: 'json',
  key: 'threatweave',
  topic: 'out',
  deadLetterTopic: 'dead',
  maxBytes: 1_000_000,
  maxDeadLetterBytes: 1_000_000,
  outputPartition: () => 0,
  deadLetterPartition: () => 0,
}
const form: OutputForm = { target, max: { count: 500, bytes: 1_000_000 }, emit: () => undefined, now: () => 5 }
const max = { count: 150, bytes: 1_000_000 }
const out = (bytes: Buffer): EventOut => ({ bytes: () => bytes }) as unknown as EventOut

/** Every seventh event is open until `answer` is called; `log` says what happened in which order. */
const setUp = () => {
  const log: string[] = []
  let answer: (isWanted: boolean) => void = () => undefined
  const answered = new Promise<boolean>((resolve) => (answer = resolve))
  const isOpen = (bytes: Buffer): boolean => Number(bytes.toString()) % 7 === 0
  const pipeline: Pipeline = (chunk, use) => {
    log.push(`started ${chunk.length}`)
    for (const [place, { bytes }] of chunk.entries()) if (!isOpen(bytes)) use(out(bytes), place)
    if (!chunk.some(({ bytes }) => isOpen(bytes))) return true
    return answered.then((isWanted) => {
      if (isWanted) for (const [place, { bytes }] of chunk.entries()) if (isOpen(bytes)) use(out(bytes), place)
      return isWanted
    })
  }
  let turns = 0
  const turn = (): Promise<void> | undefined => {
    log.push('turn')
    return turns++ % 2 === 0 ? Promise.resolve() : undefined
  }
  return { log, pipeline, answer: (isWanted: boolean) => answer(isWanted), wait: { turn } as unknown as Wait }
}

describe('chunks of a batch', () => {
  it('have all started before any of them is ready, with a turn for the event loop after every 64 events', async () => {
    const { log, pipeline, wait } = setUp()
    await startChunks(records, { pipeline, wait, form, max })
    const slices = ['started 64', 'turn', 'started 63', 'turn', 'started 22', 'turn', 'started 50', 'turn']
    expect(log).toEqual(slices)
  })

  it('count the members of batches: in their size, in their turns and in what is still to come', async () => {
    const { log, pipeline, wait } = setUp()
    const cut = (bytes: Buffer): Batch | undefined =>
      Number(bytes.toString()) % 10 === 0
        ? { members: Array.from({ length: 40 }, () => ({ from: 0, to: 1 })), count: 40, place: 'member' }
        : undefined
    const counting = Object.assign(pipeline, { cut })
    const fetched = { records: records.slice(0, 20), lag: 10, goesOn: () => true } as unknown as Fetched
    const counted = countEvents(fetched, counting)
    expect(counted).toMatchObject({ events: 98, lag: 49 })
    const chunks = await startChunks(counted.records, { pipeline: counting, wait, form, max: { ...max, count: 60 } })
    expect(chunks.map(({ count, first, last }) => [count, first, last])).toEqual([
      [49, '0', '9'],
      [49, '10', '19'],
    ])
    expect(log.filter((line) => line.startsWith('started'))).toEqual(['started 10', 'started 10'])
  })

  it('hold what is answered as bytes at once, and the rest in its place when it is answered', async () => {
    const { pipeline, wait, answer } = setUp()
    const [first, second] = await startChunks(records, { pipeline, wait, form, max })
    const texts = (): (string | undefined)[] =>
      [first, second].flatMap((chunk) =>
        Array.from(chunk?.items ?? [], (item) => (item as Item | undefined)?.composed.record.value?.toString()),
      )
    const expected = records.map(({ value }) => value?.toString())
    expect(texts().slice(0, 150)).toEqual(
      expected.slice(0, 150).map((text) => (Number(text) % 7 === 0 ? undefined : text)),
    )
    answer(true)
    expect(await first?.ready).toBe(true)
    expect(await second?.ready).toBe(true)
    expect(texts()).toEqual(expected)
    expect(second).toMatchObject({ first: '150', last: '199' })
  })

  it('are not ready to be written when nobody wants them any more', async () => {
    const { pipeline, wait, answer } = setUp()
    const chunks = await startChunks(records, { pipeline, wait, form, max })
    answer(false)
    expect(await Promise.all(chunks.map(async ({ ready }) => ready))).toEqual([false, false])
  })

  it('count as many events as the pipeline reads of them: none for a tombstone', async () => {
    const { pipeline, wait } = setUp()
    const [first, second] = await startChunks(records, { pipeline, wait, form, max })
    expect([first?.count, second?.count]).toEqual([149, 50])
    expect(records[70]?.value).toBeNull()
  })

  it('keep only the events that there may be alerts of', async () => {
    const { pipeline, wait, answer } = setUp()
    answer(true)
    const [bare] = await startChunks(records, { pipeline, wait, form, max })
    const mayAlert = (event: EventOut): boolean => event.bytes().toString().endsWith('7')
    const [kept] = await startChunks(records, { pipeline, wait, form: { ...form, mayAlert }, max })
    await Promise.all([bare?.ready, kept?.ready])
    expect(bare?.events).toHaveLength(0)
    expect(Object.values(kept?.events ?? []).every(mayAlert)).toBe(true)
    expect(Object.keys(kept?.events ?? [])).toHaveLength(15)
  })
})

it('a batch that is large unpacked is taken on in parts', () => {
  const large = records.map((record) => ({ ...record, value: Buffer.alloc(100_000) }))
  const parts = splitBatch(large, false)
  expect(parts.map(({ length }) => length)).toEqual([41, 41, 41, 41, 36])
  expect(parts.flat()).toEqual(large)
})

it('of a partition that was just assigned, the first events do not wait for the others of the batch', () => {
  const parts = splitBatch(records, true)
  expect(parts.map(({ length }) => length)).toEqual([64, records.length - 64])
  expect(parts.flat()).toEqual(records)
  expect(splitBatch(records.slice(0, 64), true)).toHaveLength(1)
})

it('events stand in the places of their records, with nothing where a tombstone was', async () => {
  const { pipeline, answer } = setUp()
  answer(true)
  const events = await eventsOf(records, pipeline)
  expect(Array.from(events, (event) => event?.bytes().toString())).toEqual(
    records.map(({ value }) => value?.toString()),
  )
})

it('an event that arrives while the one before it waits leaves within two deadlines, whatever the provider does', async () => {
  const { clock, enrichWith, waits } = setUpEnrich(() => never, { deadlineMs: 500, estimateMs: () => 0 })
  const pipeline: Pipeline = async (chunk, use, wait = waits.live) => {
    await enrichWith(
      chunk.map(({ bytes }) => event(Number(bytes.toString()))),
      wait,
    )
    for (const [place, { bytes }] of chunk.entries()) use(out(bytes), place)
    return true
  }
  const take = async (place: number): Promise<void> => {
    const [chunk] = await startChunks(records.slice(place, place + 1), { pipeline, wait: waits.live, form, max })
    expect(await chunk?.ready).toBe(true)
    expect(chunk?.items).toHaveLength(1)
  }
  // Kafka hands over the next batch of a partition when the one before it is through.
  const both = take(1).then(() => take(2))
  expect(await elapsed(clock, both, 2_000)).toBe(1_000)
})

// Counting sightings: where the counts of a partition begin is known before they are written for the first time, and no retro alert is lost.
import { describe, expect, it } from 'vitest'
import type { Judged } from '../../../src/domain/verdict.js'
import { countSightings, type Counting, type OpenCounting } from '../../../src/kafka/count-sightings.js'
import type { Outgoing } from '../../../src/kafka/compose.js'
import type { Fetch } from '../../../src/kafka/replay/topic-reader.js'
import { restoreCounts } from '../../../src/kafka/restore-counts.js'
import type { Assigned, ChunkSightings, Sightings } from '../../../src/kafka/sightings.js'
import type { WireRecord } from '../../../src/kafka/wire/record.js'
import type { EventOut, Pipeline } from '../../../src/pipeline/pipeline.js'
import { countPartitions, type CountedPartitions } from '../../../src/sightings/count-partitions.js'
import { countedKey, countedValue } from '../../../src/sightings/count-record.js'
import type { SightingCounts } from '../../../src/sightings/sighting-counts.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'

const now = (): number => 20_000 * 86_400_000
const input = { topic: 'firewall', partition: 3 }
const topic = { topic: 'sightings', partitions: 2 }
const indicator = { type: 'ip', value: '203.0.113.7' } as const

const judged: readonly Judged[] = [
  {
    sighting: { ...indicator, field: 'dest_ip', role: 'destination', evidence: 'field' },
    decision: { decision: 'lookup', ask: indicator },
    verdict: { level: 'unknown', reason: 'not_listed', flags: {}, because: '' },
  },
]
const event = { origin: '', time: now(), judged } as unknown as EventOut
const counted = (): CountedPartitions => countPartitions({ seed: 1, judge: () => expect.fail('nothing is judged') })

const never = <Value>(): Promise<Value> => new Promise(() => undefined)
const assigned: Assigned = { ...input, generation: 1, seek: () => undefined, proveMembership: never }

const retro: Counting['retro'] = {
  version: () => 0,
  committed: () => undefined,
  feedsChanged: () => undefined,
  answered: () => undefined,
  idle: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

const open = (feeds = (): string => 'then'): Sightings =>
  countSightings({
    open: () => ({ counts: counted(), retro, feeds }),
    alertsTopic: { topic: 'alerts', partitions: 1 },
    write: () => Promise.resolve('written'),
    keep: {
      topic,
      // The former counts are not known yet.
      claim: never,
      connect: () => expect.fail('nothing is read'),
      admin: undefined as never,
      groupId: 'group',
      reachableMs: now,
      pipeline: () => expect.fail('nothing is annotated'),
    },
    emit: () => undefined,
    now,
  })

const deliver = (sightings: Sightings, ...offsets: readonly number[]): { chunk: ChunkSightings; keys: string[] } => {
  const chunk = sightings.chunk(input)
  for (const offset of offsets) chunk.see(offset, event)
  return { chunk, keys: chunk.records().map(({ key, partition }) => `${partition} ${String(key)}`) }
}

describe('where counting begins', () => {
  it('is written with the first events after a join, until some are committed', async () => {
    const sightings = open()
    sightings.joined([assigned], false)
    expect(deliver(sightings, 8, 7).keys).toEqual(['1 firewall/3/began/7'])
    const again = deliver(sightings, 7, 8)
    expect(again.keys).toEqual(['1 firewall/3/began/7'])
    again.chunk.committed()
    expect(deliver(sightings, 9).keys).toEqual([])
    sightings.joined([assigned], false)
    expect(deliver(sightings, 10).keys).toEqual(['1 firewall/3/began/10'])
    await sightings.close()
  })

  it('is written again when other feeds judge', async () => {
    let feeds = 'then'
    const sightings = open(() => feeds)
    sightings.joined([assigned], false)
    deliver(sightings, 7).chunk.committed()
    const onItsWay = deliver(sightings, 8)
    feeds = 'now'
    expect(onItsWay.keys).toEqual([])
    onItsWay.chunk.committed()
    const next = deliver(sightings, 9)
    expect(next.keys).toEqual(['1 firewall/3/began/9'])
    next.chunk.committed()
    expect(deliver(sightings, 10).keys).toEqual([])
    await sightings.close()
  })

  type Log = readonly (readonly [key: string, offset: number, feeds?: string])[]
  const restored = async (log: Log, shown = event): Promise<readonly [again: number, past: SightingCounts]> => {
    const past = counted().apart()
    const record = (offset: number, more: Partial<Outgoing>): WireRecord =>
      ({ offset: String(offset), timestamp: String(now()), headers: [], value: null, ...more }) as unknown as WireRecord
    const logs: Readonly<Record<string, readonly WireRecord[]>> = {
      sightings: log.map(([key, offset, feeds = 'now'], place) =>
        record(place, { key: Buffer.from(key), value: countedValue({ offset, feeds }) }),
      ),
      firewall: Array.from({ length: 40 }, (_, offset) => record(offset, { key: null, value: Buffer.from('{}') })),
    }
    const fetch = (name: string, _partition: number, from: number): Promise<Fetch> => {
      const records = logs[name]?.slice(from, from + 7) ?? []
      return Promise.resolve({ records, next: from + records.length, deleted: 0 })
    }
    const pipeline: Pipeline = (events, use) => {
      events.forEach((_, nth) => use(shown, nth))
      return true
    }
    const again = await restoreCounts({
      reader: { fetch, offsetsAt: () => Promise.resolve(new Map()) },
      topic,
      input,
      end: log.length,
      committed: () => Promise.resolve(31),
      pipeline,
      feeds: () => 'now',
      past,
      goesOn: () => true,
      now,
    })
    return [again, past]
  }
  const restore = async (log: Log): Promise<readonly [number, number]> => {
    const [again, past] = await restored(log)
    return [again, past.seen(indicator)?.count ?? 0]
  }

  it('decides whether an event that is listed now was delivered as listed', async () => {
    const verdict = { level: 'malicious', flags: {}, because: 'listed', feed: 'x' } as const
    const listed = { ...event, judged: event.judged.map((one) => ({ ...one, verdict })) }
    const isUnalerted = async (log: Log): Promise<boolean> =>
      (await restored(log, listed))[1].unalertedOf(indicator) !== undefined
    expect(await isUnalerted([['firewall/3/began/0', 0, 'now']])).toBe(false)
    expect(await isUnalerted([['firewall/3/began/0', 0, 'then']])).toBe(true)
    const counted = [countedKey('firewall/3'), 20, 'then'] as const
    expect(await isUnalerted([['firewall/3/began/0', 0, 'now'], counted])).toBe(true)
    expect(await isUnalerted([counted, ['firewall/3/began/20', 20, 'now']])).toBe(false)
  })

  it('is where events are read again from, if counts were never written', async () => {
    expect(await restore([])).toEqual([0, 0])
    expect(await restore([['firewall/3/began/0', 0]])).toEqual([31, 31])
    // The second owner was killed as soon as the first.
    const two = [
      ['firewall/3/began/12', 12],
      ['firewall/3/began/20', 20],
      ['firewall/31/began/0', 0],
    ] as const
    expect(await restore(two)).toEqual([19, 19])
  })

  it('does not matter once counts were written', async () => {
    expect(
      await restore([
        ['firewall/3/began/0', 0],
        [countedKey('firewall/3'), 25],
        ['firewall/3/began/27', 27],
      ]),
    ).toEqual([6, 6])
  })
})

it('a retro alert that cannot be written because the partition cannot be claimed is written later', async () => {
  const told: TelemetryEvent[] = []
  let writeAlerts: Parameters<OpenCounting>[0] | undefined
  const answers = [
    () => Promise.reject(new Error('no longer a member since')),
    () => Promise.resolve('written' as const),
  ]
  const sightings = countSightings({
    open: (write) => {
      writeAlerts = write
      return { counts: counted(), retro, feeds: () => '' }
    },
    alertsTopic: { topic: 'alerts', partitions: 1 },
    write: () => answers.shift()?.() ?? expect.fail('two are enough'),
    emit: (one) => void told.push(one),
    now,
  })
  const alert = { key: 'k', value: Buffer.from('{}') }
  expect(await writeAlerts?.('firewall/3', [alert], [])).toBe('not_written')
  expect(told).toEqual([
    { event: 'kafka_client_warned', about: 'retro alerts of firewall/3', message: 'no longer a member since' },
  ])
  expect(await writeAlerts?.('firewall/3', [alert], [])).toBe('written')
  await sightings.close()
})

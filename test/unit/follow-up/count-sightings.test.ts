// Counting sightings: where the counts of a partition begin is known before they are written for the first time, and no retro alert is lost.
import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/domain/finding.js'
import type { Judged } from '../../../src/domain/verdict.js'
import { countSightings, type Counting } from '../../../src/follow-up/count-sightings.js'
import type { Fetch } from '../../../src/kafka/topic-reader.js'
import { blockValue } from '../../../src/follow-up/sightings-topic.js'
import type { StateKind } from '../../../src/follow-up/state-record.js'
import { restoreCounts } from '../../../src/follow-up/restore-counts.js'
import type { WireRecord } from '../../../src/kafka/wire/record.js'
import type { EventOut, Pipeline } from '../../../src/pipeline/pipeline.js'
import { dayMs } from '../../../src/follow-up/seen.js'
import { countPartitions, type CountedPartitions } from '../../../src/follow-up/count-partitions.js'
import { accusedValue, countId, countValue, offsetValue, readAccused } from '../../../src/follow-up/count-record.js'
import type { SightingCounts } from '../../../src/follow-up/sighting-counts.js'
import type { Outgoing } from '../../../src/kafka/records.js'
import { testState } from '../../support/state.js'
import { testTask } from '../../support/task.js'
import type { ChunkListener, PartitionState } from '../../../src/delivery/listener.js'

const now = (): number => 20_000 * 86_400_000
const input = { topic: 'firewall', partition: 3, name: 'firewall/3' }
const indicator = { type: 'ip', value: '203.0.113.7' } as const

const judged: readonly Judged[] = [
  {
    sighting: { ...indicator, field: 'dest_ip', role: 'destination', evidence: 'field' },
    decision: { decision: 'lookup', ask: indicator },
    verdict: { level: 'unknown', reason: 'not_listed', flags: {}, because: '' },
  },
]
const summary = { direction: 'outbound', action: 'allowed' }
const event = { origin: '', time: now(), judged, summary } as unknown as EventOut
const counted = (): CountedPartitions => countPartitions({ seed: 1, judge: () => expect.fail('nothing is judged') })

const listed: EventOut = {
  ...event,
  judged: event.judged.map((one) => ({
    ...one,
    verdict: { level: 'malicious', flags: {}, because: 'listed', feed: 'x' },
  })),
}
const never = <Value>(): Promise<Value> => new Promise(() => undefined)
/** Its former counts are not known yet. */
const unclaimed = (): ReturnType<typeof testTask> => testTask({ ...input, claim: never })

const retro: Counting['retro'] = {
  version: () => 0,
  committed: () => undefined,
  feedsChanged: () => undefined,
  restored: () => undefined,
  answered: () => undefined,
  idle: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

const notAnnotated: Pipeline = () => expect.fail('nothing is annotated')

const open = (): ReturnType<typeof countSightings> =>
  countSightings({
    counting: { counts: counted(), known: notAnnotated, isInside: () => true, retro, start: () => undefined },
    alertsTopic: { topic: 'alerts', partitions: 1 },
    keep: { groupId: 'group', reachableMs: now, pipeline: notAnnotated },
    emit: () => undefined,
    now,
  })

/** With the state of a partition that is not claimed yet. */
const openUnclaimed = (sightings: ReturnType<typeof countSightings>): ReturnType<typeof sightings.open> => {
  const task = unclaimed()
  return sightings.open(task, testState(task, [], { partitions: 2, now }))
}

const deliver = (state: PartitionState, ...offsets: readonly number[]): { chunk: ChunkListener; keys: string[] } => {
  const chunk = state.chunk()
  for (const offset of offsets) chunk.see(offset, event)
  return { chunk, keys: chunk.records([]).map(({ key, partition }) => `${partition} ${String(key)}`) }
}

describe('where counting begins', () => {
  it('is written with the first events of a task, until some are committed', async () => {
    const sightings = open()
    const state = openUnclaimed(sightings)
    expect(deliver(state, 8, 7).keys).toEqual(['1 v2/group/firewall/3/began/7'])
    const again = deliver(state, 7, 8)
    expect(again.keys).toEqual(['1 v2/group/firewall/3/began/7'])
    again.chunk.committed()
    expect(deliver(state, 9).keys).toEqual([])
    await state.close()
    expect(deliver(openUnclaimed(sightings), 10).keys).toEqual(['1 v2/group/firewall/3/began/10'])
    await sightings.close()
  })

  it('what a chunk accuses is written with it', async () => {
    const sightings = open()
    const chunk = openUnclaimed(sightings).chunk()
    chunk.see(8, listed)
    chunk.see(7, event)
    const [record] = chunk.records([])
    expect(String(record?.key)).toBe('v2/group/firewall/3/accused/7')
    expect(readAccused(record?.value ?? expect.fail())).toEqual([{ offset: 8, values: [indicator.value] }])
    await sightings.close()
  })

  it('what late answers accuse is written with what follows them, beside what chunks accuse', async () => {
    const sightings = open()
    const { late } = openUnclaimed(sightings)
    const annotated = [event, listed].map(({ judged: shown }, nth) => ({ offset: 7 + nth, time: now(), judged: shown }))
    const [record, ...others] = late.records(annotated)
    expect([String(record?.key), others]).toEqual([`v2/group/firewall/3/accused/late/8/${now()}`, []])
    expect(readAccused(record?.value ?? expect.fail())).toEqual([{ offset: 8, values: [indicator.value] }])
    expect(late.records(annotated.slice(0, 1))).toEqual([])
    await sightings.close()
  })

  let refused = 0
  type Log = readonly (readonly [kind: StateKind, id: string, value: number | Buffer])[]
  const restored = async (
    log: Log,
    shown = event,
    asked = shown,
  ): Promise<readonly [again: number, past: SightingCounts]> => {
    const past = counted().separate()
    const record = (offset: number, more: Partial<Outgoing>): WireRecord =>
      ({ offset: String(offset), timestamp: String(now()), headers: [], value: null, ...more }) as unknown as WireRecord
    const logs: Readonly<Record<string, readonly WireRecord[]>> = {
      firewall: Array.from({ length: 40 }, (_, offset) => record(offset, { key: null, value: Buffer.from('{}') })),
    }
    const fetch = (name: string, _partition: number, from: number): Promise<Fetch> => {
      const records = logs[name]?.slice(from, from + 7) ?? []
      return Promise.resolve({ records, next: from + records.length, deleted: 0 })
    }
    const shows =
      (one: EventOut): Pipeline =>
      (events, use) => {
        events.forEach((_, nth) => use(one, nth))
        return true
      }
    const { apply, end } = await restoreCounts({
      reader: { fetch, offsetsAt: () => Promise.resolve(new Map()), writtenEnd: () => Promise.resolve(40) },
      input,
      committed: () => Promise.resolve(31),
      pipeline: shows(asked),
      known: shows(shown),
      accusing: new Map(),
      past,
      isInside: (host) => host.startsWith('10.'),
      goesOn: () => true,
      now,
    })
    for (const [kind, id, given] of log) {
      const value = typeof given === 'number' ? offsetValue(given) : given
      if (!apply({ ...input, kind, id, value, at: now(), version: 2 })) refused++
    }
    const again = await end()
    return [again, past]
  }
  const restore = async (log: Log): Promise<readonly [number, number]> => {
    const [again, past] = await restored(log)
    return [again, past.seen(indicator)?.count ?? 0]
  }

  it('what a late answer accused when its event had left is known again as that', async () => {
    const began: Log = [['began', '0', 0]]
    const late = (offset: number): Log[number] => [
      'accused',
      `late/${offset}/99`,
      accusedValue([{ offset, values: [indicator.value] }]),
    ]
    const [, some] = await restored([...began, ...Array.from({ length: 30 }, (_, offset) => late(offset))])
    expect(some.unalertedOf(indicator)).toBeDefined()
    const [, all] = await restored([...began, ...Array.from({ length: 31 }, (_, offset) => late(offset))])
    expect([all.unalertedOf(indicator), refused]).toEqual([undefined, 0])
  })

  it.each([
    ['is awaited still while its event is noted', [7], [], []],
    ['was answered, by whom nobody knows, when none of its events is', [3, 12], [], [indicator.value]],
    ['was called malicious if an alert has said so', [], [indicator.value], []],
  ])('what was counted as pending %s', async (_, offsets, told, unalerted) => {
    const row = { day: now() / dayMs, indicator, count: 2, first: 0, last: 0, firstOffset: 5, lastOffset: 9 }
    const marks = { peers: [], otherSightings: 0, unalerted: 0, pending: 2, traffic: 1, kinds: 1 }
    const id = { id: '0/0', notes: offsets.map((offset) => ({ offset, fired: [] })) }
    const [, past] = await restored([
      ['count', countId(row), countValue({ ...row, ...marks })],
      ['counted', '', 31],
      ...(offsets.length > 0 ? [['pending', id.id, blockValue(id) ?? 0] as const] : []),
      ['accused', 'late/9/99', accusedValue([{ offset: 9, values: told }])],
    ])
    expect([...past.unalerted(false)].map((one) => one.indicator.value)).toEqual(unalerted)
    expect([...past.unalerted(true)].length).toBe(unalerted.length + (offsets[0] === 7 ? 1 : 0))
  })

  it.each([
    ['is listed now and was not when it was delivered', listed, [], true],
    ['was listed when it was delivered', listed, [indicator.value], false],
    ['was listed when it was delivered and is not any more', event, [indicator.value], false],
    ['was listed with too many others to name', listed, ['*'], false],
    ['is not listed, then as now', event, ['192.0.2.99'], true],
  ])('an event that %s is known again as that', async (_, shown, values, isUnalerted) => {
    const accused = Array.from({ length: 31 }, (_one, offset) => ({ offset, values }))
    const [, past] = await restored(
      [
        ['began', '0', 0],
        ['accused', '0', accusedValue(accused)],
      ],
      shown,
    )
    expect(past.unalertedOf(indicator) !== undefined).toBe(isUnalerted)
  })

  it('an event that waits for an answer is not unalerted, and one that nobody waits for is', async () => {
    const notes = Array.from({ length: 28 }, (_, nth) => ({ offset: 3 + nth, fired: [] }))
    const value = blockValue({ id: '3/1', notes })
    const asked = { ...event, judged: event.judged.map((one) => ({ ...one, late: never<Finding>() })) }
    const isUnalerted = async (log: Log): Promise<boolean> =>
      (await restored([['counted', '', 3], ...log], event, asked))[1].unalertedOf(indicator) !== undefined
    expect(await isUnalerted([])).toBe(true)
    expect(await isUnalerted([['pending', '3/1', value ?? expect.fail()]])).toBe(false)
  })

  it('is where events are read again from, if counts were never written', async () => {
    expect(await restore([])).toEqual([0, 0])
    expect(await restore([['began', '0', 0]])).toEqual([31, 31])
    // The second owner was killed as soon as the first.
    const two = [
      ['began', '12', 12],
      ['began', '20', 20],
    ] as const
    expect(await restore(two)).toEqual([19, 19])
  })

  it('is not believed from who writes what no owner can have written, and that is told', async () => {
    const row = (over: object): Log[number] => {
      const seen = {
        ...{ day: 20_000, indicator, count: 2, first: 0, last: 5, firstOffset: 1, lastOffset: 2 },
        ...{
          peers: ['10.0.0.1', '198.51.100.9'],
          otherSightings: 0,
          unalerted: 1,
          pending: 0,
          traffic: 1,
          kinds: 1,
          ...over,
        },
      }
      return ['count', countId(seen), countValue(seen)]
    }
    const own = ['counted', '', 31] as const
    const [, past] = await restored([row({}), own])
    expect(past.seen(indicator)).toMatchObject({ count: 2, peers: ['10.0.0.1'] })
    for (const forged of [
      // The input ends at 40.
      row({ count: 300_000, lastOffset: 40 }),
      row({ count: 4_000_000_000, firstOffset: 0, lastOffset: 39 }),
      row({ day: 20_002 }),
      ['accused', 'x', accusedValue([{ offset: 1, values: [indicator.value] }])] as const,
      ['count', 'anything', 1] as const,
    ]) {
      refused = 0
      const [, withForged] = await restored([forged, own])
      expect([forged[1], withForged.seen(indicator), refused]).toEqual([forged[1], undefined, 1])
    }
    refused = 0
    // Nothing would be counted again.
    expect(
      await restore([
        ['began', '20', 20],
        ['counted', '', 9_000_000],
      ]),
    ).toEqual([11, 11])
    expect(refused).toBe(1)
  })

  it('does not matter once counts were written', async () => {
    expect(
      await restore([
        ['began', '0', 0],
        ['counted', '', 25],
        ['began', '27', 27],
      ]),
    ).toEqual([6, 6])
  })
})

it('the note of a retro alert is taken back where the partition is lost before it is written', async () => {
  const counts = counted()
  const sightings = countSightings({
    counting: { counts, known: notAnnotated, isInside: () => true, retro, start: () => undefined },
    alertsTopic: { topic: 'alerts', partitions: 1 },
    emit: () => undefined,
    now,
  })
  const state = sightings.open(
    testTask({
      ...input,
      write: (compose) => {
        // The first attempt fails.
        expect([compose(), compose()].map((records) => records.length)).toEqual([1, 1])
        return Promise.resolve('closed')
      },
    }),
    undefined,
  )
  deliver(state, 1).chunk.committed()
  const [partition] = counts.all()
  const alert = { key: 'k', value: Buffer.from('{}') }
  expect(await partition?.writeAlerts([alert], [indicator])).toBe('closed')
  expect(partition?.counts().unalertedOf(indicator)).toBeDefined()
  await sightings.close()
})

// The ranges of a replay, and what of an earlier start counts.
import { describe, expect, it } from 'vitest'
import { keepPlan, makePlan, type KeepRanges, type Plan, type PlanRequest } from '../../../src/replay/plan.js'
import { emptyTally } from '../../../src/replay/tally.js'
import type { Position, TopicReader } from '../../../src/kafka/topic-reader.js'

const request: PlanRequest = {
  topic: 'fw',
  from: { kind: 'earliest' },
  to: { kind: 'now' },
  partition: undefined,
  output: 'fw-again',
  groupId: 'replay-1',
}

type Scene = { readonly reader: TopicReader; readonly topic: { id: string; end: number } }

const scene = (): Scene => {
  const topic = { id: 'a'.repeat(32), end: 500 }
  const groups = new Map<string, readonly Position[]>()
  const reader: TopicReader = {
    partitionsOf: () => Promise.resolve([0]),
    topicIdOf: () => Promise.resolve(topic.id),
    offsetsAt: (_topic, at) => Promise.resolve(new Map([[0, at === 'latest' ? topic.end : 0]])),
    writtenEnd: () => Promise.resolve(topic.end),
    fetch: () => Promise.reject(new Error('nothing is read here')),
    committed: (group) => Promise.resolve(groups.get(group) ?? []),
    settled: () => Promise.reject(new Error('a plan claims nothing')),
    commit: (group, _topic, positions) => {
      groups.set(group, positions)
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
  return { reader, topic }
}

const keepIn =
  ({ commit }: TopicReader): KeepRanges =>
  (ranges) =>
    commit(
      'replay-1-range',
      'fw',
      ranges.map(({ note, ...at }) => ({ ...at, metadata: JSON.stringify(note) })),
    )

/** A first start, which came to an offset. */
const startOnce = async ({ reader, topic }: Scene, offset: number): Promise<void> => {
  const plan = (await makePlan(reader, request)) as Plan
  await keepPlan(reader, request, plan, keepIn(reader))
  const metadata = JSON.stringify({ ...emptyTally, events: offset, topic_id: topic.id })
  await reader.commit(request.groupId, 'fw', [{ partition: 0, offset, metadata }])
}

describe('a replay that is started again with the same id', () => {
  it('goes on where it was, in the range of the first start', async () => {
    const at = scene()
    await startOnce(at, 300)
    at.topic.end = 900
    expect(await makePlan(at.reader, request)).toMatchObject({
      isResumed: true,
      ranges: [{ start: 0, end: 500 }],
      reached: new Map([[0, { position: 300, tally: { events: 300 } }]]),
    })
  })

  it('takes nothing from a start on a former topic of the same name', async () => {
    const at = scene()
    await startOnce(at, 300)
    at.topic.id = 'b'.repeat(32)
    at.topic.end = 900
    expect(await makePlan(at.reader, request)).toMatchObject({
      topicId: at.topic.id,
      isResumed: false,
      ranges: [{ start: 0, end: 900 }],
      reached: new Map(),
    })
  })

  it('keeps no range if another start has kept one since its own was resolved', async () => {
    const at = scene()
    const slow = (await makePlan(at.reader, request)) as Plan
    at.topic.end = 900
    await startOnce(at, 900)
    expect(await keepPlan(at.reader, request, slow, keepIn(at.reader))).toBe(false)
    expect(await makePlan(at.reader, request)).toMatchObject({ ranges: [{ end: 900 }] })
  })

  it('keeps its range where that of a former topic was kept', async () => {
    const at = scene()
    await startOnce(at, 300)
    at.topic.id = 'b'.repeat(32)
    at.topic.end = 900
    await startOnce(at, 0)
    expect(await makePlan(at.reader, request)).toMatchObject({ isResumed: true, ranges: [{ end: 900 }] })
  })
})

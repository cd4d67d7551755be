// The plan of a replay: per partition the offsets between its two edges, resolved once.
import { isOfFormerTopic } from '../kafka/commit-metadata.js'
import type { Edge } from '../kafka/edge.js'
import type { Position, TopicReader } from '../kafka/topic-reader.js'
import { decodeTally, type Tally } from './tally.js'

export type ReplayRange = {
  readonly partition: number
  /** The first offset, and the end, exclusive. */
  readonly start: number
  readonly end: number
}

export type Plan = {
  readonly groupId: string
  /** Id of the topic that the offsets belong to; undefined if the brokers have no topic ids. */
  readonly topicId: string | undefined
  readonly ranges: readonly ReplayRange[]
  /** Whether an earlier start with the same id resolved the ranges. Their ends stay fixed. */
  readonly isResumed: boolean
  /** Per partition the position to continue at, and the counts up to there. */
  readonly reached: ReadonlyMap<number, { readonly position: number; readonly tally: Tally }>
}

export type PlanRequest = {
  readonly topic: string
  readonly from: Edge
  readonly to: Edge
  readonly partition: number | undefined
  readonly output: string
  readonly groupId: string
}

/** Stored with the end of a range. */
type Note = { readonly start: number; readonly output: string; readonly topic_id?: string | undefined }

/** The group whose offsets are the range ends, so that a resumed replay ends where the first start would have. */
export const rangeGroup = (groupId: string): string => `${groupId}-range`

export const makePlan = async (
  reader: TopicReader,
  request: PlanRequest,
): Promise<Plan | { readonly refused: string }> => {
  const { topic, partition, groupId, output } = request
  const all = await reader.partitionsOf(topic)
  if (partition !== undefined && !all.includes(partition))
    return { refused: `topic ${topic} has no partition ${partition}; it has ${all.length}` }
  // Ask for the id first: later reads then refer to this topic or to a newer one.
  const topicId = await reader.topicIdOf(topic)
  /** Ignores positions left by a replay of a former topic with the same name. */
  const committed = async (group: string): Promise<readonly Position[]> =>
    (await reader.committed(group, topic)).filter(({ metadata }) => !isOfFormerTopic(metadata, topicId))
  const before = await committed(rangeGroup(groupId))
  if (before.length === 0) {
    const [first, last] = [await reader.offsetsAt(topic, 'earliest'), await reader.offsetsAt(topic, 'latest')]
    const [starts, ends] = [
      await edgeOffsets(reader, topic, request.from),
      await edgeOffsets(reader, topic, request.to),
    ]
    const ranges = (partition === undefined ? all : [partition]).map((number) => {
      const low = first.get(number) ?? 0
      const high = last.get(number) ?? 0
      const within = (offset: number | undefined): number =>
        Math.min(high, Math.max(low, offset === undefined || offset < 0 ? high : offset))
      const start = within(starts.get(number))
      return { partition: number, start, end: Math.max(start, within(ends.get(number))) }
    })
    return { groupId, topicId, ranges, isResumed: false, reached: new Map() }
  }
  const notes = before.map(({ partition: number, offset, metadata }) => ({ number, offset, note: readNote(metadata) }))
  const elsewhere = notes.find(({ note }) => note.output !== output)
  if (elsewhere)
    return {
      refused: `this id was started with --output ${elsewhere.note.output}; use that, or another --id`,
    }
  const reached = await committed(groupId)
  return {
    groupId,
    topicId,
    ranges: notes.map(({ number, offset, note }) => ({ partition: number, start: note.start, end: offset })),
    isResumed: true,
    reached: new Map(
      reached.map(({ partition: number, offset, metadata }) => [
        number,
        { position: offset, tally: decodeTally(metadata) },
      ]),
    ),
  }
}

type KeptRange = { readonly partition: number; readonly offset: number; readonly note: Note }

export type KeepRanges = (ranges: readonly KeptRange[]) => Promise<void>

/**
 * False if another start with the same id has stored other ranges since these were resolved: stored ranges stay fixed. `keep` should fail
 * if another start has claimed the ranges since; without transactions the last one wins.
 */
export const keepPlan = async (
  { committed }: Pick<TopicReader, 'committed'>,
  { topic, output }: PlanRequest,
  plan: Plan,
  keep: KeepRanges,
): Promise<boolean> => {
  const kept = await committed(rangeGroup(plan.groupId), topic)
  const endOf = new Map(plan.ranges.map(({ partition, end }) => [partition, end]))
  const isOther = ({ partition, offset, metadata }: Position): boolean =>
    !isOfFormerTopic(metadata, plan.topicId) && endOf.get(partition) !== offset
  if (kept.some(isOther)) return false
  await keep(
    plan.ranges.map(({ partition, start, end }) => ({
      partition,
      offset: end,
      note: { start, output, topic_id: plan.topicId },
    })),
  )
  return true
}

const edgeOffsets = async (reader: TopicReader, topic: string, edge: Edge): Promise<ReadonlyMap<number, number>> => {
  if (edge.kind === 'offset')
    return new Map((await reader.partitionsOf(topic)).map((partition) => [partition, edge.offset]))
  return reader.offsetsAt(topic, edge.kind === 'time' ? edge.time : edge.kind === 'now' ? 'latest' : 'earliest')
}

const readNote = (metadata: string): Note => {
  try {
    const { start, output } = JSON.parse(metadata) as Partial<Note>
    return { start: Number(start), output: String(output) }
  } catch {
    return { start: 0, output: '' }
  }
}

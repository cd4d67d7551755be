// Checks a replay next to a run against the promises of docs/replay.md.
import {
  beginCheck,
  copiesIn,
  eventsOf,
  groupBy,
  isIntact,
  placeOf,
  type AlertValue,
  type Annotation,
  type Checked,
  type Copy,
  type Expect,
  type Expected,
  type Happened,
  type ReadRecord,
} from './checks.js'
import { replayId, type ReplaySeen } from './replay-process.js'
import { isListedIn, maliciousAtProvider, type Act } from './scenario.js'

export type ReplayHappened = ReplaySeen & {
  readonly output: readonly ReadRecord[]
  readonly alerts: readonly ReadRecord[]
}

/** An input of the replay: an event, or a tombstone, which is identified by its key. */
type Source = { readonly id: string; readonly where: string; readonly partition: number; readonly offset: number }

export const checkReplay = (happened: Happened): Checked => {
  const { broken, atStake, expect } = beginCheck()
  const { replay } = happened
  if (replay) {
    checkEnds(replay, happened, expect)
    expect(complete, replay.completed !== undefined, () => 'it did not come to its end')
    expect(
      complete,
      // Brokers may remove the range with the offsets of the former topic before its transaction ends.
      replay.isForgotten ||
        replay.completed?.topicIds.some(
          (id) => id === undefined || replay.kept.some(({ topicId }) => topicId === id),
        ) !== false,
      () => 'it called itself complete in another topic than the one of its range',
    )
    for (const what of replay.premature) expect(complete, false, () => what)
    const copies = replay.output.flatMap(copiesIn)
    checkReach(replay, happened, copies, expect)
    if (replay.of === 'input') checkEvents(replay, happened, copies, expect)
    else checkPending(replay, happened, expect)
  }
  return { broken, atStake }
}

const complete = 'a replay is complete'
const once = 'a replay writes nothing twice'

const idOf = ({ n }: Copy): string => String(n)

/**
 * Whether the replay starts again because the topic was recreated, or because its stored range was removed with the offsets of the former
 * topic. Earlier output remains. A broker may still have known the former topic at the start; the stored range shows that.
 */
const isAnew = ({ starts, kept, topicId, isForgotten }: ReplayHappened): boolean =>
  isForgotten || [...starts, ...kept].some((one) => one.topicId !== topicId)

/** Everything in the range comes out in order, and nothing after it; with transactions exactly once. */
const checkReach = (replay: ReplayHappened, happened: Happened, copies: readonly Copy[], expect: Expect): void => {
  const { scenario } = happened
  const sources = sourcesOf(replay, happened)
  const tombstones = replay.output.filter(({ value }) => value === undefined)
  const written = groupBy([...copies.map(idOf), ...tombstones.map(({ key }) => `key ${key ?? ''}`)], (id) => id)
  const last = replay.kept.at(-1)
  const first = replay.starts.find(({ topicId }) => topicId === replay.topicId)
  // It may have read a former topic that a broker still knew.
  const isOfThis = last !== undefined && last.topicId === replay.topicId
  /** By input: the required and the allowed number of outputs. */
  const counts = new Map<string, { must: number; may: number; where: string }>()
  for (const { id, where, partition, offset } of sources) {
    const edge = first?.edges.get(partition)
    // A broker may not know an added partition yet.
    const isOld = replay.of === 'output' || partition < scenario.partitions
    const isMust = isOfThis && isOld && edge !== undefined && offset >= edge.start && offset < edge.end
    const end = replay.kept.findLast((one) => one.topicId === replay.topicId && one.partition === partition)?.end ?? 0
    const before = counts.get(id) ?? { must: 0, may: 0, where }
    counts.set(id, { must: before.must + Number(isMust), may: before.may + Number(offset < end), where })
  }
  for (const [id, { must, may, where }] of counts) {
    const found = written.get(id)?.length ?? 0
    if (must > 0 && replay.completed)
      expect(complete, found >= must, () => `${id} at ${where} came out ${found} times, not ${must}`)
    if (isAnew(replay)) continue
    if (may === 0) expect(complete, found === 0, () => `${id} at ${where} came out, from behind the range`)
    else if (scenario.delivery === 'exactly-once')
      expect(once, found <= may, () => `${id} at ${where} came out ${found} times, not ${may}`)
  }
  if (isAnew(replay)) return
  const total = copies.length + tombstones.length
  if (scenario.delivery === 'exactly-once' && replay.completed)
    expect(once, replay.completed.events === total, () => `${replay.completed?.events ?? 0} counted of ${total}`)
  checkEdges(replay, happened, expect)
  checkOrder(replay, happened, sources, expect)
}

/** Ranges are resolved once, but two processes that start at the same time may both do it. */
const checkEdges = ({ kept }: ReplayHappened, { done }: Happened, expect: Expect): void => {
  if (done.includes('replay_second')) return
  for (const [partition, ranges] of groupBy(kept, (one) => one.partition)) {
    const ends = new Set(ranges.map(({ end }) => end))
    expect(complete, ends.size === 1, () => `the range of partition ${partition} ended at ${[...ends].join(', then ')}`)
  }
}

const sourcesOf = ({ of }: ReplayHappened, happened: Happened): readonly Source[] => {
  if (of === 'output')
    return happened.output.filter(isPending).flatMap((record) =>
      copiesIn(record).map((copy) => ({
        id: idOf(copy),
        where: `output/${record.partition}/${record.offset}`,
        partition: record.partition,
        offset: record.offset,
      })),
    )
  const { topics, logStart } = happened
  const isThere = ({ placed }: Pick<Expected, 'placed'>): boolean =>
    placed.topicNumber === topics - 1 && placed.offset >= (logStart.get(placed.partition) ?? 0)
  const events = eventsOf(happened)
    .filter(isThere)
    .map((event) => ({ ...event.placed, id: String(event.n), where: placeOf(event) }))
  const tombstones = happened.input
    .filter((placed) => placed.record.kind === 'tombstone' && isThere({ placed }))
    .map((placed) => ({ ...placed, id: `key ${placed.key ?? ''}`, where: `${placed.partition}/${placed.offset}` }))
  return [...events, ...tombstones]
}

/** First occurrences follow the order of the partition that was read; with order by key, the order of the key within it. */
const checkOrder = (
  { output }: ReplayHappened,
  { scenario }: Happened,
  sources: readonly Source[],
  expect: Expect,
): void => {
  const places = new Map<string, Source>()
  for (const source of sources) {
    const known = places.get(source.id)
    if (!known || source.offset < known.offset) places.set(source.id, source)
  }
  const seen = new Set<string>()
  const last = new Map<string, Source>()
  for (const record of output.toSorted((one, other) => one.offset - other.offset)) {
    const ids = record.value === undefined ? [`key ${record.key ?? ''}`] : copiesIn(record).map(idOf)
    for (const id of ids) {
      const source = places.get(id)
      if (seen.has(id) || !source) continue
      seen.add(id)
      const key = scenario.partitionBy === 'key' ? (record.key ?? '') : ''
      const stream = `${record.partition} ${source.partition} ${key}`
      const before = last.get(stream)
      last.set(stream, source)
      expect(
        complete,
        !before || before.offset <= source.offset,
        () => `${id} at ${source.where} came out after ${before?.where ?? ''}`,
      )
    }
  }
}

type Written = Annotation & { readonly replay_id?: string; readonly enrichment_id?: string }

/** Checks bytes, annotations and alerts of events replayed from the input. */
const checkEvents = (replay: ReplayHappened, happened: Happened, copies: readonly Copy[], expect: Expect): void => {
  const { scenario, done } = happened
  const byNumber = new Map(eventsOf(happened).map((event) => [event.n, event]))
  const alerted = groupBy(
    replay.alerts.map(({ value = '' }) => (JSON.parse(value) as AlertValue).threatweave.origin ?? ''),
    (origin) => origin,
  )
  for (const { n, annotation, at } of copies) {
    const event = byNumber.get(n)
    expect(complete, event !== undefined, () => `event ${n} was never written, or aborted`)
    if (!event) continue
    const { placed, member, address = '' } = event
    const origin = `input/${placed.partition}/${placed.offset}${member >= 0 ? `#${member}` : ''}`
    const { replay_id: id, enrichment_id: of, verdict } = annotation as Written
    expect('bytes intact', isIntact(placed, at.value), () => `replayed event ${n}: ${at.value ?? 'null'}`)
    expect(complete, at.key === placed.key, () => `event ${n} has the key ${at.key ?? 'null'}`)
    expect(complete, id === replayId, () => `event ${n} has the replay_id ${id ?? ''}`)
    expect(complete, of === origin || isAnew(replay), () => `event ${n} at ${origin} has the enrichment_id ${of ?? ''}`)
    // A replay waits for every answer.
    const isKnown = maliciousAtProvider.has(address) && !done.includes('provider')
    if (isKnown || isListedIn(scenario, event, address))
      expect(complete, verdict === 'malicious', () => `event ${n} about ${address} is ${verdict ?? ''}`)
    if (verdict !== 'malicious' || isAnew(replay)) continue
    const alerts = alerted.get(origin)?.length ?? 0
    if (replay.completed) expect(complete, alerts > 0, () => `event ${n} at ${origin} raised no alert`)
    if (scenario.delivery === 'exactly-once')
      expect(once, alerts <= 1, () => `event ${n} at ${origin} raised ${alerts} alerts`)
  }
}

/** Replayed output differs from the pending original only in its annotation. */
const checkPending = (replay: ReplayHappened, happened: Happened, expect: Expect): void => {
  const originals = new Set(happened.output.map(({ value }) => withoutAnnotations(value)))
  for (const { value } of replay.output)
    expect('bytes intact', originals.has(withoutAnnotations(value)), () => `replayed: ${value ?? 'null'}`)
  for (const { n, annotation } of replay.output.flatMap(copiesIn))
    expect(complete, (annotation as Written).replay_id === replayId, () => `event ${n} has no replay_id`)
}

const withoutAnnotations = (value: string | undefined): string =>
  JSON.stringify(JSON.parse(value ?? 'null'), (key, inner: unknown) => (key === 'threatweave' ? undefined : inner))

type Full = Annotation & { readonly indicators?: readonly Annotation[] }

const isPending = (record: ReadRecord): boolean =>
  copiesIn(record).some(({ annotation }) => {
    const { indicators = [] } = annotation as Full
    return [annotation, ...indicators].some(({ reason }) => reason === 'pending' || reason === 'deadline')
  })

/** Faults that make connections or brokers unavailable. A replay tolerates seconds at its start and about a minute later. */
const outages: ReadonlySet<Act['kind']> = new Set([
  'broker_away',
  'coordinator_dies',
  'all_brokers_away',
  'rolling_restart',
  'replay_cut',
  'replay_pause',
  'lose_answer',
])

const checkEnds = ({ ends }: ReplayHappened, { done }: Happened, expect: Expect): void => {
  const isDocumented = (why: string): boolean => {
    if (why === '') return true
    if (why.includes('another process replays with the same --id')) return done.includes('replay_second')
    if (/^topic input does not exist/.test(why) || /was deleted and created again while it was replayed/.test(why))
      return done.includes('recreate_input')
    if (/^Kafka cannot be (used|read): |^\w+\/\d+ cannot be replayed: /.test(why))
      return done.some((kind) => outages.has(kind)) || done.includes('recreate_input')
    return false
  }
  for (const { process, how, why } of ends)
    expect(
      'ends only for a documented reason',
      how === 'returned' && isDocumented(why),
      () => `${process} ${how}: ${why}`,
    )
}

// The input topic of an execution: the written records and their offsets, including topics that are deleted and recreated.
import type { Cluster } from '../broker/cluster.js'
import { textOf, type PlacedRecord } from '../checks.js'
import { numbersOf } from '../event-numbers.js'
import type { InputRecord, Scenario, Wave } from '../scenario.js'
import { errors, type WireRecord } from '../wire.js'
import { below, type Random, type World } from '../world.js'

/** If a recreated topic grows past a worker's position within this time, the worker notices late, as docs/kafka.md explains. */
const unnoticedMs = 250

export type Input = {
  readonly records: readonly PlacedRecord[]
  /** How often the topic was recreated. */
  readonly topicNumber: () => number
  /** The records of the current topic. */
  readonly current: () => readonly PlacedRecord[]
  /** Whether the record still exists; records deleted with their topic or by retention need not come out. */
  readonly isLeft: (placed: PlacedRecord) => boolean
  readonly recreate: (events: number) => void
  readonly addPartition: () => void
}

type Parts = {
  readonly world: World
  readonly cluster: Cluster
  readonly random: Random
  readonly keepBusy: (ms: number) => void
}

export const createInput = (scenario: Scenario, { world, cluster, random, keepBusy }: Parts): Input => {
  const records: PlacedRecord[] = []
  let topicNumber = 0
  let noticedFromMs = 0
  let nextNumber = 1_000_000

  const write = (wave: Omit<Wave, 'atMs'>): void => {
    if (cluster.topicId('input') === undefined || world.ms < noticedFromMs) {
      world.after(500, () => write(wave))
      return
    }
    const placed = wave.records.map((record) => ({ record, key: keyOf(record), value: textOf(record) }))
    const base = append(cluster, wave, placed.map((one) => wireOf(one, world.now()))) // prettier-ignore
    if (wave.form === 'aborted') return
    for (const [nth, one] of placed.entries())
      records.push({ ...one, partition: wave.partition, offset: base + nth, topicNumber, atMs: world.ms })
  }

  const writeNew = (partition: number, count: number): void => {
    const events = Array.from({ length: count }, () => ({
      kind: 'event' as const,
      n: nextNumber++,
      address: `203.0.113.${1 + below(random, 40)}`,
    }))
    write({ partition, records: events, form: 'plain' })
  }

  /** Fails if a broker went down meanwhile; the operator then retries. */
  const create = (events: number): void => {
    if (cluster.createTopic('input', scenario.partitions, { replicationFactor: scenario.brokers }) !== errors.NONE) {
      keepBusy(2_000)
      world.after(1_000, () => create(events))
      return
    }
    topicNumber++
    noticedFromMs = world.ms + unnoticedMs
    for (let partition = 0; partition < scenario.partitions; partition++) writeNew(partition, events)
  }

  for (const wave of scenario.waves) world.after(wave.atMs, () => write(wave))
  return {
    records,
    topicNumber: () => topicNumber,
    current: () => records.filter((placed) => placed.topicNumber === topicNumber),
    isLeft: (placed) =>
      placed.topicNumber === topicNumber && placed.offset >= cluster.log('input', placed.partition).start,
    recreate: (events) => {
      cluster.deleteTopic('input')
      world.after(below(random, 3) === 0 ? 2_000 : 20, () => create(events))
    },
    addPartition: () => {
      const count = cluster.partitionCount('input')
      if (count === 0) return
      cluster.addPartitions('input', count + 1)
      writeNew(count, 12)
    },
  }
}

/** Whether all required records were acknowledged. */
export const isOut = ({ records, isLeft }: Input, acknowledged: ReadonlySet<string>): boolean =>
  records.every((placed) => !isLeft(placed) || numbersOf(placed).every((n) => acknowledged.has(n)))

const append = (
  cluster: Cluster,
  { partition, form }: Pick<Wave, 'partition' | 'form'>,
  records: readonly WireRecord[],
): number => {
  if (form === 'committed') return cluster.appendTransaction('input', partition, records, 'commit')
  if (form === 'aborted') return cluster.appendTransaction('input', partition, records, 'abort')
  return cluster.append('input', partition, records, form === 'gzip' ? { gzip: true } : {})
}

const wireOf = ({ key, value }: Pick<PlacedRecord, 'key' | 'value'>, timestamp: number): WireRecord => ({
  key: key === undefined ? null : Buffer.from(key),
  value: value === undefined ? null : Buffer.from(value),
  timestamp,
})

/** Some records have no key. */
const keyOf = (record: InputRecord): string | undefined => {
  if (record.kind === 'tombstone') return `t${record.n}`
  const n = record.kind === 'batch' ? (record.members[0]?.n ?? 0) : record.n
  return n % 7 === 0 ? undefined : `k${n % 5}`
}

// Reads the former verdicts of the events in a range from the topics that contain them, at four bytes per event.
import { levels } from '../domain/finding.js'
import type { FormerVerdict } from '../domain/verdict.js'
import type { ReadWritten } from '../pipeline/batch/read-written.js'
import type { ReplayRange } from './plan.js'
import { readUpTo, type TopicReader } from '../kafka/topic-reader.js'
import type { WireRecord } from '../kafka/wire/record.js'
import { annotationOf, worstOf } from './restore.js'

export type Former = (partition: number, offset: number) => FormerVerdict | undefined

const maxEvents = 125_000_000

export const readFormer = async (
  reader: Pick<TopicReader, 'fetch' | 'offsetsAt'>,
  about: { readonly topic: string; readonly ranges: readonly ReplayRange[]; readonly readWritten: ReadWritten },
  /** Read in order, so that a correction overrides the event that it corrects. */
  against: { readonly topics: readonly string[]; readonly fromTime: number | undefined },
  signal: AbortSignal,
): Promise<Former | { readonly refused: string }> => {
  const total = about.ranges.reduce((sum, { start, end }) => sum + end - start, 0)
  if (total > maxEvents) return { refused: `--against takes ranges of at most ${maxEvents} events, not ${total}` }
  const known = new Map(
    about.ranges.map((range) => [range.partition, { range, codes: new Uint32Array(range.end - range.start) }]),
  )
  const take = (record: WireRecord): void => {
    const { id, former } = annotationOf(record, about.readWritten)
    const origin = id === undefined || former === undefined ? undefined : splitOrigin(id)
    const place = origin?.topic === about.topic ? known.get(origin.partition) : undefined
    if (!origin || !place || !former) return
    const { range, codes } = place
    if (origin.offset < range.start || origin.offset >= range.end) return
    const at = origin.offset - range.start
    // The members of a split record are written one by one. The record gets the worst of their verdicts.
    const worst = origin.isMember ? (worstOf([verdictOf(codes[at]), former]) ?? former) : former
    codes[at] = worst.decidedBy * 8 + levels.indexOf(worst.level) + 1
  }
  for (const topic of against.topics) {
    const last = await reader.offsetsAt(topic, 'latest')
    const first = await reader.offsetsAt(topic, against.fromTime ?? 'earliest')
    for (const [partition, end] of last) {
      const found = first.get(partition) ?? 0
      const from = found < 0 ? end : found
      await readUpTo(reader, { topic, partition, from, end }, take, () => !signal.aborted)
    }
  }
  return (partition, offset) => {
    const place = known.get(partition)
    return verdictOf(place?.codes[offset - place.range.start])
  }
}

const verdictOf = (code = 0): FormerVerdict | undefined => {
  const level = levels[(code & 7) - 1]
  return level && { level, decidedBy: code >>> 3 }
}

type Origin = {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly isMember: boolean
}

const splitOrigin = (origin: string): Origin | undefined => {
  const found = /^([A-Za-z0-9._-]{1,249})\/(\d{1,9})\/(\d{1,15})(#\d+)?$/.exec(origin)
  if (!found) return undefined
  const [, topic = '', partition, offset, member] = found
  return { topic, partition: Number(partition), offset: Number(offset), isMember: member !== undefined }
}

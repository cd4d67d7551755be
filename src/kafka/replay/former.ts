// The former verdicts of the events of a range, read from the topic that holds them: four bytes per event.
import { levels } from '../../domain/finding.js'
import type { FormerVerdict } from '../../domain/former-verdict.js'
import type { Range } from './plan.js'
import type { TopicReader } from './topic-reader.js'
import { annotationOf } from './restore.js'

export type Former = (partition: number, offset: number) => FormerVerdict | undefined

const maxEvents = 125_000_000

export const readFormer = async (
  reader: TopicReader,
  about: { readonly topic: string; readonly ranges: readonly Range[]; readonly key: string },
  against: { readonly topic: string; readonly fromTime: number | undefined },
  signal: AbortSignal,
): Promise<Former | { readonly refused: string }> => {
  const total = about.ranges.reduce((sum, { start, end }) => sum + end - start, 0)
  if (total > maxEvents) return { refused: `--against takes ranges of at most ${maxEvents} events, not ${total}` }
  const known = new Map(
    about.ranges.map((range) => [range.partition, { range, codes: new Uint32Array(range.end - range.start) }]),
  )
  const last = await reader.offsetsAt(against.topic, 'latest')
  const first = await reader.offsetsAt(against.topic, against.fromTime ?? 'earliest')
  for (const [partition, end] of last) {
    let at = first.get(partition) ?? 0
    if (at < 0) at = end
    while (at < end && !signal.aborted) {
      const { records, next } = await reader.fetch(against.topic, partition, at)
      for (const record of records) {
        const { id, former } = annotationOf(record, about.key)
        const origin = id === undefined || former === undefined ? undefined : splitOrigin(id)
        const place = origin?.topic === about.topic ? known.get(origin.partition) : undefined
        if (!origin || !place || !former) continue
        const { range, codes } = place
        if (origin.offset >= range.start && origin.offset < range.end)
          codes[origin.offset - range.start] = former.decidedBy * 8 + levels.indexOf(former.level) + 1
      }
      at = next
    }
  }
  return (partition, offset) => {
    const place = known.get(partition)
    const code = place?.codes[offset - place.range.start] ?? 0
    const level = levels[(code & 7) - 1]
    return level && { level, decidedBy: code >>> 3 }
  }
}

const splitOrigin = (origin: string): { topic: string; partition: number; offset: number } | undefined => {
  const found = /^([A-Za-z0-9._-]{1,249})\/(\d{1,9})\/(\d{1,15})$/.exec(origin)
  return found ? { topic: found[1] ?? '', partition: Number(found[2]), offset: Number(found[3]) } : undefined
}

// Writes the annotation of a batch as one JSON object of bounded size: the worst member, counts, and members by index.
import type { Status, Annotation } from '../../domain/annotation.js'
import { levels, type Level } from '../../domain/finding.js'
import type { EventOut, Reduced } from '../event.js'
import { writeCompact } from '../annotate/write-annotation.js'

/** The combined result of the members. */
export type MembersOutcome = {
  /** The index of the deciding member; the first of equals. */
  readonly worst: number
  readonly status: Status
  readonly counts: Readonly<Record<Level, number>>
}

type Member = { readonly status: Status; readonly verdict: Level }

/** Smaller is worse. An unknown prevents `clean`, unless there was nothing to look up. */
const weightOf = ({ status, verdict }: Member): number => {
  if (verdict === 'unknown') return status === 'skipped' ? 4 : 2
  return { malicious: 0, suspicious: 1, clean: 3 }[verdict]
}

export const outcomeOfMembers = (members: readonly Member[]): MembersOutcome => {
  const counts = Object.fromEntries(levels.map((level) => [level, 0])) as Record<Level, number>
  let worst = 0
  let lowest = Infinity
  const statuses = { complete: 0, partial: 0, failed: 0, skipped: 0 }
  for (const [nth, member] of members.entries()) {
    counts[member.verdict]++
    statuses[member.status]++
    const weight = weightOf(member)
    if (weight < lowest) {
      lowest = weight
      worst = nth
    }
  }
  return { worst, status: statusOf(statuses, members.length), counts }
}

const statusOf = ({ failed, partial, skipped }: Readonly<Record<Status, number>>, count: number): Status => {
  if (skipped === count) return 'skipped'
  if (failed === count - skipped) return 'failed'
  return failed + partial > 0 ? 'partial' : 'complete'
}

type BatchSummary = {
  /** The annotation of the worst member, with the status and id of the record. */
  readonly annotation: Annotation
  readonly members: readonly EventOut[]
  readonly outcome: MembersOutcome
  /** The total number of members; past the limit the last of `members` stands for the rest. */
  readonly count: number
}

const maxListed = 100
const maxAccused = 100
/** The maximum size of the member list, which fits into record headers. */
const maxBytes = 16_384
const maxReducedBytes = 4_096

const weights = { malicious: 0, suspicious: 1, unknown: 2, clean: 3 } as const

/** `accused` lists only malicious and suspicious members; `worst` lists none, only indexes. */
export const batchText = (
  { annotation, members, outcome, count }: BatchSummary,
  isListed: (member: EventOut) => boolean,
  reduced?: Reduced,
): string => {
  const { worst, counts } = outcome
  const accused = members.flatMap(({ verdict }, nth) => (weights[verdict] < weights.unknown ? [nth] : []))
  let text = writeCompact(annotation, true).slice(0, -1)
  text += `,"member":${worst},"member_count":${count}`
  for (const level of ['malicious', 'suspicious', 'clean', 'unknown'] as const)
    text += `,"${level}_members":${counts[level]}`
  if (accused.length > 0) text += `,"accused_members":[${accused.slice(0, maxAccused).join(',')}]`
  if (reduced === 'worst') return `${text}}`
  const wanted = (reduced === 'accused' ? accused : [...members.keys()]).filter((nth) =>
    isListed(members[nth] as EventOut),
  )
  const listed = fitting(members, wanted, reduced)
  if (listed.size > 0) text += `,"members":[${[...listed.values()].join(',')}]`
  const omitted = wanted.length - listed.size
  return omitted > 0 ? `${text},"members_omitted":${omitted}}` : `${text}}`
}

/** Prefers malicious and suspicious members when space is short; the result keeps the record order. */
const fitting = (
  members: readonly EventOut[],
  wanted: readonly number[],
  reduced: Reduced | undefined,
): ReadonlyMap<number, string> => {
  const weightAt = (nth: number): number => weights[members[nth]?.verdict ?? 'clean']
  const texts: [number, string][] = []
  let left = reduced === undefined ? maxBytes : maxReducedBytes
  for (const nth of wanted.toSorted((a, b) => weightAt(a) - weightAt(b) || a - b).slice(0, maxListed)) {
    const text = `{"member":${nth},${members[nth]?.annotationText(reduced).slice(1) ?? '}'}`
    left -= text.length + 1
    if (left < 0) break
    texts.push([nth, text])
  }
  return new Map(texts.toSorted(([a], [b]) => a - b))
}

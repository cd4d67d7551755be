// The outcome of a record by the outcomes of its members.
import type { Status } from '../../domain/annotation.js'
import { levels, type Level } from '../../domain/finding.js'

export type MembersOutcome = {
  /** The place of the member that decides; ties go to the first. */
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

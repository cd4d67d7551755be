// The history of verdicts from the verdicts topic: changes over time, the processes that asked, and the number of calls.
import { sourceIdOf, type Finding, type Level } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import type { KafkaSettings } from '../kafka/settings.js'
import { readToEnd, withTopicReader } from '../kafka/topic-reader.js'
import { readVerdict, type SharedVerdict } from './verdict-record.js'

/** Consecutive answers with the same verdict. */
export type VerdictPeriod = {
  readonly indicator: string
  readonly verdict: Level
  /** The times of the first and last of these answers. */
  readonly from: string
  readonly to: string
  readonly answers: number
  /** Calls to the provider that they took. */
  readonly calls: number
  readonly by: readonly string[]
}

export const readVerdictHistory = async (
  settings: KafkaSettings,
  covers: (indicator: Indicator) => boolean,
  levelOf: (finding: Finding, indicator: Indicator) => Level,
  signal: AbortSignal,
): Promise<readonly VerdictPeriod[] | { readonly refused: string }> => {
  const { verdictsTopic: topic = '', verdictsKey: key = '' } = settings
  return withTopicReader(settings, [topic], async (reader) => {
    const answers: SharedVerdict[] = []
    const take = (record: Parameters<typeof readVerdict>[1]): void => {
      const verdict = readVerdict({ topic, key }, record)
      const isShown = !('refused' in verdict) && sourceIdOf(verdict.finding) === undefined
      if (isShown && covers(verdict.indicator)) answers.push(verdict)
    }
    await readToEnd(reader, topic, take, () => !signal.aborted)
    return periodsOf(answers, levelOf)
  })
}

const periodsOf = (
  answers: readonly SharedVerdict[],
  levelOf: (finding: Finding, indicator: Indicator) => Level,
): readonly VerdictPeriod[] => {
  const last = new Map<string, VerdictPeriod>()
  const periods: VerdictPeriod[] = []
  const timeOf = ({ finding }: SharedVerdict): number => finding.at ?? 0
  for (const answer of answers.toSorted((one, other) => timeOf(one) - timeOf(other))) {
    const { indicator, finding, by } = answer
    const verdict = levelOf(finding, indicator)
    const to = new Date(timeOf(answer)).toISOString()
    const before = last.get(indicator.value)
    const isSame = before?.verdict === verdict
    const calls = finding.operations?.length ?? 0
    const period: VerdictPeriod = {
      indicator: indicator.value,
      verdict,
      from: isSame ? before.from : to,
      to,
      answers: (isSame ? before.answers : 0) + 1,
      calls: (isSame ? before.calls : 0) + calls,
      by: [...new Set([...(isSame ? before.by : []), by])],
    }
    last.set(indicator.value, period)
    if (isSame) periods[periods.indexOf(before)] = period
    else periods.push(period)
  }
  return periods.toSorted((one, other) =>
    one.indicator === other.indicator ? (one.from < other.from ? -1 : 1) : one.indicator < other.indicator ? -1 : 1,
  )
}

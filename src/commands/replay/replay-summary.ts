// The summary of a replay, as an object and as text.
import { levels, type Level } from '../../domain/finding.js'
import type { Plan } from '../../replay/plan.js'
import type { Progress } from '../../replay/replay.js'
import { addTallies, changedEvents, emptyTally } from '../../replay/tally.js'
import { renderTable, type Column } from '../../terminal/table.js'
import type { TopFindings, TopHost, TopIndicator } from './top-findings.js'
import { duration } from '../../terminal/progress.js'
import type { ReplayArguments } from './replay-options.js'

/** As described by schemas/replay-summary.schema.json. */
type ReplaySummary = {
  readonly schema_version: 1
  readonly replay_id: string
  readonly topic: string
  readonly input: string
  readonly output: string
  readonly alerts_output?: string
  readonly delivery: string
  readonly from: string
  readonly to: string
  readonly partitions: readonly {
    readonly partition: number
    readonly from: number
    readonly to: number
    readonly position: number
  }[]
  readonly complete: boolean
  readonly resumed: boolean
  readonly events: number
  readonly tombstones: number
  readonly verdicts: Readonly<Record<Level, number>>
  readonly compared: number
  readonly former_stands: number
  readonly changed: number
  readonly changes: readonly { readonly from: string; readonly to: string; readonly events: number }[]
  readonly alerts: number
  readonly alerts_new: number
  readonly lookups: number
  readonly dead_letters: number
  readonly pointers: number
  readonly deleted: number
  readonly seconds: number
  readonly top_indicators: readonly TopIndicator[]
  readonly top_inside_hosts: readonly TopHost[]
}

type DryRun = Pick<
  ReplaySummary,
  'schema_version' | 'replay_id' | 'topic' | 'input' | 'output' | 'from' | 'to' | 'resumed' | 'events' | 'seconds'
> & {
  readonly dry_run: true
  readonly partitions: readonly { readonly partition: number; readonly from: number; readonly to: number }[]
  readonly expected_lookups: number
}

type ReplayTotals = {
  readonly delivery: string
  readonly alertsTopic: string | undefined
  readonly lookups: number
  readonly seconds: number
  readonly found: TopFindings
}

const commonOf = (args: ReplayArguments, { isResumed }: Plan) =>
  ({
    schema_version: 1,
    replay_id: args.id,
    topic: args.topic,
    input: args.kind,
    output: args.output,
    from: args.fromText,
    to: args.toText,
    resumed: isResumed,
  }) as const

export const summariseReplay = (
  args: ReplayArguments,
  plan: Plan,
  { partitions }: Progress,
  { delivery, alertsTopic, lookups, seconds, found }: ReplayTotals,
): ReplaySummary => {
  const tally = [...partitions.values()].map((one) => one.tally).reduce(addTallies, emptyTally)
  const ranges = plan.ranges.map(({ partition, start, end }) => ({
    partition,
    from: start,
    to: end,
    position: partitions.get(partition)?.position ?? start,
  }))
  const { events, tombstones, verdicts, compared, stood, changes, alerts, alertsNew, deadLetters, pointers, deleted } =
    tally
  const counts = Object.fromEntries(levels.map((level) => [level, verdicts[level] ?? 0]))
  return {
    ...commonOf(args, plan),
    ...(alertsTopic !== undefined && { alerts_output: alertsTopic }),
    delivery,
    partitions: ranges,
    complete: ranges.every(({ position, to }) => position >= to),
    events,
    tombstones,
    verdicts: counts as Record<Level, number>,
    compared,
    former_stands: stood,
    changed: changedEvents(tally),
    changes: Object.entries(changes)
      .map(([change, count]) => ({ from: change.split('>')[0] ?? '', to: change.split('>')[1] ?? '', events: count }))
      .sort((a, b) => b.events - a.events),
    alerts,
    alerts_new: alertsNew,
    lookups,
    dead_letters: deadLetters,
    pointers,
    deleted,
    seconds: Math.round(seconds * 10) / 10,
    top_indicators: found.indicators,
    top_inside_hosts: found.insideHosts,
  }
}

export const dryRun = (
  args: ReplayArguments,
  plan: Plan,
  { events, lookups, seconds }: { readonly events: number; readonly lookups: number; readonly seconds: number },
): DryRun => ({
  ...commonOf(args, plan),
  dry_run: true,
  partitions: plan.ranges.map(({ partition, start, end }) => ({ partition, from: start, to: end })),
  events,
  expected_lookups: lookups,
  seconds: Math.round(seconds * 10) / 10,
})

export const describeRanges = ({ ranges }: Plan): string =>
  ranges.map(({ partition, start, end }) => `  partition ${partition}: offsets ${start} to ${end}\n`).join('')

export const describeDryRun = (dry: DryRun, plan: Plan): string =>
  `replay of ${dry.topic} from ${dry.from} to ${dry.to}, ${count(dry.events)} events:\n${describeRanges(plan)}` +
  `expected lookups: ${count(dry.expected_lookups)}, excluding those that memory and feeds answer\nnothing was written\n`

export const describeSummary = (done: ReplaySummary): string => {
  const lines = [
    `replay ${done.replay_id} of ${done.topic}${done.complete ? '' : ' is NOT complete'}: ${count(done.events)} events to ${done.output} in ${duration(done.seconds * 1000)}`,
    `verdicts: ${levels.map((level) => `${count(done.verdicts[level])} ${level}`).join(', ')}`,
    done.compared === 0
      ? 'verdicts changed: unknown, because there is nothing to compare with (use --against TOPIC or an annotated input)'
      : `verdicts changed: ${count(done.changed)} of ${count(done.compared)} compared` +
        done.changes.map(({ from, to, events }) => `\n  ${from} to ${to}: ${count(events)}`).join('') +
        (done.former_stands === 0 ? '' : `\nformer verdict kept, nothing newer known: ${count(done.former_stands)}`),
    done.alerts_output === undefined
      ? 'alerts: off'
      : `alerts: ${count(done.alerts)} raised, ${count(done.alerts_new)} of them new, on ${done.alerts_output}`,
    `lookups sent: ${count(done.lookups)}`,
  ]
  if (done.dead_letters > 0)
    lines.push(`dead letters: ${count(done.dead_letters)} events were rejected by the output topic`)
  if (done.pointers > 0) lines.push(`not restored: ${count(done.pointers)} dead letters without their event`)
  if (done.deleted > 0) lines.push(`not read: ${count(done.deleted)} records deleted by retention`)
  if (!done.complete) lines.push(`continue with: --id ${done.replay_id}`)
  return lines.map((line) => `${line}\n`).join('') + describeTop(done)
}

const shownRows = 10

const describeTop = ({ top_indicators, top_inside_hosts }: ReplaySummary): string => {
  const times = ({ first, last }: TopHost | TopIndicator): string[] => [first.slice(0, 19), last.slice(0, 19)]
  const both: readonly Column[] = [{ title: 'first' }, { title: 'last' }]
  const right = (title: string): Column => ({ title, align: 'right' })
  const indicators = renderTable(
    [
      { title: 'indicator', max: 64 },
      { title: 'verdict' },
      right('score'),
      right('events'),
      right('inside hosts'),
      ...both,
    ],
    top_indicators
      .slice(0, shownRows)
      .map((one) => [
        one.value,
        one.verdict,
        one.score === undefined ? '' : String(one.score),
        count(one.events),
        count(one.inside_hosts),
        ...times(one),
      ]),
  )
  const hosts = renderTable(
    [{ title: 'inside host' }, right('events'), right('indicators'), ...both],
    top_inside_hosts
      .slice(0, shownRows)
      .map((one) => [one.value, count(one.events), count(one.indicators), ...times(one)]),
  )
  return (top_indicators.length > 0 ? `\n${indicators}` : '') + (top_inside_hosts.length > 0 ? `\n${hosts}` : '')
}

const count = (value: number): string => value.toLocaleString('en-US')

// Performs a replay: opens pipeline and alerts, shows progress, prints the summary.
import type { Alerts } from '../../alerts/open-alerts.js'
import type { RaisedAlert } from '../../kafka/replay/deliver-unit.js'
import type { OpenReplay } from '../../kafka/replay/open-replay.js'
import type { EventOut } from '../../pipeline/pipeline.js'
import { openAlerting } from '../../app/open-alerting.js'
import { openApp, type App } from '../../app/open-app.js'
import { accepted } from '../../config/load-config.js'
import type { Config } from '../../config/schema.js'
import type { Progress } from '../../kafka/replay/replay.js'
import type { Emit } from '../../telemetry/event.js'
import { exitCodes, type Io } from '../../terminal/command.js'
import { createProgress } from '../../terminal/progress.js'
import { write } from '../../terminal/write-lines.js'
import type { ReplayArguments } from './replay-options.js'
import { createTopFindings } from './top-findings.js'
import { describeRanges, describeSummary, summariseReplay } from './replay-summary.js'

export const performReplay = async (
  opened: OpenReplay,
  args: ReplayArguments,
  config: Config,
  io: Io,
  emit: Emit,
): Promise<number> => {
  const { plan } = opened
  const startedAt = Date.now()
  io.stderr.write(
    `replay ${args.id} of ${args.topic} to ${args.output}${plan.isResumed ? ', continued' : ''}:\n${describeRanges(plan)}`,
  )
  const former = args.against === undefined ? undefined : await opened.former(args.against)
  if (former && 'refused' in former) return refuse(io, former.refused)
  const app = await openReplayApp(args, config, io, emit)
  let alerts: Alerts | undefined
  try {
    const rules = accepted(await openAlerting(config, { emit, replayId: args.id }))
    alerts = rules
    const wantsAlerts = args.alerts !== 'none' && rules.status().rules > 0
    const alertsTopic = wantsAlerts ? args.alertsTopic : undefined
    const written = new Set<string>()
    const found = createTopFindings()
    const lookups = (): number => app.admission?.state().spent.run ?? 0
    const progress = createProgress(io.stderr, { label: 'replay', total: lengthOf(opened) })
    const outcome = await opened
      .run({
        pipeline: found.observe(app.pipeline, Date.now),
        ready: () => (plan.isResumed && wantsAlerts ? alertsBefore(opened, args, written) : Promise.resolve()),
        raise: wantsAlerts ? (events) => raiseOnce(rules, events, written) : undefined,
        raiseAll: args.alerts === 'all',
        alertsTopic,
        former,
        eventsPerSecond: args.eventsPerSecond,
        moved: showProgress(opened, progress.update, lookups, startedAt),
      })
      .finally(progress.end)
    if ('refused' in outcome) return refuse(io, outcome.refused)
    const seconds = (Date.now() - startedAt) / 1000
    const { delivery } = config.kafka
    const summary = summariseReplay(args, plan, outcome, {
      delivery,
      alertsTopic,
      lookups: lookups(),
      seconds,
      found: found.read(),
    })
    await write(io.stdout, args.isJson ? `${JSON.stringify(summary)}\n` : describeSummary(summary))
    return summary.complete ? exitCodes.ok : exitCodes.failure
  } finally {
    await alerts?.close()
    await app.close()
  }
}

const maxRemembered = 1_000_000

/** Reads the groups of the alerts that an interrupted replay has already written. */
const alertsBefore = (
  opened: Pick<OpenReplay, 'valuesOf'>,
  args: Pick<ReplayArguments, 'id' | 'alertsTopic'>,
  groups: Set<string>,
): Promise<void> =>
  opened.valuesOf(args.alertsTopic, (value) => {
    const { threatweave: body } = readAlert(value)
    if (body?.replay_id === args.id && body.group_id !== undefined && groups.size < maxRemembered)
      groups.add(body.group_id)
  })

type WrittenAlert = { readonly threatweave?: { readonly group_id?: string; readonly replay_id?: string } }

const readAlert = (value: Buffer): WrittenAlert => {
  try {
    return (JSON.parse(value.toString()) as WrittenAlert | null) ?? {}
  } catch {
    return {} // not one of our alerts
  }
}

/** Alerts of a replay; those written before an interruption are not raised again. */
const raiseOnce = (alerts: Alerts, events: readonly EventOut[], known: ReadonlySet<string>): readonly RaisedAlert[] =>
  alerts
    .raise(events)
    .filter(({ threatweave: { group_id } }) => !known.has(group_id))
    .map((alert) => ({ origin: alert.threatweave.origin, value: Buffer.from(JSON.stringify(alert)) }))

/** Waits for every answer, with lower priority than live traffic, and keeps the given limit of lookups. */
export const openReplayApp = async (args: ReplayArguments, config: Config, io: Io, emit: Emit): Promise<App> => {
  const { maxLookups } = args
  const sendsNothing = args.lookups === 'none' || maxLookups === 0 || args.isDryRun
  const budget = maxLookups === undefined || maxLookups === 0 ? {} : { perRun: maxLookups }
  return accepted(
    await openApp(
      { ...config, admit: { ...config.admit, ...budget } },
      {
        mode: 'complete',
        urgency: 'replay',
        env: io.env,
        emit,
        replay: { id: args.id, isAnnotated: args.kind === 'annotated' },
        ...(sendsNothing && { approve: () => Promise.resolve(false) }),
      },
    ),
  )
}

/** The number of records still to read. */
export const lengthOf = ({ plan }: OpenReplay): number =>
  plan.ranges.reduce(
    (sum, { partition, start, end }) => sum + end - (plan.reached.get(partition)?.position ?? start),
    0,
  )

const showProgress = (
  { plan }: OpenReplay,
  update: (done: number, note: string) => void,
  lookups: () => number,
  startedAt: number,
): ((progress: Progress) => void) => {
  const earlierEvents = [...plan.reached.values()].reduce((sum, { tally }) => sum + tally.events, 0)
  return ({ partitions }) => {
    let done = 0
    let events = 0
    for (const { partition, start } of plan.ranges) {
      const one = partitions.get(partition)
      done += (one?.position ?? start) - (plan.reached.get(partition)?.position ?? start)
      events += one?.tally.events ?? 0
    }
    const rate = Math.round((events - earlierEvents) / Math.max(0.001, (Date.now() - startedAt) / 1000))
    update(done, `${events} events, ${rate}/s, ${lookups()} credits`)
  }
}

export const refuse = (io: Io, sentence: string): number => {
  io.stderr.write(`threatweave: ${sentence}\n`)
  return exitCodes.failure
}

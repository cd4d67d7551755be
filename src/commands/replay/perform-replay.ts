// Performs a replay at a terminal: shows its progress and prints the summary.
import type { Config } from '../../config/schema.js'
import type { OpenReplay, ReplayRefused } from '../../replay/open-replay.js'
import type { Progress } from '../../replay/replay.js'
import { exitCodes, type Io } from '../../terminal/command.js'
import { createProgress } from '../../terminal/progress.js'
import { write, writeJson } from '../../terminal/write-lines.js'
import { replayAlone, type Surroundings } from './replay-alone.js'
import type { ReplayArguments } from './replay-options.js'
import { describeRanges, describeSummary, summariseReplay } from './replay-summary.js'

export const performReplay = async (
  opened: OpenReplay,
  args: ReplayArguments,
  config: Config,
  io: Io,
  around: Surroundings,
): Promise<number | ReplayRefused> => {
  const { plan } = opened
  const { now } = around.runtime.clock
  const startedAt = now()
  io.stderr.write(
    `replay ${args.id} of ${args.topic} to ${args.output}${plan.isResumed ? ', continued' : ''}:\n${describeRanges(plan)}`,
  )
  const progress = createProgress(io.stderr, { label: 'replay', total: lengthOf(opened) })
  const seconds = (): number => (now() - startedAt) / 1000
  const done = await replayAlone(opened, args, config, around, showProgress(opened, progress.update, seconds)).finally(
    progress.end,
  )
  if ('refused' in done) return done
  const { delivery } = config.kafka
  const summary = summariseReplay(args, plan, done, { ...done, delivery, seconds: seconds() })
  await (args.isJson
    ? writeJson(io.stdout, `${JSON.stringify(summary)}\n`)
    : write(io.stdout, describeSummary(summary)))
  return summary.complete ? exitCodes.ok : exitCodes.failure
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
  seconds: () => number,
): ((progress: Progress, lookups: number) => void) => {
  const earlierEvents = [...plan.reached.values()].reduce((sum, { tally }) => sum + tally.events, 0)
  return ({ partitions }, lookups) => {
    let done = 0
    let events = 0
    for (const { partition, start } of plan.ranges) {
      const one = partitions.get(partition)
      done += (one?.position ?? start) - (plan.reached.get(partition)?.position ?? start)
      events += one?.tally.events ?? 0
    }
    const rate = Math.round((events - earlierEvents) / Math.max(0.001, seconds()))
    update(done, `${events} events, ${rate}/s, ${lookups} credits`)
  }
}

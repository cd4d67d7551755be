// The dry run of a replay: the records it would read, and the lookups it would make.
import { withScope } from '../../base/scope.js'
import { budgetOf } from '../../config/budget.js'
import type { Config } from '../../config/schema.js'
import { keyOf } from '../../domain/indicator.js'
import type { OpenReplay } from '../../replay/open-replay.js'
import { eventsOf } from '../../delivery/chunks.js'
import type { Spent } from '../../lookup/admission/budget.js'
import { exitCodes, type Io } from '../../terminal/command.js'
import { createProgress } from '../../terminal/progress.js'
import type { ReplayArguments } from './replay-options.js'
import { lengthOf } from './perform-replay.js'
import { openReplayApp, type Surroundings } from './replay-alone.js'
import { describeDryRun, dryRun } from './replay-summary.js'
import { write, writeJson } from '../../terminal/write-lines.js'

export const dryRunReplay = async (
  opened: OpenReplay,
  args: ReplayArguments,
  config: Config,
  io: Io,
  around: Surroundings,
): Promise<number> => {
  const { now } = around.runtime.clock
  const { plan } = opened
  const missing = new Set<string>()
  const outcome = await withScope(async (scope) => {
    const app = scope.use(await openReplayApp(args, config, around))
    const startedAt = now()
    const progress = createProgress(io.stderr, { label: 'dry run', total: lengthOf(opened) })
    scope.defer(progress.end)
    const allowed = allowedLookups(args, config, app.admission?.state().spent)
    let events = 0
    let read = 0
    await opened.readRanges(async (restored) => {
      // Ignore former verdicts, because they do not save lookups.
      const records = restored.map((record) => ({ ...record, former: undefined, formers: undefined }))
      for (const event of await eventsOf(records, app.pipeline)) {
        for (const { decision, verdict } of event?.judged ?? [])
          if (decision.decision === 'lookup' && verdict.reason === 'budget_spent') missing.add(keyOf(decision.ask))
        events += event?.members?.length ?? 1
      }
      read += records.length
      progress.update(read, `${events} events, ${Math.min(missing.size, allowed)} lookups`)
    })
    const lookups = Math.min(missing.size, allowed)
    return dryRun(args, plan, { events, lookups, seconds: (now() - startedAt) / 1000 })
  })
  await (args.isJson
    ? writeJson(io.stdout, `${JSON.stringify(outcome)}\n`)
    : write(io.stdout, describeDryRun(outcome, plan)))
  return io.signal.aborted ? exitCodes.failure : exitCodes.ok
}

/** The number of calls that the budgets allow now. */
const allowedLookups = (
  { lookups, maxLookups = Infinity }: ReplayArguments,
  { admit }: Config,
  spent: Spent = { hour: 0, day: 0, run: 0 },
): number => {
  if (lookups === 'none') return 0
  // An explicit limit for this run replaces the default daily limit.
  const { perHour, perDay } = budgetOf(maxLookups === Infinity ? admit : { ...admit, perRun: maxLookups })
  const left = (limit: number, used: number): number => (limit === 0 ? Infinity : Math.max(0, limit - used))
  return Math.min(maxLookups, left(perHour, spent.hour), left(perDay, spent.day))
}

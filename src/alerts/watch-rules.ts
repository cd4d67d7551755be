// Reloads rules when their files change; broken files keep the old rules.
import type { FileProblem } from '../domain/problem.js'
import type { Clock } from '../base/clock.js'
import type { Emit } from '../telemetry/event.js'
import { bundledFolder, findRuleFiles, loadRules, type RuleSource } from './load-rules.js'
import type { Rule } from './sigma/rule.js'
import type { RuleSet } from './sigma/rule-set.js'

type WatchedRules = {
  readonly set: () => RuleSet
  readonly retro: () => RuleSet
  readonly all: () => readonly Rule[]
  /** Problems of the newest files, if they were refused. */
  readonly refused: () => readonly FileProblem[]
  readonly reload: () => Promise<void>
  /** Stops watching; resolves when no load is in progress. */
  readonly close: () => Promise<void>
}

type WatchOptions = { readonly emit: Emit; readonly clock: Clock; readonly pollMs?: number }

const defaultPollMs = 5000

export const watchRules = async (
  source: RuleSource,
  { emit, clock, pollMs = defaultPollMs }: WatchOptions,
): Promise<WatchedRules | { readonly problems: readonly FileProblem[] }> => {
  const first = await loadRules(source)
  if (first.problems.length > 0) return { problems: first.problems }
  let inUse = first
  let problems: readonly FileProblem[] = []
  let tried = first.signature
  let changing = ''
  let isClosed = false
  let cancel = (): void => undefined
  let queue: Promise<void> = Promise.resolve()

  const reportLoaded = (): void => {
    const { rules, files, warnings } = inUse
    emit({ event: 'rules_loaded', rules: rules.length, files })
    // Users cannot fix bundled rules.
    for (const warning of warnings)
      if (!warning.file.startsWith(bundledFolder)) emit({ event: 'rule_warned', ...warning })
  }

  const load = async (): Promise<void> => {
    const next = await loadRules(source)
    if (isClosed) return
    tried = next.signature
    problems = next.problems
    if (problems.length === 0) {
      inUse = next
      reportLoaded()
    } else for (const problem of problems.slice(0, 20)) emit({ event: 'rules_refused', ...problem })
  }
  const loadIfChanged = async (): Promise<void> => {
    const { signature } = await findRuleFiles(source)
    if (signature === tried) return
    if (signature === changing) await load()
    else changing = signature
  }
  const enqueue = (work: () => Promise<void>): Promise<void> =>
    (queue = queue.then(() => (isClosed ? undefined : work())))
  const watch = (): void => {
    if (isClosed || pollMs === 0) return
    cancel = clock.after(pollMs, () => void enqueue(loadIfChanged).then(watch))
  }

  reportLoaded()
  watch()
  return {
    set: () => inUse.set,
    retro: () => inUse.retro,
    all: () => inUse.rules,
    refused: () => problems,
    reload: () => enqueue(load),
    close: () => {
      isClosed = true
      cancel()
      return queue
    },
  }
}

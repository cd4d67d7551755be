// Reloads rules when their files change; broken files keep the old rules.
import type { FileProblem } from '../domain/problem.js'
import type { Clock } from '../base/clock.js'
import { reloadWhenChanged } from '../base/reload-when-changed.js'
import type { Emit } from '../telemetry/event.js'
import { bundledFolder, findRuleFiles, loadRules, type LoadedRules, type RuleSource } from './load-rules.js'
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

  const reportLoaded = (): void => {
    const { rules, files, warnings } = inUse
    emit({ event: 'rules_loaded', rules: rules.length, files })
    // Users cannot fix bundled rules.
    for (const warning of warnings)
      if (!warning.file.startsWith(bundledFolder)) emit({ event: 'rule_warned', ...warning })
  }

  const use = (next: LoadedRules): void => {
    problems = next.problems
    if (problems.length === 0) {
      inUse = next
      reportLoaded()
    } else for (const problem of problems.slice(0, 20)) emit({ event: 'rules_refused', ...problem })
  }

  reportLoaded()
  const files = reloadWhenChanged(first.signature, {
    clock,
    pollMs,
    signature: async () => (await findRuleFiles(source)).signature,
    read: async () => {
      const next = await loadRules(source)
      return { signature: next.signature, use: () => use(next) }
    },
  })
  return {
    set: () => inUse.set,
    retro: () => inUse.retro,
    all: () => inUse.rules,
    refused: () => problems,
    reload: files.reload,
    close: files.close,
  }
}

// The hosts that a listed URL says nothing about: the bundled list of shared hosts, and whatever lists the user has.
import type { IndicatorList } from '../domain/decision.js'
import { sharedHosts } from './shared-hosts.js'
import { loadList, toList, type GateProblem } from './load-gate.js'

/** What stands in the setting for the list that comes with the program. */
const bundled = 'bundled'

export const loadSafeguard = (
  lists: readonly string[],
  readFile: (path: string) => string,
): IndicatorList | { readonly problems: readonly GateProblem[] } => {
  const problems: GateProblem[] = []
  const read = (file: string): string => (file === bundled ? sharedHosts.join('\n') : readFile(file))
  const entries = loadList('intel.safeguard', lists, read, (problem) => void problems.push(problem))
  return problems.length > 0 ? { problems } : toList(entries)
}

// Triggers the faults of a scenario at their time, or at the nth request of a kind.
import type { Cluster } from '../broker/cluster.js'
import type { Fault, Scenario } from '../scenario.js'
import type { ApiName } from '../wire.js'
import type { World } from '../world.js'
import type { Perform } from './acts.js'

/** Returns a function that ends all faults. */
export const scheduleFaults = (
  { faults }: Scenario,
  world: World,
  cluster: Cluster,
  perform: Perform,
): (() => void) => {
  let areOver = false
  const counted = new Map<Fault, number>()
  const atRequests = faults.flatMap((fault) => ('request' in fault.on ? [{ fault, on: fault.on }] : []))
  for (const { on, act } of faults) if ('atMs' in on) world.after(on.atMs, () => perform(act))
  cluster.onRequest(({ api, moment, process }) => {
    const by = process.name === 'replay' ? 'replay' : undefined
    if (areOver || (!by && !process.name.startsWith('w'))) return undefined
    let isLost = false
    for (const { fault, on } of atRequests) {
      if (on.request !== kindOf(api) || on.by !== by || on.when !== moment || world.ms < on.fromMs) continue
      const nth = (counted.get(fault) ?? 0) + 1
      counted.set(fault, nth)
      if (nth !== on.nth) continue
      isLost ||= fault.act.kind === 'lose_answer'
      perform(fault.act, process)
    }
    return isLost ? 'lose' : undefined
  })
  return () => {
    areOver = true
  }
}

/** Treats both versions of a request as one kind. */
const kindOf = (api: ApiName): ApiName => (api === 'StableOffsetFetch' ? 'OffsetFetch' : api)

// Implements each kind of fault of the gateways.
import type { Cluster } from '../broker/cluster.js'
import type { Disturbances } from '../disturbances.js'
import type { Fleet } from '../fleet.js'
import { oneOf, type Random } from '../world.js'
import { gatewaysTopic } from './gateways.js'
import type { Act, ActKind } from './scenario.js'

type Acts = { readonly [Kind in ActKind]: (nth: number, forMs: number) => void }

export type ActParts = {
  readonly cluster: Cluster
  readonly disturbances: Disturbances
  readonly fleet: Fleet
  readonly random: Random
}

export const createActs = ({ cluster, disturbances, fleet, random }: ActParts): Acts => ({
  kill: fleet.kill,
  kill_and_lose: (nth, forMs) => {
    // The successor's claim is repeated: its record was written, but it does not know.
    cluster.atRequest({ api: 'EndTxn', nth: 1, moment: 'after' }, () => 'lose')
    fleet.kill(nth, forMs)
  },
  stop: fleet.stop,
  pause: (nth, forMs) => disturbances.pause(fleet.processOf(nth), forMs),
  cut: (nth) => disturbances.cut(fleet.processOf(nth)),
  lose_answer: () => {
    const api = oneOf(random, ['Heartbeat', 'JoinGroup', 'SyncGroup', 'EndTxn', 'InitProducerId'] as const)
    cluster.atRequest({ api, nth: 1, moment: 'after' }, () => 'lose')
  },
  broker_away: (_, forMs) => {
    const id = oneOf(random, cluster.ids)
    if (cluster.broker(id).isUp) disturbances.crash([id], forMs)
  },
  all_brokers_away: (_, forMs) => disturbances.block(cluster.ids, forMs),
  move_coordinators: () => disturbances.moveCoordinators(gatewaysTopic, gatewaysTopic, 1),
})

/** The maximum number of gateway exits; every claim in the control topic may cost a block of the budget. */
export const deathsIn = (done: readonly Act['kind'][]): number =>
  done.filter((kind) => kind === 'kill' || kind === 'kill_and_lose' || kind === 'stop').length + 3 * done.length

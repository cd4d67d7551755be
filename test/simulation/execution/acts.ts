// Implements each kind of fault of a scenario.
import type { Cluster } from '../broker/cluster.js'
import type { Disturbances } from '../disturbances.js'
import type { SimulatedProvider } from '../provider.js'
import type { ReplayProcess } from '../replay-process.js'
import { listedAddresses, narrowEntries, type Act, type ReplayAct, type Scenario } from '../scenario.js'
import type { Process, World } from '../world.js'
import { writeFile } from './folder.js'
import type { Input } from './input.js'
import { files, group, watchedTopics } from './worker-config.js'
import type { Workers } from './workers.js'

type Kind = Act['kind']
/** `sender`: the process that sent the triggering request, if any. */
type Acts<K extends Kind> = {
  readonly [One in K]: (act: Extract<Act, { readonly kind: One }>, sender: Process | undefined) => void
}

export type ActParts = {
  readonly world: World
  readonly cluster: Cluster
  readonly disturbances: Disturbances
  readonly provider: SimulatedProvider
  readonly workers: Workers
  readonly input: Input
  readonly replay: ReplayProcess | undefined
  readonly scenario: Scenario
  readonly keepBusy: (ms: number) => void
}

/** When the feed gained an address, and the port of the entry, if any. */
export type Gained = { readonly atMs: number; readonly port?: number | undefined }

export type Perform = (act: Act, sender?: Process) => void

export type PerformedActs = {
  readonly perform: Perform
  /** Faults that actually happened. */
  readonly done: readonly Kind[]
  readonly gained: ReadonlyMap<string, Gained>
}

export const createActs = (parts: ActParts): PerformedActs => {
  const { world, cluster, keepBusy } = parts
  const done: Kind[] = []
  const gained = new Map<string, Gained>()
  const acts: Acts<Kind> = {
    ...processActs(parts),
    ...brokerActs(parts),
    ...topicActs(parts),
    ...surroundingActs(parts, gained),
    ...replayActs(parts),
  }
  const perform: Perform = (act, sender) => {
    // An operator does not change topics while brokers are down.
    const isUp = cluster.ids.every((id) => cluster.broker(id).isUp)
    if ((act.kind === 'add_partition' || act.kind === 'recreate_input') && !isUp) {
      keepBusy(2_000)
      world.after(1_000, () => perform(act))
      return
    }
    world.log(`fault: ${JSON.stringify(act)}`)
    done.push(act.kind)
    keepBusy(1_000)
    ;(acts[act.kind] as (act: Act, sender: Process | undefined) => void)(act, sender)
  }
  return { perform, done, gained }
}

const processActs = ({
  disturbances,
  workers,
  keepBusy,
}: ActParts): Acts<'kill' | 'stop' | 'pause' | 'cut' | 'lose_answer' | 'second_group'> => {
  const { fleet } = workers
  const nthOf = (worker: number, sender: Process | undefined): number => (sender ? fleet.numberOf(sender) : worker)
  return {
    kill: ({ worker, againMs }, sender) => {
      keepBusy(againMs)
      fleet.kill(nthOf(worker, sender), againMs)
    },
    stop: ({ worker, againMs }, sender) => {
      keepBusy(againMs + 25_000)
      fleet.stop(nthOf(worker, sender), againMs)
    },
    pause: ({ worker, forMs }, sender) => {
      keepBusy(forMs)
      disturbances.pause(fleet.processOf(nthOf(worker, sender)), forMs)
    },
    cut: ({ worker }, sender) => disturbances.cut(fleet.processOf(nthOf(worker, sender))),
    /** Handled where the request is answered: see `faults.ts`. */
    lose_answer: () => undefined,
    second_group: () => {
      keepBusy(15_000)
      workers.startOtherGroup(15_000)
    },
  }
}

const brokerActs = ({
  world,
  cluster,
  disturbances,
  replay,
  scenario,
  keepBusy,
}: ActParts): Acts<
  'broker_away' | 'coordinator_dies' | 'all_brokers_away' | 'move_leaders' | 'move_coordinators' | 'rolling_restart'
> => ({
  broker_away: ({ broker, forMs }) => {
    const id = cluster.ids[broker] ?? 1
    keepBusy(forMs)
    if (forMs % 2 === 0) disturbances.crash([id], forMs)
    else disturbances.block([id], forMs)
  },
  coordinator_dies: ({ forMs }) => {
    keepBusy(forMs + 30_000)
    let isDead = false
    cluster.onCommit(({ groupId, isTransactional }) => {
      if (isDead || !isTransactional) return
      isDead = true
      disturbances.crash([cluster.coordinatorOf(groupId)], forMs)
    })
  },
  all_brokers_away: ({ forMs }) => {
    keepBusy(forMs)
    disturbances.crash(cluster.ids, forMs)
  },
  move_leaders: () => disturbances.moveLeaders([...watchedTopics, ...(replay?.topics ?? [])]),
  move_coordinators: () => {
    disturbances.moveCoordinators(group, 'input', scenario.partitions)
    for (const moved of replay?.groups ?? [])
      disturbances.moveCoordinators(moved, scenario.replay?.of ?? '', scenario.partitions)
  },
  rolling_restart: ({ eachMs }) => {
    let atMs = 0
    for (const id of cluster.ids) {
      world.after(atMs, () => cluster.stopBroker(id))
      world.after(atMs + eachMs + 700, () => cluster.startBroker(id))
      atMs += eachMs + 1_500
    }
    keepBusy(atMs + eachMs)
  },
})

const topicActs = ({
  world,
  cluster,
  workers,
  input,
  keepBusy,
}: ActParts): Acts<'recreate_input' | 'add_partition' | 'delete_offsets' | 'delete_records' | 'deny' | 'shrink'> => {
  const partitions = (): readonly number[] => [...Array(cluster.partitionCount('input')).keys()]
  return {
    recreate_input: ({ events, whileStopped }) => {
      keepBusy(15_000)
      if (whileStopped) workers.whileStopped(() => input.recreate(events))
      else input.recreate(events)
    },
    add_partition: () => input.addPartition(),
    delete_offsets: () =>
      workers.whileStopped(() => {
        for (const partition of partitions()) cluster.deleteOffsets(group, 'input', partition)
      }),
    delete_records: ({ share }) => {
      for (const partition of partitions()) {
        const { start, high } = cluster.log('input', partition)
        cluster.deleteBefore('input', partition, start + Math.floor(share * (high - start)))
      }
    },
    deny: ({ topic, forMs }) => {
      cluster.denyWrites(topic)
      keepBusy(forMs)
      world.after(forMs, () => cluster.allowWrites(topic))
    },
    shrink: ({ topic, bytes, forMs }) => {
      cluster.limitBatches(topic, bytes)
      if (forMs === undefined) return
      keepBusy(forMs)
      world.after(forMs, () => cluster.limitBatches(topic, undefined))
    },
  }
}

const surroundingActs = (
  { world, provider, scenario, keepBusy }: ActParts,
  gained: Map<string, Gained>,
): Acts<'provider' | 'feed_gains'> => {
  const feed = [...listedAddresses, ...(scenario.narrow === true ? narrowEntries : [])]
  const writeFeed = (): void => writeFile(files.feed, `${feed.join('\n')}\n`)
  writeFeed()
  return {
    provider: ({ mood, forMs }) => {
      provider.setMood(mood)
      keepBusy(forMs)
      world.after(forMs, () => provider.setMood('well'))
    },
    feed_gains: ({ address, port }) => {
      const before = gained.get(address)
      // One entry per address, so that the expected matches are known.
      if (before && before.port !== port) return
      feed.push(port === undefined ? address : `${address}:${port}`)
      writeFeed()
      if (!before) gained.set(address, { atMs: world.ms, port })
    },
  }
}

const replayActs = ({ replay }: ActParts): Acts<ReplayAct['kind']> => {
  const perform: Perform = (act, sender) => replay?.perform(act as ReplayAct, sender)
  return {
    replay_kill: perform,
    replay_stop: perform,
    replay_pause: perform,
    replay_cut: perform,
    replay_second: perform,
  }
}

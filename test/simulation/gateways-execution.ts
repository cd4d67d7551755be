// One execution of several gateways: they elect a caller over a simulated cluster with faults, and the provider checks its callers.
import { createCluster } from './broker/cluster.js'
import { createDisturbances } from './disturbances.js'
import { createActs, deathsIn } from './gateways/acts.js'
import { createGateways, gatewaysTopic, type GatewaysProgram } from './gateways/gateways.js'
import { createCountingProvider } from './gateways/provider.js'
import { callMs, type Act, type ActKind, type GatewaysScenario } from './gateways/scenario.js'
import { inWorld, traceOf, type Trace } from './in-world.js'
import { createNetwork } from './network.js'
import type { World, WorldOptions } from './world.js'

type GatewayPromise = 'never two callers' | 'somebody calls' | 'the budget is kept'
type Broken = { readonly promise: GatewayPromise; readonly what: string }

export type GatewaysExecuted = Trace & {
  readonly broken: readonly Broken[]
  readonly done: readonly ActKind[]
  readonly atStake: readonly GatewayPromise[]
  readonly calls: number
}

/** Time after the last fault until a gateway calls: sessions expire, a rebalance completes, and the successor waits. */
const calmMs = 120_000

export const executeGateways = (
  scenario: GatewaysScenario,
  program: GatewaysProgram,
  options: WorldOptions = {},
): Promise<GatewaysExecuted> =>
  inWorld(scenario.seed, options, async (world) => {
    const stage = setUp(world, scenario, program)
    await play(world, scenario, stage)
    const { broken, done, provider } = stage
    return { ...traceOf(world), broken, done, atStake: atStakeIn(scenario, done), calls: provider.calls() }
  })

type Stage = ReturnType<typeof setUp>

/** Creates all participants and schedules their events. */
const setUp = (world: World, scenario: GatewaysScenario, program: GatewaysProgram) => {
  const network = createNetwork(world)
  const random = world.random('execution')
  const cluster = createCluster(world, network, {
    brokers: scenario.brokers,
    topics: {
      [gatewaysTopic]: { partitions: 1, replicationFactor: scenario.brokers, configs: { 'cleanup.policy': 'compact' } },
    },
    times: { lateMarkersOneIn: 7 },
  })
  const broken: Broken[] = []
  const provider = createCountingProvider(world, scenario, (what) => {
    if (broken.length < 3) broken.push({ promise: 'never two callers', what })
  })
  const failed = (error: unknown): void =>
    void broken.push({ promise: 'somebody calls', what: `a gateway ended by itself: ${String(error)}` })
  const { fleet, caller } = createGateways(scenario, { world, cluster, network, provider, program, failed })
  const disturbances = createDisturbances({ world, cluster, network, random })
  const acts = createActs({ cluster, disturbances, fleet, random })
  const done: ActKind[] = []
  let busyUntilMs = 20_000
  const perform = ({ kind, gateway, forMs }: Act): void => {
    const nth = gateway >= 0 ? gateway : caller()
    const process = fleet.processOf(nth)
    if (process?.isAlive !== true) return
    done.push(kind)
    world.log(`fault: ${kind} of ${process.label} for ${forMs} ms`)
    busyUntilMs = Math.max(busyUntilMs, world.ms + forMs + 10_000)
    acts[kind](nth, forMs)
  }
  for (const act of scenario.acts) world.after(act.atMs, () => perform(act))
  return { broken, provider, fleet, done, busyUntilMs: () => busyUntilMs }
}

const play = async (world: World, scenario: GatewaysScenario, stage: Stage): Promise<void> => {
  const { broken, provider, fleet, done } = stage
  const { perDay } = scenario
  const lastMs = scenario.acts.at(-1)?.atMs ?? 0
  await world.run(lastMs + 1)
  await world.run(Math.max(stage.busyUntilMs(), lastMs) + calmMs)
  const block = Math.max(1, Math.floor(perDay / 100))
  const isSpent = perDay > 0 && provider.calls() >= perDay - block * (1 + deathsIn(done))
  if (world.ms - provider.lastCallMs() > callMs + 10_000 && !isSpent)
    broken.push({
      promise: 'somebody calls',
      what: `nobody has called since ${Math.round(provider.lastCallMs())} ms; it is ${Math.round(world.ms)} ms`,
    })
  if (perDay > 0 && provider.calls() > perDay)
    broken.push({ promise: 'the budget is kept', what: `${provider.calls()} calls were made of ${perDay}` })
  fleet.close()
  for (let nth = 0; nth < scenario.gateways; nth++) fleet.halt(nth)
  await world.run(world.ms + 30_000)
}

const atStakeIn = ({ perDay }: GatewaysScenario, done: readonly ActKind[]): readonly GatewayPromise[] => [
  ...(done.some((kind) => kind !== 'lose_answer') ? (['never two callers'] as const) : []),
  perDay === 0 ? 'somebody calls' : 'the budget is kept',
]

// Runs the contract suite against the simulated broker with several seeds per scenario, and prints differences as JSON:
// `node --import ./test/simulation/typescript.mjs test/simulation/contract/simulated-broker.ts [SEEDS] [PART OF A TITLE]`.
import { createCluster } from '../broker/cluster.js'
import { createNetwork, type Network } from '../network.js'
import { frames } from '../wire.js'
import { createWorld, installGlobals } from '../world.js'
import type { Connection } from './client.js'
import { runScenario, type Outcome, type Scenario } from './scenario.js'
import { pairScenarios, restartScenario, scenarios } from './suite.js'

export type SimulatedOutcome = Outcome & { readonly title: string; readonly seed: number }

/** In virtual time; longer than any scenario. */
const limitMs = 3_600_000
const awayMs = 5_000

const simulate = async (scenario: Scenario, seed: number, brokers: number): Promise<SimulatedOutcome> => {
  const world = createWorld(seed)
  const network = createNetwork(world)
  const cluster = createCluster(world, network, { brokers, times: { initialRebalanceDelayMs: 0 } })
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  let outcome: Outcome = { steps: 0, differences: ['it did not come to its end'] }
  world.start('contract', async () => {
    outcome = await runScenario(scenario, {
      connect: (broker) => connectTo(network, `broker-${broker}`, 9092),
      wait,
      now: () => Date.now(),
      restart: async () => {
        cluster.crashBroker(1)
        await wait(awayMs)
        cluster.startBroker(1)
      },
      crash: (broker) => {
        cluster.crashBroker(broker)
        return Promise.resolve()
      },
      unique: (name) => name,
    })
    world.stop()
  })
  await world.run(limitMs)
  world.close()
  return { title: scenario.title, seed, ...outcome }
}

const connectTo = (network: Network, host: string, port: number): Promise<Connection> =>
  new Promise((resolve, reject) => {
    const waiting: { readonly resolve: (message: Buffer) => void; readonly reject: (error: Error) => void }[] = []
    const complete = frames()
    const fail = (error: Error): void => {
      reject(error)
      for (const each of waiting.splice(0)) each.reject(error)
    }
    const socket = network.socketFactory({
      host,
      port,
      onConnect: () =>
        resolve({
          send: (request) =>
            new Promise((answered, failed) => {
              waiting.push({ resolve: answered, reject: failed })
              socket.write(request)
            }),
          close: () => socket.destroy(),
        }),
    })
    socket.on('data', (piece: Buffer) => {
      for (const message of complete(piece)) waiting.shift()?.resolve(message)
    })
    socket.on('error', fail)
    socket.on('end', () => fail(new Error('the broker closed the connection')))
  })

installGlobals()
const [seeds = '1', part = ''] = process.argv.slice(2)
const outcomes: SimulatedOutcome[] = []
for (const [brokers, suite] of [
  [1, [...scenarios, restartScenario]],
  [2, pairScenarios],
] as const)
  for (const scenario of suite.filter(({ title }) => title.includes(part)))
    for (let seed = 1; seed <= Number(seeds); seed++) outcomes.push(await simulate(scenario, seed, brokers))
process.stdout.write(JSON.stringify(outcomes))

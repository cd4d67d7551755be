// Promise: a real broker that is killed and started again answers as the contract says that the simulated one is held to.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startBroker, type Broker } from '../../../src/parts/demo/broker.js'
import { realBroker } from '../../simulation/contract/real-broker.js'
import { runScenario } from '../../simulation/contract/scenario.js'
import { restartScenario } from '../../simulation/contract/suite.js'

let broker: Broker

beforeAll(async () => {
  const started = await startBroker({ env: { ...process.env, KAFKA_BROKERS: undefined } })
  if ('missing' in started) throw new Error(started.missing)
  broker = started
})
afterAll(() => broker.stop())

it(restartScenario.title, async () => {
  const target = realBroker(broker.plain, async () => {
    await broker.halt()
    await broker.resume()
  })
  expect((await runScenario(restartScenario, target)).differences).toEqual([])
})

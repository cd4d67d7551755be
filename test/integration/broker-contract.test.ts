// Promise: a real broker answers as the contract says that the simulated one is held to, too.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startBroker, type Broker } from '../../src/demo/broker.js'
import { realBroker } from '../simulation/contract/real-broker.js'
import { runScenario } from '../simulation/contract/scenario.js'
import { restartScenario, scenarios } from '../simulation/contract/suite.js'

describe('a real broker', () => {
  const shared = (): Promise<void> => Promise.reject(new Error('this broker is for all tests'))

  // Most of their time they wait for sessions and transactions to end.
  it.concurrent.each(scenarios.map((scenario) => [scenario.title, scenario] as const))('%s', async (_, scenario) => {
    const { differences } = await runScenario(scenario, realBroker(inject('broker').plain, shared))
    expect(differences).toEqual([])
  })
})

describe('a real broker of its own', () => {
  let broker: Broker
  beforeAll(async () => {
    const started = await startBroker({ env: { ...process.env, KAFKA_BROKERS: undefined }, say: () => undefined })
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
})

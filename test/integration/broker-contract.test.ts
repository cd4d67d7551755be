// Promise: a real broker answers as the contract says that the simulated one is held to, too. What stops the broker: long/broker-restart-contract.
import { describe, expect, inject, it } from 'vitest'
import { realBroker } from '../simulation/contract/real-broker.js'
import { runScenario } from '../simulation/contract/scenario.js'
import { scenarios } from '../simulation/contract/suite.js'

describe('a real broker', () => {
  const shared = (): Promise<void> => Promise.reject(new Error('this broker is for all tests'))

  // Most of their time they wait for sessions and transactions to end.
  it.concurrent.each(scenarios.map((scenario) => [scenario.title, scenario] as const))('%s', async (_, scenario) => {
    const { differences } = await runScenario(scenario, realBroker(inject('broker').plain, shared))
    expect(differences).toEqual([])
  })
})

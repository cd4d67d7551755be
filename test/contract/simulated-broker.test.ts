// The simulated broker answers as the contract says, whatever the seed; test/integration/broker-contract.test.ts holds a real one to it.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { pairScenarios, restartScenario, scenarios } from '../simulation/contract/suite.js'
import type { SimulatedOutcome } from '../simulation/contract/simulated-broker.js'

const simulation = resolve(import.meta.dirname, '../simulation')
const seeds = 5

describe('the simulated broker', () => {
  let outcomes: readonly SimulatedOutcome[]
  beforeAll(async () => {
    // In a process of its own: virtual time is for everything in it.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        '--import',
        resolve(simulation, 'typescript.mjs'),
        resolve(simulation, 'contract/simulated-broker.ts'),
        `${seeds}`,
      ],
      { maxBuffer: 100_000_000 },
    )
    outcomes = JSON.parse(stdout) as SimulatedOutcome[]
  })

  it.each([...scenarios, restartScenario, ...pairScenarios].map(({ title }) => title))('%s', (title) => {
    const runs = outcomes.filter((outcome) => outcome.title === title)
    expect(
      runs.flatMap(({ seed, differences }) => differences.map((difference) => `seed ${seed}: ${difference}`)),
    ).toEqual([])
    expect(runs.filter(({ steps }) => steps > 0)).toHaveLength(seeds)
  })
})

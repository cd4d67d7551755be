// The promises under faults, in virtual time, for a fixed set of seeds.
import { describe, expect, it } from 'vitest'
import { run, simulate } from './run-simulation.js'

describe('the promises hold under faults', () => {
  it('15 executions; a seed is the same each time, byte for byte, and processes share nothing', async () => {
    const { failed, different, told, faults, atStake } = await simulate('--seeds', '15', '--twice', '3')
    expect(failed, told).toEqual([])
    expect(different).toEqual([])
    expect(Object.keys(faults).length).toBeGreaterThan(5)
    expect(atStake['exactly once']).toBeGreaterThan(2)
    expect(atStake['a replay is complete']).toBeGreaterThan(0)
  })
})

describe('of several gateways one calls, under faults', () => {
  it('12 executions, of which some are run twice', async () => {
    const { failed, different, told, faults, atStake } = await simulate('--gateways', '--seeds', '12', '--twice', '2')
    expect(failed, told).toEqual([])
    expect(different).toEqual([])
    expect(Object.keys(faults).length).toBeGreaterThan(5)
    expect(atStake['never two callers']).toBeGreaterThan(9)
    expect(atStake['the budget is kept']).toBeGreaterThan(0)
  })
})

it('virtual time is as Node runs it in real time', async () => {
  expect((await run('world-checks.ts')).stdout).toBe('[]')
})

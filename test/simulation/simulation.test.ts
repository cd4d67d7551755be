// The promises under faults, in virtual time: a fixed set of seeds, and those that once failed, each under the name of what it broke. In a
// process of its own, because virtual time takes over the clock, the timers and the randomness of the whole process.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

type Summary = {
  readonly seeds: number
  readonly failed: readonly number[]
  readonly different: readonly number[]
  readonly faults: Readonly<Record<string, number>>
  readonly atStake: Readonly<Record<string, number>>
}

/** Not as a test: Vitest's variables would change what kafkajs does. */
const { NODE_ENV: _, VITEST: __, ...env } = process.env

const run = (
  file: string,
  ...options: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> =>
  promisify(execFile)(
    process.execPath,
    ['--import', resolve(import.meta.dirname, 'typescript.mjs'), resolve(import.meta.dirname, file), ...options],
    { env, maxBuffer: 1e8 },
  )

const simulate = async (...options: readonly string[]): Promise<Summary & { readonly told: string }> => {
  const { stdout, stderr } = await run('simulate.ts', '--json', ...options).catch(
    (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
  )
  const summary = /^\{.*\}$/m.exec(stdout)?.[0]
  if (summary === undefined) throw new Error(`${stdout}\n${stderr}`)
  return { ...(JSON.parse(summary) as Summary), told: stdout }
}

describe('the promises hold under faults', () => {
  it('30 executions; a seed is the same each time, byte for byte, and processes share nothing', async () => {
    const { failed, different, told, faults, atStake } = await simulate('--seeds', '30', '--twice', '5')
    expect(failed, told).toEqual([])
    expect(different).toEqual([])
    expect(Object.keys(faults).length).toBeGreaterThan(5)
    expect(atStake['exactly once']).toBeGreaterThan(5)
    expect(atStake['a replay is complete']).toBeGreaterThan(1)
  })
})

describe('of several gateways one calls, under faults', () => {
  it('25 executions, of which some are run twice', async () => {
    const { failed, different, told, faults, atStake } = await simulate('--gateways', '--seeds', '25', '--twice', '3')
    expect(failed, told).toEqual([])
    expect(different).toEqual([])
    expect(Object.keys(faults).length).toBeGreaterThan(5)
    expect(atStake['never two callers']).toBeGreaterThan(20)
    expect(atStake['the budget is kept']).toBeGreaterThan(3)
  })
})

it('virtual time is as Node runs it in real time', async () => {
  expect((await run('world-checks.ts')).stdout).toBe('[]')
})

it('what was found once stays mended', async () => {
  const { seeds, failed, told } = await simulate('--found')
  expect(failed, told).toEqual([])
  expect(seeds).toBeGreaterThan(5)
})

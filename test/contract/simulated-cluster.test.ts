// The simulated world and cluster themselves: the same seed is the same execution, and the program delivers through every fault.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)

type Result = {
  readonly seed: number
  readonly hash: string
  readonly fed: number
  readonly missing: number
  readonly repeated: number
  readonly aborted: number
  readonly exits: readonly string[]
}

/** In a process of its own, and not as a test: kafkajs takes other retries where NODE_ENV says so. */
const child = async (file: string, ...given: readonly string[]): Promise<string> => {
  const { NODE_ENV: _test, ...env } = process.env
  const { stdout } = await run(
    process.execPath,
    ['--import', './test/simulation/typescript.mjs', `test/simulation/${file}`, ...given],
    { env, maxBuffer: 2 ** 28 },
  )
  return stdout
}

const execute = async (options: object): Promise<readonly Result[]> => {
  const lines = await child('broker/acceptance.ts', JSON.stringify(options))
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
}

const seeds = [1, 2]
/** All but a topic that is made again, which loses what was in the former. */
const faults = ['kill', 'pause', 'cut', 'lose request', 'lose answer', 'late answer', 'away', 'restart', 'crash', 'leader', 'coordinator'] // prettier-ignore

describe('the simulated cluster', () => {
  it('runs processes in virtual time as Node runs them in real time', async () => {
    expect(JSON.parse(await child('world-checks.ts'))).toEqual([])
  })

  for (const brokers of [1, 3])
    for (const isTransactional of [false, true])
      it(`delivers ${isTransactional ? 'exactly once' : 'at least once'} through the faults of ${brokers} broker(s)`, async () => {
        const results = await execute({ brokers, isTransactional, seeds, faults })
        for (const { seed, fed, missing, repeated, aborted, exits } of results) {
          expect({ seed, missing, aborted, exits }).toEqual({ seed, missing: 0, aborted: 0, exits: [] })
          expect(fed).toBeGreaterThan(300)
          if (isTransactional) expect({ seed, repeated }).toEqual({ seed, repeated: 0 })
        }
      })

  it('gives one seed one execution, however microtasks are run and also where sharing is watched', async () => {
    const options = { brokers: 3, isTransactional: true, seeds: [1, 2] }
    const hashes = await Promise.all(
      [{}, { drain: 'immediate' }, { debug: true }].map(async (more) =>
        (await execute({ ...options, ...more })).map(({ hash }) => hash),
      ),
    )
    expect(hashes[1]).toEqual(hashes[0])
    expect(hashes[2]).toEqual(hashes[0])
    expect(new Set(hashes[0]).size).toBe(2)
  })
})

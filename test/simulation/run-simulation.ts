// Runs a simulation in a separate process, because virtual time replaces the clock, timers and randomness of the whole process.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

type Summary = {
  readonly seeds: number
  readonly failed: readonly number[]
  readonly different: readonly number[]
  readonly faults: Readonly<Record<string, number>>
  readonly atStake: Readonly<Record<string, number>>
}

/** Without Vitest's variables, which would change how kafkajs behaves. */
const { NODE_ENV: _, VITEST: __, ...env } = process.env

export const run = (
  file: string,
  ...options: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> =>
  promisify(execFile)(
    process.execPath,
    ['--import', resolve(import.meta.dirname, 'typescript.mjs'), resolve(import.meta.dirname, file), ...options],
    { env, maxBuffer: 1e8 },
  )

export const simulate = async (...options: readonly string[]): Promise<Summary & { readonly told: string }> => {
  const { stdout, stderr } = await run('simulate.ts', '--json', ...options).catch(
    (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
  )
  const summary = /^\{.*\}$/m.exec(stdout)?.[0]
  if (summary === undefined) throw new Error(`${stdout}\n${stderr}`)
  return { ...(JSON.parse(summary) as Summary), told: stdout }
}

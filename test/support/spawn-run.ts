// Starts `threatweave run` or `serve` as a process and stops it.
import { spawn } from 'node:child_process'
import { inject } from 'vitest'
import { cliPath } from './cli.js'
import type { Names } from './kafka.js'

export type Run = {
  readonly pid: number
  /** Where its endpoint listens; it does when `THREATWEAVE_OPS_ENABLED` is true. */
  readonly opsUrl: Promise<string>
  readonly ended: Promise<number | null>
  readonly kill: (signal: NodeJS.Signals) => void
  /** SIGTERM; resolves with the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Documentation addresses count as real; nothing is kept on disk and nothing but errors is logged unless `env` says so. */
export const spawnRun = (names: Names, env: Readonly<Record<string, string>>, args: readonly string[] = []): Run =>
  start(['run', ...args], {
    THREATWEAVE_GATE_DOCUMENTATION: 'true',
    THREATWEAVE_MEMORY_PATH: 'none',
    THREATWEAVE_KAFKA_GROUP_ID: names.groupId,
    THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
    THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
    ...env,
  })

/** A gateway, or a server on local data. */
export const spawnServe = (env: Readonly<Record<string, string>>, args: readonly string[]): Run =>
  start(['serve', ...args], { THREATWEAVE_SERVE_OPS_PORT: '0', ...env })

const start = (args: readonly string[], given: Readonly<Record<string, string>>): Run => {
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    THREATWEAVE_LOG_LEVEL: 'error',
    THREATWEAVE_OPS_ENABLED: 'false',
    THREATWEAVE_OPS_PORT: '0',
    THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
    THREATWEAVE_KAFKA_BROKERS: given.THREATWEAVE_KAFKA_BROKERS ?? inject('broker').plain,
    ...given,
  }
  const child = spawn(process.execPath, [cliPath, ...args], { stdio: ['ignore', 'ignore', 'pipe'], env })
  const ended = new Promise<number | null>((done) => child.once('exit', done))
  const opsUrl = new Promise<string>((found) => {
    let log = ''
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      if (env.THREATWEAVE_OPS_ENABLED !== 'true') process.stderr.write(part)
      else if (log.length < 65_536) {
        log += part
        const url = /"event":"ops_listening","url":"([^"]+)"/.exec(log)?.[1]
        if (url !== undefined) found(url)
      }
    })
  })
  return {
    pid: child.pid ?? 0,
    opsUrl,
    ended,
    kill: (signal) => child.kill(signal),
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

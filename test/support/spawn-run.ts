// Starts and stops `threatweave run`, `serve` or `notify`, as a separate process or in the loaded program.
import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { inject } from 'vitest'
import { cliPath } from './cli.js'
import type { Names } from './kafka.js'
import { startLoaded } from './loaded-program.js'

export type Run = {
  /** The address of its ops endpoint, if `THREATWEAVE_OPS_ENABLED` is true. */
  readonly opsUrl: Promise<string>
  readonly ended: Promise<number | null>
  /** Sends SIGTERM and resolves with the exit code. */
  readonly stop: () => Promise<number | null>
}

export type RunProcess = Run & {
  readonly pid: number
  readonly stderr: Readable
  readonly kill: (signal: NodeJS.Signals) => void
}

type Environment = Readonly<Record<string, string>>

/** For tests of its effects on topics and servers. */
export const startRun = (names: Names, given: Environment): Run => {
  if (given.NODE_OPTIONS !== undefined)
    throw new Error('options of Node, and so other limits, need a process of their own')
  const env = environmentOf(runSettings(names, given))
  const { stderr, code, stop } = startLoaded(['run'], env)
  return {
    opsUrl: opsUrlIn(stderr, env),
    ended: code,
    stop: () => {
      stop()
      return code
    },
  }
}

/** For tests of its exit, and for workers. */
export const spawnRun = (names: Names, env: Environment, args: readonly string[] = []): RunProcess =>
  start(['run', ...args], runSettings(names, env))

/** Starts a gateway or a server with local data. */
export const spawnServe = (env: Environment, args: readonly string[]): RunProcess =>
  start(['serve', ...args], { THREATWEAVE_SERVE_OPS_PORT: '0', ...env })

/** Starts notify on a topic of alerts. */
export const spawnNotify = (env: Environment): RunProcess =>
  start(['notify'], {
    THREATWEAVE_NOTIFY_OPS_PORT: '0',
    THREATWEAVE_OPS_ENABLED: 'true',
    THREATWEAVE_LOG_LEVEL: 'info',
    ...env,
  })

/** Documentation addresses count as real, and nothing is stored on disk. */
const runSettings = (names: Names, env: Environment): Environment => ({
  THREATWEAVE_GATE_DOCUMENTATION: 'true',
  THREATWEAVE_MEMORY_PATH: 'none',
  THREATWEAVE_KAFKA_GROUP_ID: names.groupId,
  THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
  THREATWEAVE_KAFKA_INPUT_START: 'earliest',
  THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
  THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
  ...env,
})

/** Logs only errors by default. */
const environmentOf = (given: Environment): Environment => ({
  PATH: process.env.PATH ?? '',
  THREATWEAVE_LOG_LEVEL: 'error',
  THREATWEAVE_OPS_ENABLED: 'false',
  THREATWEAVE_OPS_PORT: '0',
  THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
  THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
  THREATWEAVE_KAFKA_BROKERS: given.THREATWEAVE_KAFKA_BROKERS ?? inject('broker').plain,
  ...given,
})

const opsUrlIn = (stderr: Readable, { THREATWEAVE_OPS_ENABLED }: Environment): Promise<string> =>
  new Promise((found) => {
    let log = ''
    stderr.setEncoding('utf8').on('data', (part: string) => {
      if (THREATWEAVE_OPS_ENABLED !== 'true') process.stderr.write(part)
      else if (log.length < 65_536) {
        log += part
        const url = /"event":"ops_listening","url":"([^"]+)"/.exec(log)?.[1]
        if (url !== undefined) found(url)
      }
    })
  })

const start = (args: readonly string[], given: Environment): RunProcess => {
  const env = environmentOf(given)
  const child = spawn(process.execPath, [cliPath, ...args], { stdio: ['ignore', 'ignore', 'pipe'], env })
  const ended = new Promise<number | null>((done) => child.once('exit', done))
  return {
    pid: child.pid ?? 0,
    stderr: child.stderr,
    opsUrl: opsUrlIn(child.stderr, env),
    ended,
    kill: (signal) => child.kill(signal),
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

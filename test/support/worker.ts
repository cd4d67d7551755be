// Starts a Kafka runner in a separate process, so that tests can kill it.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import type { KafkaHealth } from '../../src/kafka/health.js'
import type { KafkaSettings } from '../../src/kafka/settings.js'
import { cliPath } from './cli.js'
import { startLoaded } from './loaded-program.js'
import type { Names, Read } from './kafka.js'
import { ruleText } from './rules.js'

export type WorkerEvent = { readonly event: string } & Readonly<Record<string, unknown>>

export type Worker = {
  readonly events: readonly WorkerEvent[]
  readonly errors: () => string
  readonly health: () => KafkaHealth | undefined
  readonly running: () => boolean
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2') => void
  /** The exit code; null after a signal. */
  readonly exit: Promise<number | null>
  /** Waits for this event. */
  readonly said: (event: string, limitMs?: number) => Promise<WorkerEvent>
}

export type WorkerOptions = {
  readonly placement?: 'json' | 'headers' | 'topic'
  /** The processing time of a chunk. */
  readonly delayMs?: number
  /** Emits `held` with the partition and holds its work until SIGUSR2. */
  readonly holds?: boolean
  readonly quiet?: boolean
  /** Added to all its annotations. */
  readonly mark?: string
}

const all = new Set<Worker>()

export const startWorker = (settings: KafkaSettings, options: WorkerOptions = {}): Worker => {
  const child = spawn(
    process.execPath,
    [resolve(import.meta.dirname, 'worker.mjs'), JSON.stringify({ settings, ...options })],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  return followChild(child, child.stdout, child.stderr)
}

/** The only address in the program's feed and rule; one in 250 filled events has it. */
export const listed = '192.0.2.7'

/** Origins of the filled events with `listed`, among the first `count`. */
export const originsListed = (topic: string, partitions: number, count: number, isMixed = false): readonly string[] =>
  Array.from({ length: partitions * count }, (_, place) => [Math.floor(place / count), place % count] as const)
    .filter(([, seq]) => seq % 250 === 7)
    .map(([partition, seq]) => `${topic}/${partition}/${isMixed ? placeOfMixed(seq) : seq}`)
    .toSorted()

const placeOfMixed = (seq: number): string => {
  const first = Math.floor(seq / 5) * 2
  return seq % 5 < 4 ? `${first}#${seq % 5}` : String(first + 1)
}

export const alertedOrigins = (alerts: readonly Read[]): readonly string[] =>
  alerts
    .map(({ value }) => (JSON.parse(String(value)) as { threatweave: { origin: string } }).threatweave.origin)
    .toSorted()

/** Starts `threatweave run` with a feed and a rule that raises an alert for every event with `listed`; its log lines become events. */
export const startProgram = (names: ProgramNames, env: Environment): Worker => {
  const child = spawn(process.execPath, [cliPath, 'run'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: programEnvironment(names, env),
  })
  return followChild(child, child.stderr)
}

/** The same in the loaded program, where any signal just stops it. */
export const startLoadedProgram = (names: ProgramNames, env: Environment): Worker => {
  const { stderr, code, stop } = startLoaded(['run'], programEnvironment(names, env))
  let isRunning = true
  const exit = code.finally(() => (isRunning = false))
  return follow(stderr, { exit, running: () => isRunning, kill: stop })
}

type ProgramNames = Names & { readonly alerts: string }
type Environment = Readonly<Record<string, string>>

const programEnvironment = (names: ProgramNames, env: Environment): Environment => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-program-'))
  writeFileSync(join(folder, 'feed.txt'), `${listed}\n`)
  writeFileSync(
    join(folder, 'rule.yml'),
    ruleText('selection:\n    threatweave.verdict: malicious\ncondition: selection'),
  )
  return {
    PATH: process.env.PATH ?? '',
    THREATWEAVE_GATE_DOCUMENTATION: 'true',
    THREATWEAVE_LOG_LEVEL: 'info',
    THREATWEAVE_OPS_ENABLED: 'false',
    THREATWEAVE_MEMORY_PATH: 'none',
    THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'listed', path: join(folder, 'feed.txt') }]),
    THREATWEAVE_ALERTS_RULES: join(folder, 'rule.yml'),
    THREATWEAVE_ALERTS_SUPPRESS_SECONDS: '0',
    THREATWEAVE_KAFKA_BROKERS: env['THREATWEAVE_KAFKA_BROKERS'] ?? inject('broker').plain,
    THREATWEAVE_KAFKA_GROUP_ID: names.groupId,
    THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
    THREATWEAVE_KAFKA_INPUT_START: 'earliest',
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
    THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
    THREATWEAVE_KAFKA_ALERTS_TOPIC: names.alerts,
    THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
    THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '1500',
    ...env,
  }
}

const followChild = (child: ChildProcess, told: Readable, complaints?: Readable): Worker =>
  follow(
    told,
    {
      running: () => child.exitCode === null && child.signalCode === null,
      kill: (signal) => child.kill(signal),
      exit: new Promise((done) => child.once('exit', done)),
    },
    complaints,
  )

const follow = (told: Readable, life: Pick<Worker, 'running' | 'kill' | 'exit'>, complaints?: Readable): Worker => {
  const events: WorkerEvent[] = []
  let health: KafkaHealth | undefined
  let rest = ''
  let errors = ''
  told.on('data', (data: Buffer) => {
    const lines = (rest + data.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('{')) {
        errors += `${line}\n`
        continue
      }
      const event = JSON.parse(line) as WorkerEvent
      if (event.event === 'health') health = event as unknown as KafkaHealth
      else events.push(event)
    }
  })
  complaints?.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-4_000)
  })
  const worker: Worker = {
    events,
    errors: () => errors,
    health: () => health,
    ...life,
    said: async (name, limitMs = 150_000) => {
      const until = Date.now() + limitMs
      for (;;) {
        const found = events.find(({ event }) => event === name)
        if (found) return found
        if (Date.now() > until || !worker.running())
          throw new Error(`the worker never said ${name}; it said ${JSON.stringify(events.slice(-8))} ${errors}`)
        await sleep(20)
      }
    },
  }
  all.add(worker)
  return worker
}

/** How often a worker emitted this event. */
export const times = (worker: Worker, name: string): number =>
  worker.events.filter(({ event }) => event === name).length

export const until = async (what: string, holds: () => boolean, limitMs = 150_000): Promise<void> => {
  const limit = Date.now() + limitMs
  while (!holds()) {
    if (Date.now() > limit) throw new Error(`never came: ${what}`)
    await sleep(10)
  }
}

/** For afterEach, so that no test leaves a process behind. */
export const endWorkers = async (): Promise<void> => {
  for (const worker of all) {
    worker.kill('SIGCONT')
    worker.kill('SIGKILL')
    await worker.exit
  }
  all.clear()
}

// A worker of the Kafka service in a process of its own, so that it can be killed.
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KafkaHealth } from '../../src/kafka/health.js'
import type { KafkaSettings } from '../../src/kafka/settings.js'

export type WorkerEvent = { readonly event: string } & Readonly<Record<string, unknown>>

export type Worker = {
  readonly events: readonly WorkerEvent[]
  readonly errors: () => string
  readonly health: () => KafkaHealth | undefined
  readonly running: () => boolean
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT') => void
  /** The exit code; null if a signal ended it. */
  readonly exit: Promise<number | null>
  /** Waits until this has been said. */
  readonly said: (event: string, limitMs?: number) => Promise<WorkerEvent>
}

export type WorkerOptions = {
  readonly placement?: 'json' | 'headers' | 'topic'
  /** How long the line takes for a chunk. */
  readonly delayMs?: number
  readonly quiet?: boolean
  /** Stands in every annotation it makes. */
  readonly mark?: string
}

const all = new Set<Worker>()

export const startWorker = (settings: KafkaSettings, options: WorkerOptions = {}): Worker => {
  const child = spawn(
    process.execPath,
    [resolve(import.meta.dirname, 'worker.mjs'), JSON.stringify({ settings, ...options })],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const events: WorkerEvent[] = []
  let health: KafkaHealth | undefined
  let rest = ''
  child.stdout.on('data', (data: Buffer) => {
    const lines = (rest + data.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const event = JSON.parse(line) as WorkerEvent
      if (event.event === 'health') health = event as unknown as KafkaHealth
      else events.push(event)
    }
  })
  let errors = ''
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-4_000)
  })
  const exit = new Promise<number | null>((done) => child.once('exit', done))
  const worker: Worker = {
    events,
    errors: () => errors,
    health: () => health,
    running: () => child.exitCode === null && child.signalCode === null,
    kill: (signal) => child.kill(signal),
    exit,
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

/** How often a worker has said this. */
export const times = (worker: Worker, name: string): number =>
  worker.events.filter(({ event }) => event === name).length

export const until = async (what: string, holds: () => boolean, limitMs = 150_000): Promise<void> => {
  const limit = Date.now() + limitMs
  while (!holds()) {
    if (Date.now() > limit) throw new Error(`never came: ${what}`)
    await sleep(10)
  }
}

/** For afterEach: no test leaves a process behind. */
export const endWorkers = async (): Promise<void> => {
  for (const worker of all) {
    worker.kill('SIGCONT')
    worker.kill('SIGKILL')
    await worker.exit
  }
  all.clear()
}

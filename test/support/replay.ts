// Shared by replay tests: events with fixed times, and the replay command line.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Partitioners, type Message } from 'kafkajs'
import { Ajv } from 'ajv'
import { expect, inject } from 'vitest'
import type { describeSummary } from '../../src/commands/replay/replay-summary.js'
import { readSchema } from './annotation-schema.js'
import { cliPath, root, type Ran } from './cli.js'
import { client, type Names, type Read } from './kafka.js'
import { runLoaded } from './loaded-program.js'

type ReplaySummary = Parameters<typeof describeSummary>[0]

export type Setting = {
  readonly names: Names
  readonly delivery?: 'at-least-once' | 'exactly-once'
  /** Addresses in the malicious feed. */
  readonly feed?: readonly string[]
  /** The address of a lookup service. */
  readonly service?: string
  /** The folder of the memory; none by default. */
  readonly memory?: string
}

export const addressOf = (seq: number): string => `198.51.100.${seq % 200}`

/** Writes firewall events, the same number per partition, `stepMs` apart. */
export const fillTimed = async (
  topic: string,
  partitions: number,
  count: number,
  startMs: number,
  stepMs: number,
): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (let from = 0; from < count; from += 500)
    for (let partition = 0; partition < partitions; partition++) {
      const messages: Message[] = []
      for (let seq = from; seq < Math.min(count, from + 500); seq++)
        messages.push({
          partition,
          key: `${partition}-${seq}`,
          timestamp: String(startMs + seq * stepMs),
          headers: { own: 'kept' },
          value: JSON.stringify({
            seq,
            partition,
            src_ip: `10.0.0.${partition}`,
            dst_ip: addressOf(seq),
            action: 'allow',
          }),
        })
      await producer.send({ topic, messages })
    }
  await producer.disconnect()
}

const configFor = ({
  names,
  delivery = 'at-least-once',
  service,
  feed = service ? [] : ['listed.example.com'],
  memory = 'none',
}: Setting): string => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-replay-'))
  const list = join(folder, 'feed.txt')
  writeFileSync(list, `${feed.join('\n')}\n`)
  const config = {
    kafka: {
      brokers: [inject('broker').plain],
      groupId: names.groupId,
      input: { topics: [names.input], start: 'earliest' },
      output: { topic: names.output },
      deadLetterTopic: names.dead,
      delivery,
      limits: { sessionTimeoutMs: 2000 },
    },
    gate: { documentation: true },
    memory: { path: memory },
    ops: { port: 0 },
    ...(feed.length > 0 && { feeds: [{ name: 'mine', path: list }] }),
    ...(service !== undefined && { intel: { service: { baseUrl: service, apiKey: 'secret', allowHttp: true } } }),
  }
  const path = join(folder, 'threatweave.yaml')
  writeFileSync(path, JSON.stringify(config))
  return path
}

export const runReplay = (setting: Setting, args: readonly string[]): Promise<Ran> =>
  runLoaded(['replay', '--config', configFor(setting), ...args], {
    env: { THREATWEAVE_MEMORY_PATH: setting.memory ?? 'none' },
  })

export const replayed = async (setting: Setting, args: readonly string[]): Promise<ReplaySummary> => {
  const ran = await runReplay(setting, [...args, '--json'])
  if (ran.code !== 0) throw new Error(`replay ended with ${ran.code ?? 'a signal'}: ${ran.stderr}`)
  const summary = JSON.parse(ran.stdout) as ReplaySummary
  expectValidSummary(summary)
  return summary
}

const validate = new Ajv({ allErrors: true }).compile(readSchema('replay-summary'))

export const expectValidSummary = (summary: unknown): void => {
  validate(summary)
  expect(validate.errors ?? []).toEqual([])
}

/** Starts a long-running command that the test stops or kills. */
export const startCli = (command: 'run' | 'replay', setting: Setting, args: readonly string[] = []): Started => {
  const child = spawn(process.execPath, [cliPath, command, '--config', configFor(setting), ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.add(child)
  let said = ''
  const listen = (data: Buffer): void => {
    said += data.toString()
  }
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  const exit = new Promise<number | null>((done) => child.once('exit', done))
  return { child, said: () => said, exit }
}

export type Started = {
  readonly child: ChildProcess
  readonly said: () => string
  readonly exit: Promise<number | null>
}

const started = new Set<ChildProcess>()

/** For afterEach, so that no test leaves a process behind. */
export const endStarted = (): void => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
}

export const bodyOf = ({ value }: Read): { seq: number; partition: number; threatweave: Record<string, unknown> } =>
  JSON.parse(value?.toString() ?? '{}') as { seq: number; partition: number; threatweave: Record<string, unknown> }

export const sequences = (records: readonly Read[], partitions: number): readonly (readonly number[])[] => {
  const found = Array.from({ length: partitions }, (): number[] => [])
  for (const record of records) {
    const { seq, partition } = bodyOf(record)
    found[partition]!.push(seq)
  }
  return found
}

export const through = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, place) => from + place)

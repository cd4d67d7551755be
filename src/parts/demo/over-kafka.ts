// Runs the demo on a broker: creates topics, starts `threatweave run`, shows the three acts and sums up all events.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packageFolder } from '../../base/package-folder.js'
import { loadAny } from '../../app/load-config.js'
import { ConfigurationError } from '../../config/problem.js'
import type { Config } from '../../config/schema.js'
import { kafkaSettingsOf } from '../../app/limits.js'
import { openChat } from './chat.js'
import { freePorts } from './broker.js'
import type { SlowLink } from './slow-link.js'
import { createTopic, deleteTopics, send } from './traffic.js'
import { checkOnline } from '../../kafka/check-online.js'
import type { Io } from '../../terminal/command.js'
import { fromHere } from '../../terminal/from-here.js'
import { createProgress } from '../../terminal/progress.js'
import { called, showFirstAlert, showInChat, showLateVerdict, showRetroAlert, type Stage } from './acts.js'
import { isWaiting, nextText, keptText, showSummary } from './show-summary.js'
import { watchTopics, type Event, type Watched } from './watch-topics.js'

const program = join(packageFolder, 'dist/cli.js')
/** How many times the sample events are sent. */
const rounds = 20

/** Builds the configuration from the environment that the demo's processes get. */
export const configOf = (env: Record<string, string>): Config => {
  const loaded = loadAny({ env, readFile: (path) => readFileSync(path, 'utf8') })
  if ('problems' in loaded) throw new ConfigurationError(loaded.problems)
  return loaded.config
}

type Props = {
  readonly env: Record<string, string>
  readonly brokers: string
  /** Other programs use these brokers, so the demo gives its topics unique names and deletes them at the end. */
  readonly areShared: boolean
  readonly lines: readonly string[]
  readonly link: SlowLink
  /** The list file that changes in the third act. */
  readonly list: string
  /** The number of calls that the lookup server answered. */
  readonly callsMade: () => number
  readonly isKept: boolean
}

/** Rejects with the reason of `io.signal` when the user stops the demo. */
export const overKafka = async (props: Props, io: Io): Promise<void> => {
  const { brokers, areShared, lines, link, list, callsMade, isKept } = props
  const upAt = Date.now()
  const [opsPort = 0] = await freePorts(1)
  const topic = areShared ? `threatweave-demo-${randomBytes(4).toString('hex')}` : 'firewall'
  const output = `${topic}-annotated`
  const env = {
    ...props.env,
    THREATWEAVE_KAFKA_BROKERS: brokers,
    THREATWEAVE_KAFKA_GROUP_ID: topic,
    THREATWEAVE_KAFKA_INPUT_TOPICS: topic,
    THREATWEAVE_KAFKA_INPUT_START: 'earliest',
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: output,
    THREATWEAVE_OPS_PORT: String(opsPort),
  }
  const page = `http://127.0.0.1:${opsPort}/`
  const kafka = kafkaSettingsOf(configOf(env))
  await createTopic(kafka, topic, 4)
  const ready = await checkOnline(kafka, true)
  if (!ready.reached) throw new Error(ready.sentence)
  const worker = spawn(process.execPath, [program, 'run'], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(worker, 'exit')
  const { chat, notifier } = await startNotifier(env, dirname(list))
  const watching = watchTopics(kafka)
  const until: Stage['until'] = async (what, find) => {
    const deadline = Date.now() + 300_000
    let found = find()
    while (found === undefined) {
      io.signal.throwIfAborted()
      if (worker.exitCode !== null) throw new Error(`threatweave run exited before ${what} arrived`)
      if (Date.now() > deadline) throw new Error(`${what} did not arrive in five minutes`)
      await sleep(20)
      found = find()
    }
    return found
  }
  const sendLines = (texts: readonly string[]): Promise<void> =>
    send(kafka, topic, texts.map((text, place) => ({ key: String(place % lines.length), text }))) // prettier-ignore
  try {
    const watched = await watching
    const stage: Stage = {
      io,
      watched,
      send: sendLines,
      until,
      seconds: (at) => `${((at - upAt) / 1000).toFixed(1)} s`,
    }
    io.stdout.write(`Kafka at ${brokers}; threatweave run reads the topic ${topic} and writes ${output}.\n\n`)
    await showFirstAlert(stage, lines)
    await sendLines(Array.from({ length: rounds - 1 }, () => lines).flat())
    await untilAnnotated(stage, rounds * lines.length)
    await showLateVerdict(stage, link)
    await until('threatweave notify', () => (notifier.isReady() ? true : undefined))
    await showRetroAlert(stage, list)
    await showInChat(stage, chat)
    showSummary({ ...(await withCorrections(stage)), calls: callsMade() }, io)
    if (!isKept) io.stdout.write(nextText(page, fromHere(program)))
    else {
      io.stdout.write(keptText({ page, program, brokers, output, origin: originOfCall(watched) }))
      await Promise.race([ended, once(io.signal, 'abort')])
    }
  } finally {
    worker.kill('SIGTERM')
    await Promise.all([ended, notifier.stop(), watching.then(({ stop }) => stop())])
    await chat.close()
    const ofNotify = notifier.isReady() ? [`${kafka.alertsTopic ?? ''}-undelivered`] : []
    if (areShared) await deleteTopics(kafka, [topic, ...ready.created, ...ofNotify])
  }
}

/** Starts `notify`, which sends new alerts to the demo's chat. */
const startNotifier = async (env: Record<string, string>, folder: string) => {
  const chat = await openChat()
  const sink = join(folder, 'chat.yaml')
  writeFileSync(sink, `id: chat\nuse: slack\nurl: ${chat.url}\n`)
  const child = spawn(process.execPath, [program, 'notify'], {
    env: { ...env, THREATWEAVE_NOTIFY_SINKS: sink, THREATWEAVE_NOTIFY_OPS_PORT: '0', THREATWEAVE_LOG_LEVEL: 'info' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  let isReady = false
  child.stderr.setEncoding('utf8').on('data', (log: string) => {
    isReady ||= log.includes('"group_joined"') || log.includes('joined the consumer group')
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  return { chat, notifier: { isReady: () => isReady, stop } }
}

const untilAnnotated = async ({ io, watched, until }: Stage, total: number): Promise<void> => {
  const progress = createProgress(io.stderr, { label: 'annotated', total })
  try {
    await until(`the last of ${total} events`, () => {
      progress.update(watched.events.length, `${watched.events.length} of ${total} events`)
      return watched.events.length >= total ? true : undefined
    })
  } finally {
    progress.end()
  }
}

/** Uses the last event with this indicator: earlier ones may have been sent before their lookup was answered. */
const originOfCall = ({ events }: Watched): string =>
  events.findLast(({ value }) => value.threatweave.value === called.value)?.origin ?? ''

/** All events with their corrections applied. */
const withCorrections = async ({ watched, until }: Stage) => {
  const corrected = new Map<string, Event>()
  const idOf = ({ threatweave }: Event): string => threatweave.enrichment_id ?? ''
  const events = watched.events.map(({ value }) => value)
  const waiting = events.filter(isWaiting)
  await until('a correction', () => {
    for (const { value } of watched.corrections) corrected.set(idOf(value), value)
    return waiting.every((event) => corrected.has(idOf(event))) ? true : undefined
  })
  return { events: events.map((event) => corrected.get(idOf(event)) ?? event), corrected: waiting.length }
}

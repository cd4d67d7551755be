// The demo through a broker: topics, `threatweave run`, sample events in, annotated events and alerts out.
import { readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packageFolder } from '../../base/package-folder.js'
import { load } from '../../config/load.js'
import { ConfigurationError } from '../../config/problem.js'
import type { Config } from '../../config/schema.js'
import { kafkaSettingsOf } from '../../app/limits.js'
import { freePorts } from '../../demo/broker.js'
import { createTopic, receive, send } from '../../demo/traffic.js'
import { checkOnline } from '../../kafka/check-online.js'
import type { Io } from '../../terminal/command.js'
import { createProgress } from '../../terminal/progress.js'
import { keptText, showAlert, showEvents } from './show-events.js'

const program = join(packageFolder, 'dist/cli.js')
/** How often the sample events are sent. */
export const rounds = 100

/** The configuration of the demo, from the environment that its parts are started with. */
export const configOf = (env: Record<string, string>): Config => {
  const loaded = load({ env, readFile: (path) => readFileSync(path, 'utf8') })
  if ('problems' in loaded) throw new ConfigurationError(loaded.problems)
  return loaded.config
}

export const overKafka = async (
  given: Record<string, string>,
  lines: readonly string[],
  io: Io,
  isKept: boolean,
): Promise<void> => {
  const [opsPort = 0] = await freePorts(1)
  const env = { ...given, THREATWEAVE_OPS_PORT: String(opsPort) }
  const page = `http://127.0.0.1:${opsPort}/`
  const kafka = kafkaSettingsOf(configOf(env))
  await createTopic(kafka, 'firewall', 4)
  const ready = await checkOnline(kafka, true)
  if (!ready.reached) throw new Error(ready.sentence)
  const all = Array.from({ length: rounds }, () => lines).flat()
  const out: Buffer[] = []
  const alerts: Buffer[] = []
  const worker = spawn(process.execPath, [program, 'run'], {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const ended = new Promise<number | null>((done) => worker.once('exit', done))
  const readers = [
    await receive(kafka, kafka.output.topic, (value) => void out.push(Buffer.from(value))),
    await receive(kafka, 'firewall-alerts', (value) => void alerts.push(Buffer.from(value))),
  ]
  const progress = createProgress(io.stderr, { label: 'annotated', total: all.length })
  try {
    io.stdout.write(
      `Sending ${all.length} sample firewall events to the topic firewall; threatweave run writes to firewall-annotated.\n`,
    )
    const deadline = Date.now() + 120_000
    const untilOut = async (count: number): Promise<void> => {
      while (out.length < count && worker.exitCode === null && !io.signal.aborted) {
        if (Date.now() > deadline)
          throw new Error(`only ${out.length} of ${all.length} events were written in two minutes`)
        progress.update(out.length, `${out.length} of ${all.length} events`)
        await sleep(50)
      }
    }
    // The first events fill the empty memory; the rest use it.
    await send(kafka, 'firewall', all.slice(0, lines.length))
    await untilOut(lines.length)
    await send(kafka, 'firewall', all.slice(lines.length))
    await untilOut(all.length)
    progress.end()
    if (out.length < all.length && !io.signal.aborted)
      throw new Error('threatweave run exited before every event was written')
    if (io.signal.aborted) return
    showEvents(out, io)
    showAlert(alerts, io)
    if (!isKept) io.stdout.write(`\nThe status page was at ${page}; with --keep it stays until Ctrl-C.\n`)
    else {
      io.stdout.write(keptText(page, program, given.THREATWEAVE_KAFKA_BROKERS ?? ''))
      await Promise.race([ended, once(io.signal, 'abort')])
    }
  } finally {
    progress.end()
    worker.kill('SIGTERM')
    await Promise.all([ended, ...readers.map((stop) => stop())])
  }
}

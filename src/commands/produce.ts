// The `produce` command: sends the lines of a file to a topic as test events.
import { accessSync, constants } from 'node:fs'
import { messageOf } from '../base/message-of.js'
import { createRateLimit } from '../base/rate-limit.js'
import { connectedSettingsOf } from '../app/connected-settings.js'
import { connectionProblems } from '../app/start-problems.js'
import { loadConfig } from '../app/load-config.js'
import { configOption } from '../config/load-config.js'
import { ConfigurationError } from '../config/problem.js'
import { isTopicName } from '../config/topic-name.js'
import { printable } from '../domain/control-characters.js'
import { readLines, withInputErrors } from '../input/read-lines.js'
import type { Line } from '../input/split-array.js'
import { withTopicWriter } from '../kafka/topic-writer.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { createProgress } from '../terminal/progress.js'
import { reportStop } from '../terminal/report-stop.js'

export const produce: Command = {
  summary: 'send the lines of a file to a Kafka topic, as test events',
  help: `Usage: threatweave produce [options] FILE TOPIC

Sends each line of FILE (.gz too; - is standard input) as one record to TOPIC, without a key, round its partitions; of a JSON array
each element. Empty lines are left out. It connects with the settings of \`run\`: kafka.brokers, kafka.tls, kafka.sasl.

A topic that does not exist is refused; this command and \`run\` never make one by accident.

      --create-topic N   create the topic with N partitions if it does not exist
      --rate N           at most N lines per second (default: as fast as the brokers take them)
  -c, --config FILE      the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help             this text

Example:
  export THREATWEAVE_KAFKA_BROKERS=localhost:9092
  threatweave produce --create-topic 4 examples/logs/firewall.log firewall
  tail -f /var/log/ufw.log | threatweave produce - firewall

Exit codes: 0 every line was written, 1 not so, 64 wrong usage, 78 wrong configuration, 130 and 143 interrupted by SIGINT and
SIGTERM. A line may be there twice when a broker was lost while it was sent.
`,
  options: { ...configOption, 'create-topic': { type: 'string' }, rate: { type: 'string' } },
  takesArguments: ['file', []],
  run: async (args, io) => {
    const { file, topic, create, rate } = readArguments(args)
    refuseUnreadable(file)
    const config = loadConfig(args, io)
    const problems = connectionProblems(config)
    if (problems.length > 0) throw new ConfigurationError(problems)
    const settings = connectedSettingsOf(config, { env: io.env })
    const mayGo = createRateLimit(rate, Date.now, io.signal)
    const progress = createProgress(io.stderr, { label: 'sending' })
    let sent = 0
    let refusedLines = 0
    const options = { topic, create, signal: io.signal, now: Date.now }
    const refused = await withTopicWriter(settings, options, async ({ partitions, isNew, send }) => {
      if (isNew) io.stdout.write(`Topic ${topic} was created with ${partitions} ${of(partitions, 'partition')}.\n`)
      await withInputErrors(async () => {
        for await (const batch of batches([file], rate, io)) {
          await mayGo(batch.length)
          if (io.signal.aborted) return
          const notTaken = await send(batch.map(({ bytes }) => bytes))
          sent += batch.length - notTaken.length
          refusedLines += notTaken.length
          for (const { place, why } of notTaken)
            io.stderr.write(`threatweave: ${printable(`${batch[place]?.origin ?? file} was refused: ${why}`)}\n`)
          progress.update(sent, `${sent} lines`)
        }
      })
      return undefined
    }).finally(() => progress.end())
    if (!refused || sent > 0) io.stdout.write(`${sent} ${of(sent, 'line')} sent to topic ${topic}.\n`)
    if (refused) io.stderr.write(`threatweave: ${printable(refused.refused)}${hint(refused.refused, topic)}\n`)
    if (refused || refusedLines > 0) return exitCodes.failure
    return reportStop(sent, io, 'line')
  },
}

/** Fails before a topic is created for an unreadable file. */
const refuseUnreadable = (file: string): void => {
  try {
    if (file !== '-') accessSync(file, constants.R_OK)
  } catch (error) {
    throw new UsageError(`cannot read the input ${file}: ${messageOf(error)}`)
  }
}

const of = (count: number, what: string): string => (count === 1 ? what : `${what}s`)

const hint = (why: string, topic: string): string =>
  why === `topic ${topic} does not exist` ? '; create it, or give --create-topic N with the number of partitions' : ''

type Request = {
  readonly file: string
  readonly topic: string
  readonly create: number | undefined
  readonly rate: number | undefined
}

const readArguments = ({ positionals, values }: Arguments): Request => {
  const [file, topic, ...more] = positionals
  if (file === undefined || topic === undefined || more.length > 0)
    throw new UsageError('produce takes a file and a topic: threatweave produce firewall.log firewall')
  if (!isTopicName(topic)) throw new UsageError(`${JSON.stringify(topic)} is not a valid topic name`)
  const whole = (name: string): number | undefined => {
    const value = values[name]
    if (value === undefined) return undefined
    if (typeof value !== 'string' || !/^[1-9]\d{0,5}$/.test(value))
      throw new UsageError(`--${name} takes a whole number from 1 on, not ${JSON.stringify(value)}`)
    return Number(value)
  }
  return { file, topic, create: whole('create-topic'), rate: whole('rate') }
}

const maxLines = 500
const maxBytes = 262_144

/** With a rate limit ten batches per second, to avoid bursts. */
async function* batches(
  files: readonly string[],
  rate: number | undefined,
  { stdin, signal }: Io,
): AsyncGenerator<readonly Line[]> {
  const most = rate === undefined ? maxLines : Math.min(maxLines, Math.ceil(rate / 10))
  for await (const lines of readLines(files, stdin, signal)) {
    let batch: Line[] = []
    let bytes = 0
    for (const line of lines) {
      if (line.bytes.length === 0) continue
      if (batch.length === most || (batch.length > 0 && bytes + line.bytes.length > maxBytes)) {
        yield batch
        batch = []
        bytes = 0
      }
      batch.push(line)
      bytes += line.bytes.length
    }
    if (batch.length > 0) yield batch
  }
}

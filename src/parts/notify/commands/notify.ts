// The `notify` command: sends alerts from the alerts topic to people and other systems until stopped.
import { kafkaProblems } from '../../../app/start-problems.js'
import { runNotify, testSink } from '../run-notify.js'
import { loadConfig } from '../../../app/load-config.js'
import { configOption } from '../../../config/load-config.js'
import { ConfigurationError } from '../../../config/problem.js'
import type { Config } from '../../../config/schema.js'
import { printable } from '../../../domain/control-characters.js'
import { createLogger } from '../../../telemetry/logger.js'
import { exitCodes, UsageError, type Command, type Io } from '../../../terminal/command.js'

export const notify: Command = {
  summary: 'send alerts to chat, pagers, tickets and SIEMs, until stopped',
  help: `Usage: threatweave notify [options]
       threatweave notify --test SINK [options]

Reads kafka.alertsTopic and sends each alert to the sinks of notify.sinks that take it. A sink is a file: where requests go and
how they are made of an alert; webhook, slack, mattermost, pagerduty, alertmanager, opensearch, elasticsearch and splunk-hec
are bundled. Each sink has a consumer group of its own (kafka.groupId-notify-ID), so that one that is away delays no other.

An alert is done when its sink has answered 2xx. What a sink refuses for good goes to notify.deadLetterTopic with its answer;
everything else is sent again. After a crash an alert may be sent twice, with the same id; none is lost. The first start of a
sink begins with the next alert. notify.silences names the file of silences (\`threatweave silence\` writes entries).

Options:
      --test SINK       send one sample alert to the sink with this id, say what it answered, and end
  -c, --config FILE     the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help            this text

Health, readiness and metrics are on notify.opsPort. \`threatweave check FILE\` checks a sink or a file of silences.

Example:
  printf 'id: soc-chat\\nuse: slack\\nurlFile: slack-url.txt\\n' > soc-chat.yaml
  export THREATWEAVE_NOTIFY_SINKS=soc-chat.yaml
  threatweave notify --test soc-chat && threatweave notify

Exit codes: 0 stopped in order, or the sample alert was delivered; 1 failed, 64 wrong usage, 78 a problem that a restart does
not fix.
`,
  options: { ...configOption, test: { type: 'string' } },
  run: async (args, io) => {
    const config = loadConfig(args, io)
    if (typeof args.values.test === 'string') return sendSample(config, args.values.test, io)
    const problems = kafkaProblems(config).filter(({ setting }) => !ofEvents.has(setting))
    if (problems.length > 0) throw new ConfigurationError(problems)
    const pretty = config.log.format === 'auto' ? io.stderr.isTTY === true : config.log.format === 'pretty'
    const emit = createLogger(io.stderr, { level: config.log.level, pretty, clock: Date.now })
    const failure = await runNotify(config, { env: io.env, emit, signal: io.signal })
    emit({ event: 'stopped', command: 'notify', cause: failure?.sentence ?? String(io.signal.reason) })
    if (failure === undefined) return exitCodes.ok
    io.stderr.write(`threatweave: ${printable(failure.sentence)}\n`)
    return failure.code
  },
}

/** Not needed here: notify neither reads nor writes events. */
const ofEvents = new Set(['kafka.input.topics', 'kafka.output.topic'])

const sendSample = async (config: Config, id: string, io: Io): Promise<number> => {
  const outcome = await testSink(config, id, { env: io.env, now: Date.now })
  if ('unknown' in outcome) {
    const known = outcome.unknown.length === 0 ? 'notify.sinks names none' : `there are ${outcome.unknown.join(', ')}`
    throw new UsageError(`no sink has the id ${JSON.stringify(id)}; ${known}`)
  }
  if (outcome.kind === 'delivered') {
    io.stdout.write(`Sink ${id} took the sample alert.\n`)
    return exitCodes.ok
  }
  const why =
    outcome.kind === 'refused'
      ? `refused it (HTTP ${outcome.http}): ${outcome.answer}`
      : `is ${outcome.state.replaceAll('_', ' ')}: ${outcome.detail}`
  io.stderr.write(`threatweave: sink ${id} ${printable(why)}\n`)
  return exitCodes.failure
}

// Runs the notify service with the configured sinks until stopped, or sends a test alert to one sink.
import { backgroundClock, systemClock } from '../../base/clock.js'
import { exposed } from '../../config/exposed-files.js'
import { accepted } from '../../config/load-config.js'
import { ConfigurationError, type Problem } from '../../config/problem.js'
import type { Config } from '../../config/schema.js'
import type { ConsumerHealth } from '../../domain/consumer-health.js'
import { sampleAlert } from './notices.js'
import { startNotify, type Notifying } from './notify.js'
import { openSilences } from './silences.js'
import { createSinkClient, sinkStates, type Outcome } from './sink-client.js'
import type { Emit } from '../../telemetry/event.js'
import { exitCodes } from '../../terminal/command.js'
import { connectedSettingsOf } from '../../app/connected-settings.js'
import { loadSinks } from './load-sinks.js'
import { notifySettings } from './settings.js'
import type { WorkerFailure } from '../../app/supervise-workers.js'
import { refusePortsInUse, watchRun } from '../../app/watch-run.js'

type Surroundings = {
  /** For the proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly emit: Emit
  readonly signal: AbortSignal
}

export const runNotify = async (
  config: Config,
  { env, emit: log, signal }: Surroundings,
): Promise<WorkerFailure | undefined> => {
  const { kafka } = config
  const notify = notifySettings.of(config)
  if (!notify) throw new ConfigurationError([noSinks])
  const configured = accepted(loadSinks(notifySettings.of(config)?.sinks ?? []))
  if (configured.length === 0) throw new ConfigurationError([noSinks])
  if (kafka.alertsTopic === '') throw new ConfigurationError([noTopic])
  await refusePortsInUse(config, [notify.opsPort], 'notify.opsPort')
  const { emit, flush, serve } = await watchRun(config, log)
  for (const { sink } of configured)
    for (const name of ['secretFile', 'urlFile'] as const)
      for (const { setting, message } of exposed('notify.sinks', sink[name], `${name} of ${sink.id} names`))
        emit({ event: 'secret_file_exposed', setting, message })
  const sinks = configured.map(({ sink, ...reached }) => ({
    sink,
    client: createSinkClient(sink, { ...reached, env, now: Date.now }),
  }))
  const silences = await openSilences(notify.silences, { clock: backgroundClock, emit })
  let notifying: Notifying | undefined
  const ops = await serve(
    {
      kind: 'notify',
      consumer: () => healthOf(notifying),
      sinks: () => ({
        states: sinkStates,
        sinks: notifying?.sinks() ?? [],
        silences: silences.held().map(({ silence: { id }, ...held }) => ({ id, ...held })),
      }),
    },
    notify.opsPort,
    'notify.opsPort',
  )
  emit({ event: 'started', command: `notify to ${configured.map(({ sink: { id } }) => id).join(', ')}` })
  try {
    notifying = startNotify({
      settings: connectedSettingsOf(config, { env, emit }),
      alertsTopic: kafka.alertsTopic,
      deadLetterTopic: notify.deadLetterTopic === '' ? `${kafka.alertsTopic}-undelivered` : notify.deadLetterTopic,
      sinks,
      silences,
      maxAgeMs: notify.maxAgeHours * 3_600_000,
      clock: systemClock,
      random: Math.random,
      emit,
      signal,
    })
    const ended = await notifying.ended
    if (!ended) return undefined
    return { sentence: ended.sentence, code: ended.needsOperator ? exitCodes.configuration : exitCodes.failure }
  } finally {
    for (const { id, alerts } of notifying?.sinks() ?? []) {
      const { delivered, refused, ...others } = alerts
      const sum = Object.values(others).reduce((total, value) => total + value, 0)
      emit({ event: 'sink_totalled', sink: id, delivered, refused, others: sum })
    }
    await Promise.all([silences.close(), ops.close(), ...sinks.map(({ client }) => client.close())])
    flush()
  }
}

const noSinks: Problem = {
  setting: 'notify.sinks',
  message: 'names no sink: give it a file such as { id: soc-chat, use: slack, urlFile: FILE }',
}
const noTopic: Problem = {
  setting: 'kafka.alertsTopic',
  message: 'must name the topic of the alerts, or kafka.output.topic the one that it is named after',
}

/** Ready once every sink has joined its group. Failing sinks show up in the metrics instead. */
const healthOf = (notifying: Notifying | undefined): ConsumerHealth => {
  const each = notifying?.health() ?? []
  const unreachableSince = notifying?.unreachableSince()
  const leftAt = each.find((one) => one.leftAt !== undefined)?.leftAt
  return {
    state: each[0]?.state ?? 'starting',
    joins: each.length === 0 ? 0 : Math.min(...each.map(({ joins }) => joins)),
    restarts: each.reduce((sum, { restarts }) => sum + restarts, 0),
    ...(leftAt !== undefined && { leftAt }),
    ...(unreachableSince !== undefined && { unreachableSince }),
    partitions: {},
  }
}

/** Sends a sample alert to the sink with this id, or returns the known ids. */
export const testSink = async (
  config: Config,
  id: string,
  { env, now }: { readonly env: Readonly<Record<string, string | undefined>> } & { readonly now: () => number },
): Promise<Outcome | { readonly unknown: readonly string[] }> => {
  const configured = accepted(loadSinks(notifySettings.of(config)?.sinks ?? []))
  const found = configured.find(({ sink }) => sink.id === id)
  if (!found) return { unknown: configured.map(({ sink }) => sink.id) }
  const client = createSinkClient(found.sink, { ...found, env, now })
  try {
    const [outcome] = await client.send([sampleAlert(id, now())])
    return outcome ?? { kind: 'later', state: 'unexpected', detail: 'no answer' }
  } finally {
    await client.close()
  }
}

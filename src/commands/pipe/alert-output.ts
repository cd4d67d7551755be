// Outputs the alerts of `pipe`: to a file, to standard output instead of events (as text on a terminal), or only as a count in the summary.
import { openSync } from 'node:fs'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { openAlerting } from '../../app/open-alerting.js'
import type { Alert } from '../../alerts/alert.js'
import type { Alerts } from '../../alerts/open-alerts.js'
import type { Scope } from '../../base/scope.js'
import { renderAlert } from '../../alerts/render-alert.js'
import type { Config } from '../../config/schema.js'
import type { ByReason } from '../../domain/no-alert-reason.js'
import { messageOf } from '../../base/message-of.js'
import type { App } from '../../app/open-app.js'
import { eventsIn, type EventIn, type EventOut } from '../../pipeline/pipeline.js'
import { createLateLines } from './late-lines.js'
import type { Emit } from '../../telemetry/event.js'
import { OutputError, UsageError, type Arguments, type Io } from '../../terminal/command.js'
import { fileOutput } from '../../terminal/file-output.js'
import { accepted } from '../../config/load-config.js'
import { write, writeJson } from '../../terminal/write-lines.js'

export type AlertOutput = {
  readonly isStandardOutput: boolean
  /** Text for a person instead of JSON. */
  readonly isText: boolean
  readonly raised: () => number
  /** Malicious or suspicious events so far without an alert. */
  readonly withoutAlert: () => ByReason
  /** `before` is called if text follows. */
  readonly raise: (lines: readonly EventIn[], events: readonly EventOut[], before?: () => void) => Promise<void>
}

/** The maximum wait for late verdicts at the end. */
const lateMs = 5000

/** Closing the scope waits a limited time for late answers. */
export const openAlertOutput = async (
  scope: Scope,
  { alerts: target, summary }: Arguments['values'],
  config: Config,
  { again, files }: App,
  emit: Emit,
  io: Io,
): Promise<AlertOutput | undefined> => {
  if (typeof target !== 'string' && summary !== true) return undefined
  const rules = scope.use(accepted<Alerts>(await openAlerting(config, { emit, files })))
  const counts = { raised: () => rules.status().raised, withoutAlert: () => rules.status().withoutAlert }
  if (typeof target !== 'string') {
    const count = (_: readonly EventIn[], events: readonly EventOut[]): Promise<void> => {
      rules.raise(eventsIn(events))
      return Promise.resolve()
    }
    return { isStandardOutput: false, isText: false, ...counts, raise: count }
  }
  const isStandardOutput = target === '-'
  const isText = isStandardOutput && io.stdout.isTTY === true
  const look = { columns: io.stdout.columns, isColoured: (io.env.NO_COLOR ?? '') === '' }
  let late: Promise<void> = Promise.resolve()
  const lines = createLateLines({
    rules,
    pipeline: again,
    late: (alerts) => {
      late = late.then(() => put(alerts)).catch(() => undefined) // reported by `close`
    },
    emit,
  })
  // Opened late, so that invalid rules do not truncate an existing file.
  let stream: Io['stdout']
  try {
    stream = isStandardOutput ? io.stdout : fileOutput(openSync(target, 'w'))
  } catch (error) {
    throw new UsageError(`cannot write the alerts: ${messageOf(error)}`)
  }
  let failed: OutputError | undefined
  const recordFailure = (error: unknown): void => {
    failed ??= new OutputError(`the alerts to ${target}`, error, { stream, unit: 'alert' })
  }
  if (!isStandardOutput) stream.on('error', recordFailure)
  const put = async (alerts: readonly Alert[]): Promise<void> => {
    if (failed) throw failed
    const written = isText
      ? write(stream, alerts.map((alert) => renderAlert(alert, look)).join(''))
      : writeJson(stream, alerts.map((alert) => `${JSON.stringify(alert)}\n`).join(''))
    await written.catch((error: unknown) => {
      recordFailure(error)
      throw failed ?? error
    })
  }
  scope.defer(async () => {
    const limit = AbortSignal.timeout(lateMs)
    await Promise.race([lines.idle(), once(limit, 'abort')])
    await late
    if (!isStandardOutput) await finished(stream.end()).catch(recordFailure)
    if (failed) throw failed
  })
  return {
    isStandardOutput,
    isText,
    ...counts,
    raise: (given, events, before) => {
      const raised = lines.raise(given, events)
      if (isText && raised.length > 0) before?.()
      return put(raised)
    },
  }
}

// Alerts of a replay; those written before an interruption are not raised again.
import type { Alerts } from '../../alerts/open-alerts.js'
import type { RaisedAlert } from '../../kafka/replay/deliver-unit.js'
import type { OpenReplay } from '../../kafka/replay/open-replay.js'
import type { EventOut } from '../../pipeline/pipeline.js'
import type { ReplayArguments } from './replay-options.js'

const maxRemembered = 1_000_000

/** Reads the ids of the alerts that an interrupted replay has already written. */
export const alertsBefore = (
  opened: Pick<OpenReplay, 'valuesOf'>,
  args: Pick<ReplayArguments, 'id' | 'alertsTopic'>,
  ids: Set<string>,
): Promise<void> =>
  opened.valuesOf(args.alertsTopic, (value) => {
    const { threatweave: body } = readAlert(value)
    if (body?.replay_id === args.id && body.alert_id !== undefined && ids.size < maxRemembered) ids.add(body.alert_id)
  })

type WrittenAlert = { readonly threatweave?: { readonly alert_id?: string; readonly replay_id?: string } }

const readAlert = (value: Buffer): WrittenAlert => {
  try {
    return (JSON.parse(value.toString()) as WrittenAlert | null) ?? {}
  } catch {
    return {} // not one of our alerts
  }
}

export const raiseOnce = (
  alerts: Alerts,
  events: readonly EventOut[],
  known: ReadonlySet<string>,
): readonly RaisedAlert[] =>
  alerts
    .raise(events)
    .filter(({ threatweave: { alert_id } }) => !known.has(alert_id))
    .map((alert) => ({ origin: alert.threatweave.origin, value: Buffer.from(JSON.stringify(alert)) }))

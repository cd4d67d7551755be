// Raises alerts of a replay, except those written before an interruption.
import type { Alerts } from '../../alerts/open-alerts.js'
import type { ReplayAlerts } from '../../replay/replay-state.js'
import type { OpenReplay } from '../../replay/open-replay.js'
import type { ReplayArguments } from './replay-options.js'

const maxRemembered = 1_000_000

/** The groups of alerts that an interrupted replay has already written. */
export const alertsBefore = (
  opened: Pick<OpenReplay, 'valuesOf'>,
  args: Pick<ReplayArguments, 'id' | 'alertsTopic'>,
  groups: Set<string>,
): Promise<void> =>
  opened.valuesOf(args.alertsTopic, (value) => {
    const { threatweave: body } = readAlert(value)
    if (body?.replay_id === args.id && body.group_id !== undefined && groups.size < maxRemembered)
      groups.add(body.group_id)
  })

type WrittenAlert = { readonly threatweave?: { readonly group_id?: string; readonly replay_id?: string } }

const readAlert = (value: Buffer): WrittenAlert => {
  try {
    return (JSON.parse(value.toString()) as WrittenAlert | null) ?? {}
  } catch {
    return {} // not one of our alerts
  }
}

/** The alerts of a chunk, without groups that were already written. */
export const raiseOnce = (alerts: Pick<Alerts, 'begin'>, known: ReadonlySet<string>): ReplayAlerts => {
  const { raise, commit, giveUp } = alerts.begin()
  return {
    raise: (events) =>
      raise(events)
        .filter(({ threatweave: { group_id } }) => !known.has(group_id))
        .map((alert) => ({
          origin: alert.threatweave.origin,
          key: alert.threat_match_value ?? alert.rule.id,
          value: Buffer.from(JSON.stringify(alert)),
        })),
    commit,
    giveUp,
  }
}

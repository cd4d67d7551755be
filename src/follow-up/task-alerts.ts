// The alerts of a task, in the form of records to write.
import type { AlertsDraft, PartitionAlerts } from '../alerts/open-alerts.js'
import type { AlertOut } from '../delivery/compose.js'
import type { EventOut } from '../pipeline/pipeline.js'
import type { RaiseLate } from './revisit.js'

export type Fired = (event: { readonly origin: string }, firings: readonly string[]) => void

/** The alerts and updates of one write. */
export type TaskAlertsDraft = Omit<AlertsDraft, 'raise' | 'raiseLate' | 'updates'> & {
  readonly raise: (events: readonly EventOut[], fired: Fired) => readonly AlertOut[]
  readonly raiseLate: RaiseLate<EventOut, AlertOut>
  readonly updates: (max: number, all?: boolean) => readonly AlertOut[]
}

export type TaskAlerts = Omit<PartitionAlerts, 'begin'> & { readonly begin: (isLate?: boolean) => TaskAlertsDraft }

export type AlertSource = {
  readonly open: () => TaskAlerts
  /** Returns each one once. */
  readonly takeContext: () => readonly AlertOut[]
}

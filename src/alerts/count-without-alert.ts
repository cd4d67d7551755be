// Counts accused events that raise no alert, by reason.
import type { ByReason, NoAlertReason } from '../domain/no-alert-reason.js'
import type { Emit } from '../telemetry/event.js'

export const createCountWithoutAlert = (emit: Emit) => {
  const totals: Partial<Record<NoAlertReason, number>> = {}
  let ofChunk: Partial<Record<NoAlertReason, number>> | undefined
  return {
    see: (reason: NoAlertReason): void => {
      ofChunk ??= {}
      ofChunk[reason] = (ofChunk[reason] ?? 0) + 1
      totals[reason] = (totals[reason] ?? 0) + 1
    },
    /** Call at the end of a chunk. */
    report: (): void => {
      if (ofChunk === undefined) return
      emit({ event: 'accused_without_alert', reasons: ofChunk })
      ofChunk = undefined
    },
    totals: (): ByReason => totals,
  }
}

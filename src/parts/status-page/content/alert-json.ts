// One alert as JSON, with the place of its event and the command that shows it.
import { escapeJsonControls } from '../../../domain/control-characters.js'
import type { AlertBoard } from '../state/alert-board.js'
import { commandOf, placeOfOrigin } from './event-place.js'

/** Undefined if the alert is no longer kept. */
export const alertJson = (id: unknown, board: AlertBoard): string | undefined => {
  const found = typeof id === 'string' ? board.find(id) : undefined
  if (!found) return undefined
  const { origin } = found.alert.threatweave
  const body = { ...placeOfOrigin(origin), command: commandOf(origin), alert: found.alert }
  return escapeJsonControls(`${JSON.stringify(body, null, 2)}\n`)
}

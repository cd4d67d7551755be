// How each telemetry event is told to the person on call: its level and one sentence.
import type { TelemetryEvent } from './event.js'

export type Severity = 'debug' | 'info' | 'warn' | 'error'
type Wording<E> = { readonly level: Severity; readonly say: (event: E) => string }
type Wordings = { readonly [Name in TelemetryEvent['event']]: Wording<Extract<TelemetryEvent, { event: Name }>> }

export const wordings: Wordings = {
  started: { level: 'info', say: ({ command }) => `${command} started` },
  stopped: { level: 'info', say: ({ command, cause }) => `${command} stopped: ${cause}` },
}

export const severityOf = (event: TelemetryEvent): Severity => wordings[event.event].level

export const sentenceOf = (event: TelemetryEvent): string =>
  (wordings[event.event] as Wording<TelemetryEvent>).say(event)

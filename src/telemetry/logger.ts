// Writes telemetry events as log lines: JSON for machines, short lines for people.
import { pino, type DestinationStream } from 'pino'
import { escapeJsonControls, printable } from '../domain/control-characters.js'
import type { Emit } from './event.js'
import { sentenceOf, severityOf } from './wording.js'

type LoggerOptions = {
  readonly level: string
  readonly pretty: boolean
  readonly clock: () => number
  /** The number of this worker, if several share one log. */
  readonly worker?: number | undefined
}

export const createLogger = (stream: DestinationStream, { level, pretty, clock, worker }: LoggerOptions): Emit => {
  const logger = pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: () => `,"time":"${new Date(clock()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => stream.write((pretty ? prettify : escapeJsonControls)(line)) },
  )
  return (event) => logger[severityOf(event)](event, sentenceOf(event))
}

const prettify = (line: string): string => {
  const { time, level, msg, worker } = JSON.parse(line) as { time: string; level: string; msg: string; worker?: number }
  const who = worker === undefined || msg.startsWith('worker ') ? '' : `worker ${worker}: `
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${who}${printable(msg)}\n`
}

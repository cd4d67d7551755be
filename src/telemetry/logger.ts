// Telemetry events as log lines: JSON for machines, one short line for a person at a terminal.
import { pino, type DestinationStream } from 'pino'
import type { Emit } from './event.js'
import { sentenceOf, severityOf } from './wording.js'

type LoggerOptions = { readonly level: string; readonly pretty: boolean; readonly clock: () => number }

export const createLogger = (stream: DestinationStream, { level, pretty, clock }: LoggerOptions): Emit => {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    pretty ? { write: (line: string) => stream.write(prettify(line)) } : stream,
  )
  return (event) => logger[severityOf(event)](event, sentenceOf(event))
}

/** Control characters of a hostile event or answer must not reach the terminal. */
const prettify = (line: string): string => {
  const { time, level, msg } = JSON.parse(line) as { time: string; level: string; msg: string }
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${msg.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?')}\n`
}

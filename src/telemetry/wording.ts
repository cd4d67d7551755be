// How each telemetry event is told to the person on call: its level and one sentence.
import type { TelemetryEvent } from './event.js'

export type Severity = 'debug' | 'info' | 'warn' | 'error'
type Wording<E> = { readonly level: Severity; readonly say: (event: E) => string }
type Wordings = { readonly [Name in TelemetryEvent['event']]: Wording<Extract<TelemetryEvent, { event: Name }>> }

export const wordings: Wordings = {
  started: { level: 'info', say: ({ command }) => `${command} started` },
  feed_loaded: {
    level: 'info',
    say: ({ feed, addresses, names, bytes, ms, skipped, first }) =>
      `feed ${feed}: ${addresses} addresses and ranges and ${names} names loaded in ${Math.round(ms)} ms, ${Math.ceil(bytes / 1024)} KiB` +
      (first ? `; ${skipped} left out, the first at ${placeOf(first)}: ${first.message}` : ''),
  },
  feed_refused: {
    level: 'error',
    say: ({ feed, kept, ...problem }) =>
      `feed ${feed} refused, ${kept ? 'what was loaded before stays in use' : 'nothing of it is in use'}: ${placeOf(problem)}: ${problem.message}`,
  },
  index_loaded: {
    level: 'info',
    say: ({ file, rows, skipped, full }) =>
      `${file}: ${rows} rows loaded, ${skipped} left out${full ? '; the index is full, serve.maxRows says how much it holds' : ''}`,
  },
  operation_answered: {
    level: 'debug',
    say: ({ operation, status, ms }) => `${operation} answered with ${status} in ${Math.round(ms)} ms`,
  },
  operation_broke: { level: 'error', say: ({ message }) => `a request could not be answered: ${message}` },
  stopped: { level: 'info', say: ({ command, cause }) => `${command} stopped: ${cause}` },
  service_answered: { level: 'debug', say: ({ operation, ms }) => `${operation} answered after ${ms} ms` },
  service_call_failed: {
    level: 'warn',
    say: ({ operation, reason, detail }) => `${operation} failed: ${reason}, ${detail}`,
  },
  ipv6_asking_paused: {
    level: 'warn',
    say: ({ forMs }) => `the service refuses IPv6 addresses; none is asked about for ${forMs / 60_000} minutes`,
  },
  scan_started: {
    level: 'info',
    say: ({ name, scanId, visibility }) => `a ${visibility} scan of ${name} started as ${scanId}`,
  },
  scan_ended: { level: 'info', say: ({ name, scanId, outcome }) => `scan ${scanId} of ${name} ended: ${outcome}` },
  kafka_complained: { level: 'warn', say: ({ about, message }) => `the Kafka client says (${about}): ${message}` },
  worker_ended: {
    level: 'error',
    say: ({ worker, how, againInMs }) =>
      `worker ${worker} ended with ${how} and is started again in ${againInMs / 1000} s`,
  },
  group_joined: {
    level: 'info',
    say: ({ partitions, tookMs }) => `joined the group in ${tookMs} ms with ${partitions} partitions`,
  },
  consumer_restarted: {
    level: 'warn',
    say: ({ cause, againInMs }) =>
      `the consumer ended and is started again in ${againInMs / 1000} s, or when the brokers answer: ${cause}`,
  },
  start_postponed: {
    level: 'warn',
    say: ({ cause, againInMs }) =>
      `the brokers cannot be reached; tried again in ${againInMs / 1000} s, or when they answer: ${cause}`,
  },
  brokers_stopped_answering: {
    level: 'error',
    say: ({ forMs, cause }) =>
      `no broker has answered for ${Math.round(forMs / 1000)} s; they are asked again and again, and events wait: ${cause}`,
  },
  brokers_answered_again: {
    level: 'info',
    say: ({ afterMs }) => `the brokers answer again after ${Math.round(afterMs / 1000)} s`,
  },
  topics_changed: { level: 'info', say: ({ topics }) => `the input topics are now ${topics.join(', ')}` },
  topic_recreated: {
    level: 'warn',
    say: ({ topic }) => `the topic ${topic} was deleted and made again: it is read from its beginning`,
  },
  offsets_skipped: {
    level: 'error',
    say: ({ topic, partition, count }) =>
      `${topic}/${partition}: the broker had already deleted ${count} records that were still to be read`,
  },
  producer_replaced: {
    level: 'warn',
    say: ({ topic, partition, cause }) =>
      `${topic}/${partition}: a send failed and its producer was replaced: ${cause}`,
  },
  partition_claimed: {
    level: 'info',
    say: ({ topic, partition, offset }) => `${topic}/${partition}: claimed, continues at offset ${offset}`,
  },
  record_reduced: {
    level: 'warn',
    say: ({ topic, partition, offset, to, reason }) =>
      `${topic}/${partition}/${offset} could not be written whole (${reason}) and became: ${to}`,
  },
  chunk_delivered: {
    level: 'debug',
    say: ({ topic, partition, events }) => `${topic}/${partition}: ${events} events delivered`,
  },
  memory_restored: {
    level: 'info',
    say: ({ path, findings, damaged }) =>
      `${findings} findings read back from ${path}` + (damaged > 0 ? `; ${damaged} damaged records dropped` : ''),
  },
  memory_not_kept: {
    level: 'warn',
    say: ({ message }) =>
      `what is paid for is not kept over a restart: ${message}; memory.path names a folder that can be written, none keeps nothing`,
  },
  memory_write_failed: {
    level: 'warn',
    say: ({ path, message, lost }) =>
      `findings are not kept in ${path} and will be paid for again after a restart (${lost} now): ${message}`,
  },
  memory_write_resumed: { level: 'info', say: ({ path }) => `findings are kept in ${path} again` },
  asking_stopped: {
    level: 'warn',
    say: ({ state, reason, forMs }) => `asking is ${state.replace('_', ' ')} for ${forMs / 1000} s: ${reason}`,
  },
  ops_listening: {
    level: 'info',
    say: ({ url, page }) => `health${page ? ', metrics and the status page are' : ' and metrics are'} at ${url}`,
  },
  failure_repeated: {
    level: 'warn',
    say: ({ failure, times, withinMs }) => `${times} times more within ${Math.round(withinMs / 1000)} s: ${failure}`,
  },
  asking_resumed: { level: 'info', say: () => 'asking goes on' },
  budget_exhausted: { level: 'warn', say: ({ calls }) => `the budget is spent after ${calls} calls` },
  rules_loaded: { level: 'info', say: ({ rules, files }) => `${rules} alert rules of ${files} files in use` },
  rule_warned: { level: 'warn', say: (warning) => `rule at ${placeOf(warning)}: ${warning.message}` },
  rules_refused: {
    level: 'error',
    say: (problem) => `changed rules refused, those in use stay: ${placeOf(problem)}: ${problem.message}`,
  },
  alerts_raised: { level: 'debug', say: ({ alerts, late }) => `${alerts} ${late ? 'late ' : ''}alerts raised` },
  late_events_forgotten: {
    level: 'warn',
    say: ({ events }) => `${events} events left without their answer and could not be remembered for a late alert`,
  },
}

const placeOf = ({ file, line }: { file: string; line?: number }): string =>
  line === undefined ? file : `${file}:${line}`

export const severityOf = (event: TelemetryEvent): Severity => wordings[event.event].level

export const sentenceOf = (event: TelemetryEvent): string =>
  (wordings[event.event] as Wording<TelemetryEvent>).say(event)

// The log level and message of each telemetry event.
import { describeSkipped, skippedIn } from '../domain/skipped.js'
import { describeEntries } from '../domain/entry-counts.js'
import { noOwnRanges } from '../domain/own-addresses.js'
import type { TelemetryEvent } from './event.js'
import type { BulkLimit } from './labels.js'

type Severity = 'debug' | 'info' | 'warn' | 'error'
type Wording<E> = { readonly level: Severity; readonly say: (event: E) => string }
type Wordings = { readonly [Name in TelemetryEvent['event']]: Wording<Extract<TelemetryEvent, { event: Name }>> }

export const wordings: Wordings = {
  started: { level: 'info', say: ({ command }) => `${command} started` },
  secret_file_exposed: { level: 'warn', say: ({ setting, message }) => `${setting}: ${message}` },
  own_ranges_missing: { level: 'info', say: () => `gate.ownRanges ${noOwnRanges}` },
  own_address_seen: {
    level: 'warn',
    say: ({ address, origin, suggested }) =>
      `address translation shows that ${address} is yours (${origin}), and gate.ownRanges is empty. If these are yours, set gate.ownRanges: [${suggested.join(', ')}]`,
  },
  feed_loaded: {
    level: 'info',
    say: ({ feed, skipped, bytes, ms, ...entries }) =>
      `feed ${feed}: ${describeEntries(entries)} loaded, ${skippedIn(skipped)} skipped, in ${Math.round(ms)} ms, ${Math.ceil(bytes / 1024)} KiB`,
  },
  feed_stale: {
    level: 'warn',
    say: ({ feed, newest, days }) =>
      `feed ${feed}: its newest entry is ${days} days old (${new Date(newest).toISOString().slice(0, 10)}); the list may no longer be maintained`,
  },
  feed_lists_many: {
    level: 'warn',
    say: ({ feed, share }) =>
      `feed ${feed} lists ${(share * 100).toFixed(1)} % of the distinct public addresses seen, more than one in a hundred: check its entries, set level: suspicious, or remove the feed`,
  },
  feed_empty: {
    level: 'warn',
    say: ({ feed, message }) => `feed ${feed} ${message}; it is in use without entries`,
  },
  feed_entries_skipped: {
    level: 'warn',
    say: ({ feed, skipped, examples }) =>
      `feed ${feed}: skipped ${describeSkipped(skipped)}; for example ${examples.map((one) => `${placeOf(one)}: ${one.message}`).join('; ')}`,
  },
  feed_fetched: {
    level: 'info',
    say: ({ feed, from, bytes, ms }) =>
      `feed ${feed}: ${bytes === 0 ? `unchanged at ${from}` : `${bytes} bytes fetched from ${from}`} in ${Math.round(ms)} ms`,
  },
  feed_page_fetched: {
    level: 'debug',
    say: ({ feed, from, pages, objects }) => `feed ${feed}: ${objects} objects in ${pages} pages from ${from} so far`,
  },
  feed_fetch_failed: {
    level: 'warn',
    say: ({ feed, from, message, kept }) =>
      `feed ${feed} from ${from} ${message}; ${kept ? 'the last good copy stays in use' : 'no copy is in use, and annotations say feed_missing'}`,
  },
  feed_refused: {
    level: 'error',
    say: ({ feed, kept, ...problem }) =>
      `feed ${feed} refused, ${kept ? 'the previous version stays in use' : 'nothing is loaded'}: ${placeOf(problem)}: ${problem.message}`,
  },
  geo_database_loaded: {
    level: 'info',
    say: ({ file, type, built }) => `database ${file} loaded: ${type}, built ${dayOf(built)}`,
  },
  geo_database_refused: {
    level: 'error',
    say: ({ file, message }) => `database ${file} refused, the last good version stays in use: the file ${message}`,
  },
  geo_lookup_failed: {
    level: 'error',
    say: ({ file, message }) =>
      `database ${file} is damaged, and some addresses get no country or network from it: ${message}`,
  },
  index_loaded: {
    level: 'info',
    say: ({ file, rows, skipped, full }) =>
      `${file}: ${rows} rows loaded, ${skipped} skipped${full ? '; the index is full' : ''}`,
  },
  operation_answered: {
    level: 'debug',
    say: ({ operation, status, ms }) => `${operation} answered with ${status} in ${Math.round(ms)} ms`,
  },
  operation_failed: { level: 'error', say: ({ message }) => `a request failed: ${message}` },
  bulk_limit_reached: { level: 'warn', say: ({ key, reason }) => `key ${key}: ${bulkSentences[reason]}` },
  run_totalled: {
    level: 'info',
    say: (totals) =>
      `${totals.delivered} of ${totals.read} events delivered in ${totals.seconds} s: ${totals.malicious} malicious, ${totals.suspicious} suspicious, ${totals.clean} clean, ${totals.unknown} unknown; ${totals.alerts} alerts, ${totals.deadLetters} dead letters, ${totals.calls} calls to the provider`,
  },
  stopped: { level: 'info', say: ({ command, cause }) => `${command} stopped: ${cause}` },
  provider_answered: { level: 'debug', say: ({ operation, ms }) => `${operation} answered after ${ms} ms` },
  provider_call_failed: {
    level: 'warn',
    say: ({ operation, reason, detail }) => `${operation} failed: ${reason}, ${detail}`,
  },
  source_answered: { level: 'debug', say: ({ source, gave, ms }) => `${source} answered ${gave} after ${ms} ms` },
  source_call_failed: {
    level: 'warn',
    say: ({ source, reason, detail }) => `source ${source} failed: ${reason}, ${detail}`,
  },
  ipv6_lookups_paused: {
    level: 'warn',
    say: ({ forMs }) => `the provider refuses IPv6 addresses; no IPv6 lookups for ${forMs / 60_000} minutes`,
  },
  scan_started: {
    level: 'info',
    say: ({ name, scanId, visibility }) => `a ${visibility} scan of ${name} started as ${scanId}`,
  },
  scan_ended: { level: 'info', say: ({ name, scanId, outcome }) => `scan ${scanId} of ${name} ended: ${outcome}` },
  kafka_client_warned: { level: 'warn', say: ({ about, message }) => `Kafka client (${about}): ${message}` },
  worker_exited: {
    level: 'error',
    say: ({ worker, how, againInMs }) => `worker ${worker} exited with ${how}; restart in ${againInMs / 1000} s`,
  },
  group_joined: {
    level: 'info',
    say: ({ partitions, tookMs }) => `joined the consumer group in ${tookMs} ms with ${partitions} partitions`,
  },
  consumer_restarted: {
    level: 'warn',
    say: ({ cause, againInMs }) =>
      `the consumer stopped; restart in ${againInMs / 1000} s, or when the brokers answer: ${cause}`,
  },
  start_postponed: {
    level: 'warn',
    say: ({ cause, againInMs }) =>
      `the brokers cannot be reached; retry in ${againInMs / 1000} s, or when they answer: ${cause}`,
  },
  brokers_unreachable: {
    level: 'error',
    say: ({ forMs, cause }) =>
      `no broker has answered for ${Math.round(forMs / 1000)} s; retrying, events wait in Kafka: ${cause}`,
  },
  brokers_reachable: {
    level: 'info',
    say: ({ afterMs }) => `the brokers are reachable again after ${Math.round(afterMs / 1000)} s`,
  },
  topics_changed: { level: 'info', say: ({ topics }) => `the input topics are now ${topics.join(', ')}` },
  topic_recreated: {
    level: 'warn',
    say: ({ topic }) => `topic ${topic} was deleted and created again; it is read from the beginning`,
  },
  binary_event_read: {
    level: 'warn',
    say: ({ topic, origin, prefixed }) =>
      `topic ${topic} has events that are not text${prefixed ? ', as written with a schema registry (Avro, Protobuf)' : ''}: the first is ${origin}. ` +
      'They are written as base64, and only readable text in them is searched. Set kafka.input.format to the format of the topic.',
  },
  value_not_read: {
    level: 'warn',
    say: ({ topic, origin, reason }) =>
      `topic ${topic} has values that cannot be read (${reason}): the first is ${origin}. They are written unchanged, and their annotation says that they could not be read. ` +
      (reason === 'no_schema'
        ? 'Check kafka.registry, and that their schemas are registered.'
        : 'Check that kafka.input.format is the format of the topic.'),
  },
  schema_loaded: { level: 'debug', say: ({ schema, kind }) => `schema ${schema} (${kind}) loaded from the registry` },
  schema_missing: {
    level: 'warn',
    say: ({ schema, message }) => `schema ${schema} cannot be used: the registry ${message}`,
  },
  registry_away: {
    level: 'warn',
    say: ({ message }) =>
      `the schema registry does not answer: ${message}. Values with schemas that are not loaded yet pass unread, with the reason no_schema; the registry is retried.`,
  },
  registry_back: {
    level: 'info',
    say: ({ afterMs }) => `the schema registry answers again after ${Math.round(afterMs / 1000)} s`,
  },
  topics_used: {
    level: 'info',
    say: ({ output, deadLetters, alerts, corrections, sightings, verdicts }) => {
      const others = { 'dead letters': deadLetters, alerts, corrections, state: sightings, verdicts }
      return `writes to ${output}; ${Object.entries(others)
        .map(([what, topic]) => (topic === '' ? `no ${what}` : `${what} to ${topic}`))
        .join(', ')}`
    },
  },
  topic_missing: { level: 'warn', say: ({ topic, message }) => `topic ${topic} ${message}` },
  group_is_new: {
    level: 'info',
    say: ({ group, topics, records }) =>
      `group ${group} is new and starts with the next event` +
      (records === 0
        ? ''
        : `; ${records} older records are skipped. To annotate them: threatweave replay --topic ${topics[0] ?? ''} --from earliest --output TOPIC, or kafka.input.start: earliest with a new kafka.groupId`),
  },
  group_offsets_lost: {
    level: 'warn',
    say: ({ group, records }) =>
      `group ${group} has lost its offsets (brokers delete the offsets of an inactive group), so it starts at the oldest of ${records} records`,
  },
  offsets_skipped: {
    level: 'error',
    say: ({ topic, partition, count }) =>
      `${topic}/${partition}: ${count} records were deleted by retention before they were read`,
  },
  producer_replaced: {
    level: 'warn',
    say: ({ topic, partition, cause }) =>
      `${topic}/${partition}: a send failed and its producer was replaced: ${cause}`,
  },
  partition_claimed: {
    level: 'info',
    say: ({ topic, partition, offset }) => `${topic}/${partition}: claimed, continuing at offset ${offset}`,
  },
  record_reduced: {
    level: 'warn',
    say: ({ topic, partition, offset, to, reason }) =>
      `${topic}/${partition}/${offset} could not be written in full (${reason}), written as: ${to}`,
  },
  chunk_delivered: {
    level: 'debug',
    say: ({ topic, partition, events }) => `${topic}/${partition}: ${events} events delivered`,
  },
  memory_restored: {
    level: 'info',
    say: ({ path, findings, damaged }) =>
      `${findings} findings restored from ${path}` + (damaged > 0 ? `; ${damaged} damaged records dropped` : ''),
  },
  memory_not_persisted: {
    level: 'warn',
    say: ({ message }) =>
      `findings will not survive a restart: ${message}; set memory.path to a writable folder, or to none`,
  },
  memory_write_failed: {
    level: 'warn',
    say: ({ path, message, lost }) =>
      `cannot write findings to ${path}; they will be paid for again after a restart (${lost} so far): ${message}`,
  },
  memory_write_resumed: { level: 'info', say: ({ path }) => `findings are written to ${path} again` },
  verdicts_restored: {
    level: 'info',
    say: ({ verdicts, ms, isWhole }) =>
      `${verdicts} verdicts read from the verdicts topic in ${Math.round(ms)} ms${isWhole ? '' : '; the memory is full'}`,
  },
  verdicts_learnt: { level: 'debug', say: ({ verdicts }) => `${verdicts} verdicts received from the verdicts topic` },
  state_refused: {
    level: 'warn',
    say: ({ topic, records, reason }) =>
      `${records} records of ${topic} rejected: ${reason.replace('_', ' ')}; check write access to the topic`,
  },
  windows_restored: {
    level: 'info',
    say: ({ topic, partition, windows }) => `${topic}/${partition}: ${windows} open suppression windows restored`,
  },
  verdicts_refused: {
    level: 'warn',
    say: ({ verdicts, reason }) => `${verdicts} records of the verdicts topic rejected: ${reason.replace('_', ' ')}`,
  },
  verdicts_appended: { level: 'debug', say: ({ verdicts }) => `${verdicts} verdicts written to the verdicts topic` },
  verdicts_not_shared: {
    level: 'warn',
    say: ({ verdicts, reason }) => `${verdicts} verdicts are not shared: ${reason.replace('_', ' ')}`,
  },
  verdicts_not_used: {
    level: 'warn',
    say: ({ message }) =>
      `kafka.verdictsTopic is not used: ${message}, whose answers do not come from the provider alone`,
  },
  verdicts_topic_failed: {
    level: 'warn',
    say: ({ what, message }) =>
      `the verdicts topic cannot be ${what === 'read' ? 'read' : 'written'}; lookups continue without it, and it is retried: ${message}`,
  },
  calling_began: {
    level: 'info',
    say: ({ waitedMs }) =>
      `this gateway is the leader and calls the provider${waitedMs < 1_000 ? '' : `, after waiting ${Math.round(waitedMs / 1000)} s for calls of the previous leader`}`,
  },
  calling_ended: { level: 'warn', say: ({ cause }) => `this gateway is no longer the leader: ${cause}` },
  caller_known: {
    level: 'info',
    say: ({ address }) => `lookups are forwarded to the leader: ${address}`,
  },
  election_failed: {
    level: 'warn',
    say: ({ message }) => `the leader election failed and is retried: ${message}`,
  },
  question_passed_on: { level: 'debug', say: () => 'a lookup was forwarded to the leader' },
  verdicts_topic_resumed: {
    level: 'info',
    say: ({ what }) => `the verdicts topic can be ${what === 'read' ? 'read' : 'written'} again`,
  },
  lookups_paused: {
    level: 'warn',
    say: ({ state, reason, forMs, source }) =>
      `lookups${atSource(source)} paused (${state.replace('_', ' ')}) for ${forMs / 1000} s: ${reason}`,
  },
  ops_listening: {
    level: 'info',
    say: ({ url }) => `health, metrics and status page at ${url}`,
  },
  failure_repeated: {
    level: 'warn',
    say: ({ failure, times, withinMs }) => `${times} more times within ${Math.round(withinMs / 1000)} s: ${failure}`,
  },
  lookups_resumed: { level: 'info', say: ({ source }) => `lookups${atSource(source)} resumed` },
  budget_exhausted: {
    level: 'warn',
    say: ({ calls, source, defaultPerDay }) =>
      defaultPerDay === undefined
        ? `budget${source === undefined ? '' : ` of ${source}`} spent after ${calls} calls`
        : `default budget of ${defaultPerDay} calls a day spent after ${calls} calls; no calls until midnight UTC. Set admit.perDay to a number, or to unlimited`,
  },
  budget_not_set: {
    level: 'warn',
    say: ({ perDay }) =>
      `no budget is set, so the limit is ${perDay} calls a day; a gateway has its own budget. Set admit.perDay to a number, or to unlimited`,
  },
  allow_loaded: {
    level: 'info',
    say: ({ files }) => `gate.allow has changed: ${files} ${files === 1 ? 'list' : 'lists'} reloaded`,
  },
  allow_refused: {
    level: 'error',
    say: ({ where, message }) =>
      `the changed lists of gate.allow were refused, and the previous ones stay in use: ${where}: ${message}`,
  },
  rules_loaded: { level: 'info', say: ({ rules, files }) => `${rules} alert rules loaded from ${files} files` },
  rule_warned: { level: 'warn', say: (warning) => `rule at ${placeOf(warning)}: ${warning.message}` },
  rules_refused: {
    level: 'error',
    say: (problem) =>
      `the changed rules were refused, and the previous ones stay in use: ${placeOf(problem)}: ${problem.message}`,
  },
  alerts_raised: { level: 'debug', say: ({ alerts, late }) => `${alerts} ${late ? 'late ' : ''}alerts raised` },
  accused_without_alert: {
    level: 'debug',
    say: ({ reasons }) =>
      `malicious or suspicious events without an alert: ${Object.entries(reasons)
        .map(([reason, count]) => `${count} ${reason}`)
        .join(', ')}`,
  },
  retro_alerts_raised: {
    level: 'info',
    say: ({ alerts, summarised }) =>
      `${alerts} retro alerts raised: indicators of events delivered as clean or unknown are now malicious${summarised > 0 ? `; ${summarised} more are in a summary` : ''}`,
  },
  alert_updates_written: { level: 'debug', say: ({ updates }) => `${updates} alert updates written` },
  alert_updates_dropped: {
    level: 'warn',
    say: ({ updates }) =>
      `${updates} alert updates were not written before the shutdown, so their counts of suppressed matches are lost; the events themselves are in the output topic`,
  },
  follow_up_failed: {
    level: 'error',
    say: ({ what, cause }) => `${what}: some are missing because of a bug, please report it: ${cause}`,
  },
  counts_restored: {
    level: 'info',
    say: ({ topic, partition, indicators, events }) =>
      `${topic}/${partition}: sightings of ${indicators} indicators restored, ${events} events reread`,
  },
  sightings_not_counted: {
    level: 'warn',
    say: ({ evicted, uncounted }) =>
      `the limit of stored sightings is reached: ${evicted} indicators of old days were dropped and ${uncounted} sightings were not counted; retro alerts will miss them`,
  },
  forged_headers_removed: {
    level: 'debug',
    say: ({ records }) =>
      `${records} input records had headers that only Threatweave may write; the headers were removed`,
  },
  written_without_time: {
    level: 'warn',
    say: ({ topic, records }) =>
      `${records} records were written to topic ${topic} without a timestamp, because the broker rejects theirs as being in the future: check the clock of this machine and of the producers of the input`,
  },
  attachments_dropped: {
    level: 'error',
    say: ({ topic, records, reason }) =>
      `topic ${topic} rejected ${records} records (${reason}): alerts, corrections or notes are missing`,
  },
  firings_not_noted: {
    level: 'warn',
    say: ({ firings }) => `one event has too many alerts to record: a late alert may repeat ${firings} of them`,
  },
  events_corrected: { level: 'debug', say: ({ events }) => `${events} events corrected` },
  sightings_restored: {
    level: 'info',
    say: ({ topic, partition, pending }) =>
      `${topic}/${partition}: ${pending} events delivered by the previous owner still wait for a verdict`,
  },
  late_events_dropped: {
    level: 'warn',
    say: ({ events, why }) => `${events} events were delivered before their verdict and ${lateConsequences[why]}`,
  },
  sink_failed: {
    level: 'warn',
    say: ({ sink, state, detail, againInMs }) =>
      `sink ${sink} is ${state.replaceAll('_', ' ')} (${detail}); its alerts wait for a retry in ${Math.round(againInMs / 100) / 10} s`,
  },
  sink_recovered: {
    level: 'info',
    say: ({ sink, afterMs }) => `sink ${sink} accepts alerts again after ${Math.round(afterMs / 1000)} s`,
  },
  sink_is_new: {
    level: 'info',
    say: ({ sink, group, records }) =>
      `sink ${sink} is new (group ${group}) and starts with the next alert; ${records} older alerts are not sent`,
  },
  alerts_undelivered: {
    level: 'error',
    say: ({ sink, alerts, topic }) =>
      `sink ${sink} permanently rejected ${alerts} alerts; they are on topic ${topic} with its answer`,
  },
  no_alert_read: {
    level: 'warn',
    say: ({ topic, origin, message }) => `topic ${topic} has a record that is not an alert (${origin}): it ${message}`,
  },
  silences_read: { level: 'info', say: ({ file, silences }) => `${silences} silences read from ${file}` },
  silences_refused: {
    level: 'error',
    say: ({ file, message }) => `the silences in ${file} were refused, and the previous ones stay in use: ${message}`,
  },
  silence_applied: {
    level: 'info',
    say: ({ silence, by, why }) => `silence ${silence} by ${by} suppresses alerts: ${why}`,
  },
  sink_totalled: {
    level: 'info',
    say: ({ sink, delivered, refused, others }) =>
      `sink ${sink}: ${delivered} alerts delivered, ${refused} refused, ${others} not sent (merged, silenced, capped, too old, for other sinks)`,
  },
}

const lateConsequences: { readonly [why in Extract<TelemetryEvent, { event: 'late_events_dropped' }>['why']]: string } =
  {
    too_many: 'get neither late alert nor correction: too many are pending',
    record_gone: 'get neither late alert nor correction: their record is gone',
    no_answer: 'stay without one: their lookups kept failing',
    refused: 'get neither late alert nor correction: a topic rejects them',
    correction_too_large: 'get no correction, because it would be too large; late alerts were raised',
  }

const bulkSentences: { readonly [limit in BulkLimit]: string } = {
  connections: 'a bulk connection was refused, because too many are open',
  questions: 'a bulk lookup was refused, because too many are open',
  unread: 'a bulk connection was closed, because the client did not read its answers',
}

const dayOf = (at: number): string => (Math.abs(at) <= 8.64e15 ? new Date(at).toISOString().slice(0, 10) : 'some day')

const atSource = (source: string | undefined): string => (source === undefined ? '' : ` at ${source}`)

const placeOf = ({ file, line }: { file: string; line?: number }): string =>
  line === undefined ? file : `${file}:${line}`

export const severityOf = (event: TelemetryEvent): Severity => wordings[event.event].level

export const sentenceOf = (event: TelemetryEvent): string =>
  (wordings[event.event] as Wording<TelemetryEvent>).say(event)

// The closed union of telemetry events; each maps to one log line and one metric.
import type { EntryCounts } from '../domain/entry-counts.js'
import type { ByReason } from '../domain/no-alert-reason.js'
import type { Skipped } from '../domain/skipped.js'
import type { Reason } from '../domain/reason.js'
import type { Unread } from '../domain/unread.js'
import type { BulkLimit, NotShared, StateRefusal, VerdictRefusal } from './labels.js'

export type TelemetryEvent =
  | { readonly event: 'started'; readonly command: string }
  /** What a run came to. */
  | {
      readonly event: 'run_totalled'
      readonly read: number
      readonly delivered: number
      readonly malicious: number
      readonly suspicious: number
      readonly clean: number
      readonly unknown: number
      readonly alerts: number
      readonly deadLetters: number
      readonly calls: number
      readonly seconds: number
    }
  | { readonly event: 'stopped'; readonly command: string; readonly cause: string }
  | (EntryCounts & {
      readonly event: 'feed_loaded'
      readonly feed: string
      /** What else is in the file, by reason. */
      readonly skipped: Skipped
      /** Memory used by its index. */
      readonly bytes: number
      readonly ms: number
    })
  /** A file with a key can be read by every user of the machine. */
  | { readonly event: 'secret_file_exposed'; readonly setting: string; readonly message: string }
  /** No gate.ownRanges. */
  | { readonly event: 'own_ranges_missing' }
  /** Without gate.ownRanges: a public address that address translation shows to be our own; `suggested` covers all seen so far. */
  | {
      readonly event: 'own_address_seen'
      readonly address: string
      readonly origin: string
      readonly suggested: readonly string[]
    }
  /** It is in use and accuses nobody. */
  /** `newest`: epoch milliseconds of its newest entry. */
  | { readonly event: 'feed_stale'; readonly feed: string; readonly newest: number; readonly days: number }
  /** `share`: of the distinct public addresses that events showed. */
  | { readonly event: 'feed_lists_many'; readonly feed: string; readonly share: number }
  | { readonly event: 'feed_empty'; readonly feed: string; readonly message: string }
  | {
      readonly event: 'feed_entries_skipped'
      readonly feed: string
      readonly skipped: Skipped
      readonly examples: readonly { readonly file: string; readonly line?: number; readonly message: string }[]
    }
  | {
      readonly event: 'feed_fetched'
      readonly feed: string
      /** The host; the rest of an address may hold a key. */
      readonly from: string
      /** 0 where the list has not changed. */
      readonly bytes: number
      readonly ms: number
    }
  /** Of a feed that is read page by page, with what was read so far. */
  | {
      readonly event: 'feed_page_fetched'
      readonly feed: string
      readonly from: string
      readonly pages: number
      readonly objects: number
    }
  | {
      readonly event: 'feed_fetch_failed'
      readonly feed: string
      readonly from: string
      readonly message: string
      /** Whether a former version stays in use. */
      readonly kept: boolean
    }
  | {
      readonly event: 'feed_refused'
      readonly feed: string
      readonly file: string
      readonly line?: number
      readonly message: string
      /** Whether the previous version stays in use. */
      readonly kept: boolean
    }
  /** A database of intel.geo; `built` is when its maker built it, in epoch milliseconds. */
  | { readonly event: 'geo_database_loaded'; readonly file: string; readonly type: string; readonly built: number }
  /** The last good version stays in use. */
  | { readonly event: 'geo_database_refused'; readonly file: string; readonly message: string }
  /** The first time that a database in use could not answer. */
  | { readonly event: 'geo_lookup_failed'; readonly file: string; readonly message: string }
  | { readonly event: 'provider_answered'; readonly operation: string; readonly ms: number }
  | {
      readonly event: 'provider_call_failed'
      readonly operation: string
      readonly reason: Reason
      readonly detail: string
      readonly ms: number
    }
  /** Of a source of intel.sources: what its answer gave. */
  | { readonly event: 'source_answered'; readonly source: string; readonly gave: string; readonly ms: number }
  | {
      readonly event: 'source_call_failed'
      readonly source: string
      readonly reason: Reason
      readonly detail: string
      readonly ms: number
    }
  | { readonly event: 'ipv6_lookups_paused'; readonly forMs: number }
  | {
      readonly event: 'scan_started'
      readonly name: string
      readonly scanId: string
      readonly visibility: 'public' | 'private'
    }
  | { readonly event: 'scan_ended'; readonly name: string; readonly scanId: string; readonly outcome: string }
  | { readonly event: 'kafka_client_warned'; readonly about: string; readonly message: string }
  | { readonly event: 'worker_exited'; readonly worker: number; readonly how: string; readonly againInMs: number }
  | { readonly event: 'group_joined'; readonly partitions: number; readonly tookMs: number }
  | { readonly event: 'consumer_restarted'; readonly cause: string; readonly againInMs: number }
  /** Kafka could not be used at the start; it is retried. */
  | { readonly event: 'start_postponed'; readonly cause: string; readonly againInMs: number }
  | { readonly event: 'brokers_unreachable'; readonly forMs: number; readonly cause: string }
  | { readonly event: 'brokers_reachable'; readonly afterMs: number }
  | { readonly event: 'topics_changed'; readonly topics: readonly string[] }
  | { readonly event: 'topic_recreated'; readonly topic: string }
  /** The first event of a topic that is not text. */
  | {
      readonly event: 'binary_event_read'
      readonly topic: string
      readonly origin: string
      /** Whether it begins as a schema registry's serializers write. */
      readonly prefixed: boolean
    }
  /** The first value of a topic that could not be read in the topic's format. */
  | {
      readonly event: 'value_not_read'
      readonly topic: string
      readonly origin: string
      readonly reason: Unread['reason']
    }
  | { readonly event: 'schema_loaded'; readonly schema: string; readonly kind: string }
  | { readonly event: 'schema_missing'; readonly schema: string; readonly message: string }
  | { readonly event: 'registry_away'; readonly message: string }
  | { readonly event: 'registry_back'; readonly afterMs: number }
  /** Empty: there is none. */
  | {
      readonly event: 'topics_used'
      readonly output: string
      readonly deadLetters: string
      readonly alerts: string
      readonly corrections: string
      readonly sightings: string
      readonly verdicts: string
    }
  /** A topic that nobody named: the program goes on without it. */
  | { readonly event: 'topic_missing'; readonly topic: string; readonly message: string }
  | {
      readonly event: 'group_is_new'
      readonly group: string
      readonly topics: readonly string[]
      /** Records from before the start, which are not read. */
      readonly records: number
    }
  /** The group has read these topics before, and has no offsets any more. */
  | { readonly event: 'group_offsets_lost'; readonly group: string; readonly records: number }
  | { readonly event: 'offsets_skipped'; readonly topic: string; readonly partition: number; readonly count: number }
  | { readonly event: 'producer_replaced'; readonly topic: string; readonly partition: number; readonly cause: string }
  | { readonly event: 'partition_claimed'; readonly topic: string; readonly partition: number; readonly offset: string }
  /** Records of the input with headers that only we may write. */
  | { readonly event: 'forged_headers_removed'; readonly records: number }
  /** The broker refuses the time of this machine, or of those whose events are read, as one in the future. */
  | { readonly event: 'written_without_time'; readonly topic: string; readonly records: number }
  /** Alerts or notes that their topic does not take. */
  | {
      readonly event: 'attachments_dropped'
      readonly topic: string
      readonly records: number
      readonly reason: string
    }
  /** What had fired for events with very many alerts, and was not written down: a late alert may repeat it, with the same id. */
  | { readonly event: 'firings_not_noted'; readonly firings: number }
  | {
      readonly event: 'record_reduced'
      readonly topic: string
      readonly partition: number
      readonly offset: string
      readonly to: string
      readonly reason: string
    }
  | {
      readonly event: 'chunk_delivered'
      readonly topic: string
      readonly partition: number
      readonly events: number
      /** Age of its first record. */
      readonly oldestMs?: number
    }
  | { readonly event: 'ops_listening'; readonly url: string }
  /** Repeats of a failure that was already logged. */
  | { readonly event: 'failure_repeated'; readonly failure: string; readonly times: number; readonly withinMs: number }
  | {
      readonly event: 'index_loaded'
      readonly file: string
      readonly rows: number
      readonly skipped: number
      /** Whether the index reached its limit. */
      readonly full: boolean
    }
  | {
      readonly event: 'operation_answered'
      readonly operation: string
      /** The status of the body: 200, or the code of a failure. */
      readonly status: number
      readonly ms: number
    }
  | { readonly event: 'operation_failed'; readonly message: string }
  /** Of what bulk connections may hold: a connection or a question was refused, or one was closed whose answers nobody read. */
  | { readonly event: 'bulk_limit_reached'; readonly key: string; readonly reason: BulkLimit }
  | {
      readonly event: 'memory_restored'
      readonly path: string
      readonly findings: number
      readonly damaged: number
    }
  | { readonly event: 'memory_not_persisted'; readonly path: string; readonly message: string }
  | { readonly event: 'memory_write_failed'; readonly path: string; readonly message: string; readonly lost: number }
  | { readonly event: 'memory_write_resumed'; readonly path: string }
  /** What others had paid for, read at the start; `isWhole`: everything that is still of use, and not only as much as the memory holds. */
  | { readonly event: 'verdicts_restored'; readonly verdicts: number; readonly ms: number; readonly isWhole: boolean }
  /** `delayMs`: how long the last of them was on its way. */
  | { readonly event: 'verdicts_learnt'; readonly verdicts: number; readonly delayMs?: number }
  | { readonly event: 'verdicts_refused'; readonly verdicts: number; readonly reason: VerdictRefusal }
  | { readonly event: 'verdicts_appended'; readonly verdicts: number }
  /** They are known here, and are not shared. */
  | {
      readonly event: 'verdicts_not_shared'
      readonly verdicts: number
      readonly reason: NotShared
    }
  | { readonly event: 'verdicts_not_used'; readonly message: string }
  | { readonly event: 'verdicts_topic_failed'; readonly what: 'read' | 'append'; readonly message: string }
  | { readonly event: 'verdicts_topic_resumed'; readonly what: 'read' | 'append' }
  /** This gateway is the one that calls the provider; `waitedMs`: for calls of the one before. */
  | { readonly event: 'calling_began'; readonly waitedMs: number }
  | { readonly event: 'calling_ended'; readonly cause: string }
  /** Another gateway calls, or is about to. */
  | { readonly event: 'caller_known'; readonly address: string }
  | { readonly event: 'election_failed'; readonly message: string }
  | { readonly event: 'question_passed_on' }
  /** With `source`: those of a source of intel.sources. */
  | {
      readonly event: 'lookups_paused'
      readonly state: string
      readonly reason: Reason
      readonly forMs: number
      readonly source?: string
    }
  | { readonly event: 'lookups_resumed'; readonly source?: string }
  | {
      readonly event: 'budget_exhausted'
      readonly calls: number
      readonly source?: string
      /** The limit that nobody set. */
      readonly defaultPerDay?: number
    }
  /** A key is used, and nobody said how many calls it may send. */
  | { readonly event: 'budget_not_set'; readonly perDay: number }
  /** The lists of gate.allow have changed. */
  | { readonly event: 'allow_loaded'; readonly files: number }
  /** What was in use stays in use. */
  | { readonly event: 'allow_refused'; readonly where: string; readonly message: string }
  | { readonly event: 'rules_loaded'; readonly rules: number; readonly files: number }
  | { readonly event: 'rule_warned'; readonly file: string; readonly line?: number; readonly message: string }
  /** The rules that were in use stay in use. */
  | { readonly event: 'rules_refused'; readonly file: string; readonly line?: number; readonly message: string }
  | {
      readonly event: 'alerts_raised'
      readonly alerts: number
      readonly late: boolean
      /** One per alert. */
      readonly levels: readonly string[]
    }
  /** Accused events of a chunk that raise no alert. */
  | {
      readonly event: 'accused_without_alert'
      readonly reasons: ByReason
    }
  /** Alerts about events of the past whose verdict has changed; further ones are in one summary. */
  | {
      readonly event: 'retro_alerts_raised'
      readonly alerts: number
      readonly summarised: number
      /** One per alert and summary. */
      readonly levels: readonly string[]
    }
  /** Updates say how many matches were suppressed since an alert. */
  | { readonly event: 'alert_updates_written'; readonly updates: number }
  /** The process ended, and no partition on whose behalf they could have been written was left to it. */
  | { readonly event: 'alert_updates_dropped'; readonly updates: number }
  /** A defect: what should have followed from an answer or a change is missing. */
  | {
      readonly event: 'follow_up_failed'
      readonly what: 'late answers' | 'retro alerts' | 'alert updates'
      readonly cause: string
    }
  /** What is known again of who has seen what; `events` were read again because they had not been written yet. */
  | {
      readonly event: 'counts_restored'
      readonly topic: string
      readonly partition: number
      readonly indicators: number
      readonly events: number
    }
  /** Beyond the limit: indicators of old days that were dropped, and sightings that were not counted. */
  | { readonly event: 'sightings_not_counted'; readonly evicted: number; readonly uncounted: number }
  /** Events delivered before their answer that are not followed up, or not corrected where only that was too large. */
  | {
      readonly event: 'late_events_dropped'
      readonly events: number
      readonly why: 'too_many' | 'record_gone' | 'no_answer' | 'refused' | 'correction_too_large'
    }
  /** Events that were delivered before their answer were written once more, with it. */
  | { readonly event: 'events_corrected'; readonly events: number }
  | { readonly event: 'state_refused'; readonly topic: string; readonly records: number; readonly reason: StateRefusal }
  /** The suppression windows of a partition are known again. */
  | {
      readonly event: 'windows_restored'
      readonly topic: string
      readonly partition: number
      readonly windows: number
    }
  | {
      readonly event: 'sightings_restored'
      readonly topic: string
      readonly partition: number
      /** Events that still wait for an answer. */
      readonly pending: number
    }
  /** `state` is what the sink's answer, or the want of one, says about it. */
  | {
      readonly event: 'sink_failed'
      readonly sink: string
      readonly state: string
      readonly detail: string
      readonly againInMs: number
    }
  | { readonly event: 'sink_recovered'; readonly sink: string; readonly afterMs: number }
  /** A new group of a sink: it begins with the next alert. */
  | { readonly event: 'sink_is_new'; readonly sink: string; readonly group: string; readonly records: number }
  /** Refused for good by a sink: what it said is on the topic, with the alert. */
  | { readonly event: 'alerts_undelivered'; readonly sink: string; readonly alerts: number; readonly topic: string }
  /** Something on the alerts topic is no alert. */
  | {
      readonly event: 'no_alert_read'
      readonly sink: string
      readonly topic: string
      readonly origin: string
      readonly message: string
    }
  | { readonly event: 'silences_read'; readonly file: string; readonly silences: number }
  | { readonly event: 'silences_refused'; readonly file: string; readonly message: string }
  /** A silence holds back, or marks, its first alert. */
  | { readonly event: 'silence_applied'; readonly silence: string; readonly by: string; readonly why: string }
  /** What became of the alerts of a sink. */
  | {
      readonly event: 'sink_totalled'
      readonly sink: string
      readonly delivered: number
      readonly refused: number
      readonly others: number
    }

export type Emit = (event: TelemetryEvent) => void

export const ignoreTelemetry: Emit = () => undefined

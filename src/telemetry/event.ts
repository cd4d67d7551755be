// The closed union of telemetry events; each maps to one log line and one metric.
import type { EntryCounts } from '../domain/entry-counts.js'
import type { ByReason } from '../domain/no-alert-reason.js'
import type { Skipped } from '../domain/skipped.js'
import type { Reason } from '../domain/reason.js'
import type { Unread } from '../domain/unread.js'
import type { BulkLimit, NotShared, StateRefusal, VerdictRefusal } from './labels.js'

export type TelemetryEvent =
  | { readonly event: 'started'; readonly command: string }
  /** The totals of a run. */
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
      /** Skipped entries, by reason. */
      readonly skipped: Skipped
      /** Memory used by its index. */
      readonly bytes: number
      readonly ms: number
    })
  /** A secret file is readable by every user of the machine. */
  | { readonly event: 'secret_file_exposed'; readonly setting: string; readonly message: string }
  /** gate.ownRanges is empty. */
  | { readonly event: 'own_ranges_missing' }
  /** gate.ownRanges is empty, and a NAT log shows a public address of ours; `suggested` covers all such addresses so far. */
  | {
      readonly event: 'own_address_seen'
      readonly address: string
      readonly origin: string
      readonly suggested: readonly string[]
    }
  /** It is in use and accuses nobody. */
  /** `newest`: epoch milliseconds of its newest entry. */
  | { readonly event: 'feed_stale'; readonly feed: string; readonly newest: number; readonly days: number }
  /** `share`: the listed part of the distinct public addresses in events. */
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
      /** Only the host, because the rest of a URL may contain a key. */
      readonly from: string
      /** 0 if the list has not changed. */
      readonly bytes: number
      readonly ms: number
    }
  /** Progress of a paged feed; the counts are totals so far. */
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
      /** Whether the previous version stays in use. */
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
  /** `built`: epoch milliseconds of the build, from the metadata of the database. */
  | { readonly event: 'geo_database_loaded'; readonly file: string; readonly type: string; readonly built: number }
  /** The last good version stays in use. */
  | { readonly event: 'geo_database_refused'; readonly file: string; readonly message: string }
  /** The first failed read from a database in use. */
  | { readonly event: 'geo_lookup_failed'; readonly file: string; readonly message: string }
  | { readonly event: 'provider_answered'; readonly operation: string; readonly ms: number }
  | {
      readonly event: 'provider_call_failed'
      readonly operation: string
      readonly reason: Reason
      readonly detail: string
      readonly ms: number
    }
  /** `gave`: the level in the answer of a source of intel.sources. */
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
  /** The brokers did not answer at the start; the start is retried. */
  | { readonly event: 'start_postponed'; readonly cause: string; readonly againInMs: number }
  | { readonly event: 'brokers_unreachable'; readonly forMs: number; readonly cause: string }
  | { readonly event: 'brokers_reachable'; readonly afterMs: number }
  | { readonly event: 'topics_changed'; readonly topics: readonly string[] }
  | { readonly event: 'topic_recreated'; readonly topic: string }
  /** The first binary value of a topic. */
  | {
      readonly event: 'binary_event_read'
      readonly topic: string
      readonly origin: string
      /** Whether it starts with the prefix of a schema registry serializer. */
      readonly prefixed: boolean
    }
  /** The first value of a topic that is not in the configured format. */
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
  /** An empty name means no topic. */
  | {
      readonly event: 'topics_used'
      readonly output: string
      readonly deadLetters: string
      readonly alerts: string
      readonly corrections: string
      readonly sightings: string
      readonly verdicts: string
    }
  /** A topic with a default name does not exist; the process runs without it. */
  | { readonly event: 'topic_missing'; readonly topic: string; readonly message: string }
  | {
      readonly event: 'group_is_new'
      readonly group: string
      readonly topics: readonly string[]
      /** Records from before the start, which are not read. */
      readonly records: number
    }
  /** The group has read these topics before, but its offsets have expired. */
  | { readonly event: 'group_offsets_lost'; readonly group: string; readonly records: number }
  | { readonly event: 'offsets_skipped'; readonly topic: string; readonly partition: number; readonly count: number }
  | { readonly event: 'producer_replaced'; readonly topic: string; readonly partition: number; readonly cause: string }
  | { readonly event: 'partition_claimed'; readonly topic: string; readonly partition: number; readonly offset: string }
  /** Input records with headers that only this program may write. */
  | { readonly event: 'forged_headers_removed'; readonly records: number }
  /** The broker rejects the timestamps as being in the future: a clock here or at the source of the events is wrong. */
  | { readonly event: 'written_without_time'; readonly topic: string; readonly records: number }
  /** Alerts, corrections or notes that their topic rejects. */
  | {
      readonly event: 'attachments_dropped'
      readonly topic: string
      readonly records: number
      readonly reason: string
    }
  /** Alerts beyond the limit of one note. A late alert may repeat them, with the same id. */
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
      /** Age of the first record. */
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
  /** A bulk connection or lookup was refused, or a connection was closed because the client did not read its answers. */
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
  /** Verdicts of other processes, read at the start; `isWhole`: false if the memory was too small for all of them. */
  | { readonly event: 'verdicts_restored'; readonly verdicts: number; readonly ms: number; readonly isWhole: boolean }
  /** `delayMs`: time from the lookup of the last verdict to its arrival here. */
  | { readonly event: 'verdicts_learnt'; readonly verdicts: number; readonly delayMs?: number }
  | { readonly event: 'verdicts_refused'; readonly verdicts: number; readonly reason: VerdictRefusal }
  | { readonly event: 'verdicts_appended'; readonly verdicts: number }
  /** Verdicts that stay in this process. */
  | {
      readonly event: 'verdicts_not_shared'
      readonly verdicts: number
      readonly reason: NotShared
    }
  | { readonly event: 'verdicts_not_used'; readonly message: string }
  | { readonly event: 'verdicts_topic_failed'; readonly what: 'read' | 'append'; readonly message: string }
  | { readonly event: 'verdicts_topic_resumed'; readonly what: 'read' | 'append' }
  /** This gateway became the leader and calls the provider; `waitedMs`: time to let calls of the previous leader end. */
  | { readonly event: 'calling_began'; readonly waitedMs: number }
  | { readonly event: 'calling_ended'; readonly cause: string }
  /** Another gateway is the leader, or about to be. */
  | { readonly event: 'caller_known'; readonly address: string }
  | { readonly event: 'election_failed'; readonly message: string }
  | { readonly event: 'question_passed_on' }
  /** `source`: absent for the main provider. */
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
      /** The default limit, if it was the one reached. */
      readonly defaultPerDay?: number
    }
  /** There is a key without a configured budget. */
  | { readonly event: 'budget_not_set'; readonly perDay: number }
  /** Lists of gate.allow changed and were reloaded. */
  | { readonly event: 'allow_loaded'; readonly files: number }
  /** The previous lists stay in use. */
  | { readonly event: 'allow_refused'; readonly where: string; readonly message: string }
  | { readonly event: 'rules_loaded'; readonly rules: number; readonly files: number }
  | { readonly event: 'rule_warned'; readonly file: string; readonly line?: number; readonly message: string }
  /** The previous rules stay in use. */
  | { readonly event: 'rules_refused'; readonly file: string; readonly line?: number; readonly message: string }
  | {
      readonly event: 'alerts_raised'
      readonly alerts: number
      readonly late: boolean
      /** One per alert. */
      readonly levels: readonly string[]
    }
  /** Malicious or suspicious events of a chunk without an alert. */
  | {
      readonly event: 'accused_without_alert'
      readonly reasons: ByReason
    }
  /** Alerts about past events whose verdict has changed; `summarised` more are in one summary alert. */
  | {
      readonly event: 'retro_alerts_raised'
      readonly alerts: number
      readonly summarised: number
      /** One per alert and summary. */
      readonly levels: readonly string[]
    }
  /** An update has the number of matches suppressed since its alert. */
  | { readonly event: 'alert_updates_written'; readonly updates: number }
  /** At shutdown the process had no partition left in whose transaction to write them. */
  | { readonly event: 'alert_updates_dropped'; readonly updates: number }
  /** A bug prevented a late alert, a retro alert or an update. */
  | {
      readonly event: 'follow_up_failed'
      readonly what: 'late answers' | 'retro alerts' | 'alert updates'
      readonly cause: string
    }
  /** Sightings of a partition were restored; `events` were reread because no record covered them yet. */
  | {
      readonly event: 'counts_restored'
      readonly topic: string
      readonly partition: number
      readonly indicators: number
      readonly events: number
    }
  /** Limit reached: `evicted` indicators of old days were dropped, `uncounted` sightings were not recorded. */
  | { readonly event: 'sightings_not_counted'; readonly evicted: number; readonly uncounted: number }
  /** Pending events that get no late alert or correction. */
  | {
      readonly event: 'late_events_dropped'
      readonly events: number
      readonly why: 'too_many' | 'record_gone' | 'no_answer' | 'refused' | 'correction_too_large'
    }
  /** Events were rewritten with a late verdict. */
  | { readonly event: 'events_corrected'; readonly events: number }
  | { readonly event: 'state_refused'; readonly topic: string; readonly records: number; readonly reason: StateRefusal }
  /** The suppression windows of a partition were restored. */
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
      /** Events that still wait for a verdict. */
      readonly pending: number
    }
  /** `state`: the condition of the sink, from its answer or the lack of one. */
  | {
      readonly event: 'sink_failed'
      readonly sink: string
      readonly state: string
      readonly detail: string
      readonly againInMs: number
    }
  | { readonly event: 'sink_recovered'; readonly sink: string; readonly afterMs: number }
  /** The consumer group of a sink is new and starts at the next alert. */
  | { readonly event: 'sink_is_new'; readonly sink: string; readonly group: string; readonly records: number }
  /** Permanently rejected by a sink; the alerts and its answer are on the dead letter topic. */
  | { readonly event: 'alerts_undelivered'; readonly sink: string; readonly alerts: number; readonly topic: string }
  /** A record on the alerts topic is not an alert. */
  | {
      readonly event: 'no_alert_read'
      readonly sink: string
      readonly topic: string
      readonly origin: string
      readonly message: string
    }
  | { readonly event: 'silences_read'; readonly file: string; readonly silences: number }
  | { readonly event: 'silences_refused'; readonly file: string; readonly message: string }
  /** A silence matched its first alert. */
  | { readonly event: 'silence_applied'; readonly silence: string; readonly by: string; readonly why: string }
  /** The totals of a sink. */
  | {
      readonly event: 'sink_totalled'
      readonly sink: string
      readonly delivered: number
      readonly refused: number
      readonly others: number
    }

export type Emit = (event: TelemetryEvent) => void

export const ignoreTelemetry: Emit = () => undefined

// Settings of the steps an event goes through: extract, gate, enrich, output, alerts.
import { Type } from '@sinclair/typebox'
import { contextOperations, type ContextOperation } from '../../domain/alert-context.js'

/** Settings of extraction: custom log formats and trusted proxies. */
export const extractSettings = Type.Object(
  {
    formats: Type.Array(Type.String(), {
      default: [],
      description:
        'Custom log formats: files, or folders that are searched recursively for .yml and .yaml files. See docs/formats.md.',
    }),
    trustedProxies: Type.Array(Type.String({ format: 'cidr' }), {
      default: [],
      description:
        'Public addresses and ranges of your proxies, load balancers and CDN. They are skipped in X-Forwarded-For, from the right, as private addresses always are.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'Extraction of indicators from events.' },
)

/** Settings of the gate: the indicators that may leave for an external lookup. */
export const gateSettings = Type.Object(
  {
    ownRanges: Type.Array(Type.String({ format: 'cidr' }), {
      default: [],
      description: 'Your own public addresses and ranges. They count as internal and are never looked up.',
    }),
    internalSuffixes: Type.Array(Type.String({ format: 'suffix' }), {
      default: [],
      description: 'Your own domains, for example [corp.example.com]. They and their subdomains are never looked up.',
    }),
    publicSuffixes: Type.Array(Type.String({ format: 'suffix' }), {
      default: [],
      description:
        'Domains to look up, with their subdomains, although they look internal; for a lookup service of your own. internalSuffixes and deny take precedence.',
    }),
    allow: Type.Array(Type.String(), {
      default: [],
      description:
        'Files of harmless addresses, ranges and names, which are not looked up. Plain text with one entry per line and # for comments, or MISP warninglists (JSON) of any type. An entry may have an end date: 203.0.113.7 until 2026-12-01 # false positive. A name matches only itself; .example.com, *.example.com and names in a MISP hostname list also match subdomains.',
    }),
    deny: Type.Array(Type.String(), {
      default: [],
      description:
        'Files of addresses, ranges and names that must never leave, in the same formats; a name always includes its subdomains. They count as your own, so local feeds do not match them either. Reported as own_range and internal_name.',
    }),
    askFreeText: Type.Boolean({
      default: false,
      description:
        'Also look up names that appear only in free text. Otherwise those are only checked against local feeds.',
    }),
    documentation: Type.Boolean({
      default: false,
      description:
        'Treat documentation addresses (192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32, 3fff::/20) as public, for samples and demos.',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'The gate: which indicators may be looked up outside, and which never leave.',
  },
)

/** Settings of how long events wait for lookups. */
export const enrichSettings = Type.Object(
  {
    deadlineMs: Type.Integer({
      default: 500,
      minimum: 0,
      maximum: 600_000,
      description:
        'The maximum time that a chunk of live events waits for lookups in total; 0 does not wait. A later answer raises a late alert.',
    }),
    catchUpShare: Type.Number({
      default: 0.2,
      minimum: 0,
      maximum: 0.9,
      description:
        'The share of time that a process may spend waiting for lookups while a partition lags behind, plus two seconds at the start; 0 does not wait.',
    }),
    mode: Type.Union([Type.Literal('auto'), Type.Literal('live'), Type.Literal('complete')], {
      default: 'auto',
      description:
        'live waits at most one deadline, and a share of the time in a backlog. complete waits for every lookup, on Kafka even while the provider is down. auto is complete for files and live for streams.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'How long events wait for lookups.' },
)

/** Settings of the annotation. */
export const outputSettings = Type.Object(
  {
    key: Type.String({
      default: 'threatweave',
      pattern:
        '^(?!(?:message|original_base64|event|source|destination|threat|related|observables|osint|__proto__)$)[A-Za-z_][A-Za-z0-9_-]{0,63}$',
      form: 'a name of at most 64 letters, digits, - and _ that begins with a letter or _ and is not used by events or layers',
      description: 'The member that holds the annotation; it must not be a name that events or layers use.',
    }),
    detail: Type.Union([Type.Literal('auto'), Type.Literal('full'), Type.Literal('compact')], {
      default: 'auto',
      description:
        'The detail of the annotation. full: everything, for every indicator; compact: only what rules and analysts need; auto: full for malicious and suspicious events, compact for all others.',
    }),
    onExisting: Type.Union([Type.Literal('replace'), Type.Literal('keep')], {
      default: 'replace',
      description:
        'What to do with an event that already has a member that looks like our annotation. replace: treat it as forged, remove and count it; keep: pass the event through unchanged.',
    }),
    placement: Type.Union([Type.Literal('json'), Type.Literal('headers'), Type.Literal('topic')], {
      default: 'json',
      description:
        'In Kafka: json adds the annotation to the event; headers adds it as a record header and leaves the value unchanged; topic writes only annotations.',
    }),
    layers: Type.Array(Type.Union([Type.Literal('ecs'), Type.Literal('ocsf')]), {
      default: [],
      uniqueItems: true,
      description:
        'Additional representations of the result: ecs (threat.enrichments, related, event.risk_score), ocsf (observables, osint). They extend the members that an event already has.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'The annotation and its place.' },
)

/** Settings of alerts: rules, suppression and context. */
export const alertsSettings = Type.Object(
  {
    bundled: Type.Boolean({
      default: true,
      description: 'Use the bundled rules; a rule of your own with the same id replaces one.',
    }),
    rules: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      maxItems: 64,
      description:
        'Sigma rules: files, or folders that are searched recursively for .yml and .yaml files. They are reloaded when they change.',
    }),
    suppressSeconds: Type.Integer({
      default: 3600,
      minimum: 0,
      maximum: 604_800,
      description:
        'The suppression window: one alert per rule, indicator and local machine in this time, measured in event time; 0 raises every alert.',
    }),
    context: Type.Object(
      {
        operations: Type.Array(Type.Unsafe<ContextOperation>({ type: 'string', enum: [...contextOperations] }), {
          default: [],
          maxItems: 5,
          description:
            'Lookups made once per malicious or suspicious indicator, as context for analysts: ip/data, banner/search, banner/stats, domain/report, and exploit/search for vulnerabilities named in the event. The alert does not wait; the answers follow in an update.',
        }),
        perDay: Type.Integer({
          default: 100,
          minimum: 1,
          maximum: 1_000_000,
          description:
            'The maximum number of context calls per day (UTC) and process; the admit budget does not include them.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'Context for alerts.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'Alerts: Sigma rules over annotated events.' },
)

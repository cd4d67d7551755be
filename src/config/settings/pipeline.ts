// Settings of what happens to an event: extract, gate, enrich, output, alerts.
import { Type } from '@sinclair/typebox'
import { contextOperations, type ContextOperation } from '../../domain/alert-context.js'

/** Settings of reading: log formats of your own. */
export const extractSettings = Type.Object(
  {
    formats: Type.Array(Type.String(), {
      default: [],
      description:
        'Log formats of your own: files, or folders with everything below them that ends in .yml or .yaml. See docs/formats.md.',
    }),
    trustedProxies: Type.Array(Type.String({ format: 'cidr' }), {
      default: [],
      description:
        'Public addresses and ranges of your proxies, load balancers and content delivery network: in X-Forwarded-For they are passed over, from the right. Private addresses always are.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'Which indicators are found in an event.' },
)

/** Settings of the gate: what may be asked of anybody outside. */
export const gateSettings = Type.Object(
  {
    ownRanges: Type.Array(Type.String({ format: 'cidr' }), {
      default: [],
      description: 'Your own public addresses and ranges; they are never asked about and count as internal.',
    }),
    internalSuffixes: Type.Array(Type.String({ format: 'suffix' }), {
      default: [],
      description:
        'Domains of your own, for example [corp.example.com]; they and everything below them are never asked about.',
    }),
    publicSuffixes: Type.Array(Type.String({ format: 'suffix' }), {
      default: [],
      description:
        'Names that may be asked about although they look internal, with everything below them: for a lookup service of your own that knows them. internalSuffixes and deny still hold.',
    }),
    allow: Type.Array(Type.String(), {
      default: [],
      description:
        'Files of addresses, ranges and names known to be harmless: not asked about. Plain text, one entry a line, # for comments, or MISP warninglists as JSON, of any type. An entry may end at a date: 203.0.113.7 until 2026-12-01 # false positive. A name stands for itself; .example.com, *.example.com and names of a hostname list stand for everything below as well.',
    }),
    deny: Type.Array(Type.String(), {
      default: [],
      description:
        'Files of addresses, ranges and names that must never leave, in the same formats; a name always takes everything below it along. They count as yours: local feeds are not asked about them either. Reported as own_range and internal_name.',
    }),
    askFreeText: Type.Boolean({
      default: false,
      description: 'Ask also about names that stand only in free text; off, those are looked up in local feeds alone.',
    }),
    documentation: Type.Boolean({
      default: false,
      description:
        'Treat documentation addresses (192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32, 3fff::/20) as if they were real: for samples and demonstrations.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'What may be asked, and what never leaves.' },
)

/** Settings of waiting: how long events wait for answers. */
export const enrichSettings = Type.Object(
  {
    deadlineMs: Type.Integer({
      default: 500,
      minimum: 0,
      maximum: 600_000,
      description:
        'The longest a chunk of live events waits for answers, all in all; 0 never waits. What comes later raises its alert late.',
    }),
    catchUpShare: Type.Number({
      default: 0.2,
      minimum: 0,
      maximum: 0.9,
      description:
        'The share of its time that a process may wait for answers while a partition is behind, beside two seconds at the start; 0 never waits there.',
    }),
    mode: Type.Union([Type.Literal('auto'), Type.Literal('live'), Type.Literal('complete')], {
      default: 'auto',
      description:
        'live waits one deadline at most, and a share of the time in a backlog; complete waits for every answer, on Kafka also while the provider is down; auto is complete for files and live for streams.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'How long events wait for verdicts.' },
)

/** Settings of what is added to an event. */
export const outputSettings = Type.Object(
  {
    key: Type.String({
      default: 'threatweave',
      pattern:
        '^(?!(?:message|original_base64|event|source|destination|threat|related|observables|osint|__proto__)$)[A-Za-z_][A-Za-z0-9_-]{0,63}$',
      form: 'a name of at most 64 letters, digits, - and _ that begins with a letter or _ and that neither events nor layers use',
      description: 'The one key under which the annotation stands; not one that events or the layers use themselves.',
    }),
    detail: Type.Union([Type.Literal('auto'), Type.Literal('full'), Type.Literal('compact')], {
      default: 'auto',
      description:
        'How much the annotation says: full, everything with every indicator; compact, what rules and analysts need and no more; auto, full for malicious and suspicious events, compact for all others.',
    }),
    onExisting: Type.Union([Type.Literal('replace'), Type.Literal('keep')], {
      default: 'replace',
      description:
        'What happens to members that a reader would take for our annotation: replace takes them for a forgery, cuts them out and counts them; keep lets such an event pass untouched.',
    }),
    placement: Type.Union([Type.Literal('json'), Type.Literal('headers'), Type.Literal('topic')], {
      default: 'json',
      description:
        'In Kafka: json adds the annotation to the event, headers leaves the value as it is and adds it as a record header, topic writes annotations alone.',
    }),
    layers: Type.Array(Type.Union([Type.Literal('ecs'), Type.Literal('ocsf')]), {
      default: [],
      uniqueItems: true,
      description:
        'Further shapes of the same finding beside the annotation: ecs (threat.enrichments, related, event.risk_score), ocsf (observables, osint). They are added to what the event already has there.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'The annotation and how it is placed.' },
)

/** Settings of alerts: which rules, and how often the same may be said. */
export const alertsSettings = Type.Object(
  {
    bundled: Type.Boolean({
      default: true,
      description: 'Use the rules that come with the program; a rule of the same id elsewhere takes the place of one.',
    }),
    rules: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      maxItems: 64,
      description:
        'Sigma rules: files, or folders with everything below them that ends in .yml or .yaml. Read again when they change.',
    }),
    suppressSeconds: Type.Integer({
      default: 3600,
      minimum: 0,
      maximum: 604_800,
      description:
        'The same rule on the same indicator and machine on the other side raises one alert in this time, by the time of the events; 0 raises every one.',
    }),
    context: Type.Object(
      {
        operations: Type.Array(Type.Unsafe<ContextOperation>({ type: 'string', enum: [...contextOperations] }), {
          default: [],
          maxItems: 5,
          description:
            'Operations of the lookup service that are asked once for each accused indicator, for the people who read the alert: ip/data, banner/search, banner/stats, domain/report, and exploit/search for vulnerabilities that the event names. The alert does not wait; an update brings the answers.',
        }),
        perDay: Type.Integer({
          default: 100,
          minimum: 1,
          maximum: 1_000_000,
          description: 'Calls for it in one day (UTC) at most, for each process; they are not part of admit.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'What alerts show besides the verdict.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'Alerts: Sigma rules over annotated events.' },
)

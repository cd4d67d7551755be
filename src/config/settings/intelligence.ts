// Settings for lookups: the provider, feeds, the call budget, the memory.
import { Type } from '@sinclair/typebox'
import { choices, usualAddressChoices, usualNameChoices, type Choice } from '../../domain/operation-choice.js'

/** How to reach the provider: URL, key and concurrency. */
const serviceSettings = Type.Object(
  {
    baseUrl: Type.String({
      default: 'https://api.criminalip.io',
      format: 'url',
      description: 'Base URL of the lookup service: the provider, a gateway of your own, or `threatweave serve`.',
    }),
    otherUrls: Type.Array(Type.String({ format: 'url' }), {
      default: [],
      description:
        'Further gateways, tried in this order when the one before does not answer. Not needed when the name in baseUrl resolves to several addresses.',
    }),
    apiKey: Type.String({
      default: '',
      secret: true,
      description: 'The API key of your account. Without a key no external lookups are made.',
    }),
    profile: Type.String({
      default: '',
      description:
        'A YAML file with the differences from sources/lookup-service.yaml: base path, key, operations, errors, paths of facts in an answer. It is merged over that file. `threatweave check FILE` runs its examples.',
    }),
    concurrency: Type.Unsafe<number | 'auto'>({
      anyOf: [
        { type: 'integer', minimum: 1, maximum: 256 },
        { type: 'string', enum: ['auto'] },
      ],
      form: 'auto or a whole number from 1 to 256',
      default: 'auto',
      description:
        'The maximum number of calls in flight. auto starts with one, doubles while throughput grows, up to 32, and halves when the service refuses a call.',
    }),
    allowHttp: Type.Boolean({
      default: false,
      description: 'Allow a base URL without TLS on another machine; the key is then sent unencrypted.',
    }),
    caFile: Type.String({
      default: '',
      description: 'A PEM file of certificate authorities to trust in addition to the default ones.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'The lookup service and how it is reached.' },
)

/** Settings of one source: another provider, and when and how often it is asked. */
const source = Type.Object(
  {
    use: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
        description:
          'The name of a bundled source: abuseipdb, greynoise-community, otx or virustotal. Set either use or file.',
      }),
    ),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'A YAML file that describes a source of your own; `threatweave check FILE` runs its examples.',
      }),
    ),
    apiKeyFile: Type.Optional(Type.String({ minLength: 1, description: 'The file with your API key for the source.' })),
    concurrency: Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 64,
      description: 'The maximum number of calls in flight.',
    }),
    perDay: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description:
          'The maximum number of calls per day (UTC). By default the limit in the source file, which is that of a free key.',
      }),
    ),
    gateway: Type.Optional(
      Type.Boolean({
        description:
          'The lookup service is `threatweave serve` with the same source: it makes the calls for all clients and holds the key, the memory and the limits. apiKeyFile is not needed here.',
      }),
    ),
    ask: Type.Optional(
      Type.Unsafe<'accused' | 'unknown' | 'always'>({
        type: 'string',
        enum: ['accused', 'unknown', 'always'],
        description:
          'When to ask the source. accused: when another source calls the indicator malicious or suspicious, so that `accusers` counts how many agree. unknown: when the sources before it had no opinion. always: for every indicator. The default is accused, or always if there is no main provider.',
      }),
    ),
  },
  { additionalProperties: false, oneOf: [{ required: ['use'] }, { required: ['file'] }] },
)

const choice = (usual: Choice, description: string) =>
  Type.Unsafe<Choice>({ type: 'string', enum: [...choices], default: usual, description })

const described = <Name extends string>(
  usual: Readonly<Record<Name, Choice>>,
  descriptions: Readonly<Record<Name, string>>,
) =>
  Object.fromEntries(
    Object.entries<string>(descriptions).map(([name, text]) => [name, choice(usual[name as Name], text)]),
  ) as Record<Name, ReturnType<typeof choice>>

const addressChoices = described(usualAddressChoices, {
  'malicious-info':
    'Whether the address is malicious, with records, open ports and vulnerabilities. always; unclean: unless the facts so far say clean; accused: if it is malicious or suspicious so far; never.',
  suspicious_info: 'Scores, flags (VPN, proxy, Tor, scanner, …), abuse records, open ports, owner.',
  summary: 'Scores, country, owner and network.',
  data: 'Everything: scores, flags, categories, open ports, vulnerabilities, owner and network.',
  vpn: 'Whether the address is a VPN, proxy or Tor node.',
  hosting: 'Whether the address belongs to a hosting provider.',
  'privacy-threat': 'Exposed cameras, devices, storage and administration pages.',
  is_safe_dns_server: 'Whether the address is a trustworthy DNS resolver.',
})

const nameChoices = described(usualNameChoices, {
  reports: 'The list of reports for the hosts of the domain, with their scores.',
  'reports/personal':
    'The reports of scans that your account started; the list is fetched once for all names and refreshed every ten minutes.',
  report: 'The full report for the worst-rated host: evidence of phishing, age of the domain, certificate.',
})

/** Settings for lookups and judgement. */
export const intelSettings = Type.Object(
  {
    service: serviceSettings,
    sources: Type.Array(source, {
      default: [],
      maxItems: 16,
      description:
        'Other providers to ask in addition to the lookup service, or instead of it if it has no key; each is described by a YAML file. A source can raise a verdict or call an indicator harmless; it never lowers the verdict of another source.',
    }),
    table: Type.String({
      default: '',
      description:
        'A YAML file with the level and score for each kind of evidence; it overrides parts of the built-in table, which examples/judgement.yaml shows. Empty: the built-in table.',
    }),
    safeguard: Type.Array(Type.String({ minLength: 1 }), {
      default: ['bundled'],
      description:
        'Shared hosts and addresses that a feed cannot make malicious: a listing of one, or of a URL on one, becomes a flag with the reason safeguarded. `bundled` means the lists that come with the program (code hosting, file sharing, site builders, large platforms, public DNS resolvers, CDN edges, mail relays, private relays); leave it out to replace them. Every other entry is a file as in gate.allow: plain text or a MISP warninglist.',
    }),
    ip: Type.Object(
      {
        operations: Type.Object(addressChoices, {
          additionalProperties: false,
          default: {},
          description: 'When each operation is asked; each costs a call.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'Lookups of IP addresses.' },
    ),
    domain: Type.Object(
      {
        ask: Type.Union([Type.Literal('registrable'), Type.Literal('host')], {
          default: 'registrable',
          description:
            'Ask about the registrable domain (fewer credits, internal host names stay private) or the full host name.',
        }),
        operations: Type.Object(nameChoices, {
          additionalProperties: false,
          default: {},
          description: 'When each operation is asked; each costs a call.',
        }),
        scan: Type.Union([Type.Literal('off'), Type.Literal('private'), Type.Literal('public')], {
          default: 'off',
          description:
            'Scan names that have no report yet. A public scan shows everyone that you are investigating the name.',
        }),
        scanFolder: Type.String({
          default: 'threatweave-scans',
          description: 'The folder that records started scans, so that no name is scanned twice.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'Lookups of domain names.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'Lookups and judgement: where verdicts come from.' },
)

const column = Type.Union([Type.Integer({ minimum: 1, maximum: 256 }), Type.String({ minLength: 1, maxLength: 64 })])

const days = Type.Number({ exclusiveMinimum: 0, maximum: 36500 })

const feed = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      description: 'The name of the feed in annotations; it must be unique.',
    }),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The list as published, compressed with gzip or not; the format is detected from the content. Or the directory of a MISP feed (manifest.json and its events). Set one of path, url, taxii and misp.',
      }),
    ),
    url: Type.Optional(
      Type.String({
        format: 'url',
        description:
          'The https URL of the list; the URL of a manifest.json fetches a whole MISP feed. The last good copy is kept next to the memory and used while the list cannot be fetched.',
      }),
    ),
    taxii: Type.Optional(
      Type.String({
        format: 'url',
        description:
          'The URL of a TAXII 2.1 collection (https://…/collections/ID/). Its indicators are read page by page: new ones at each refresh, all of them once a day. `threatweave feeds discover` lists the collections that your login may read.',
      }),
    ),
    misp: Type.Optional(
      Type.String({
        format: 'url',
        description:
          'The URL of a MISP server. Its attributes for detection are read page by page: changed ones at each refresh, all of them once a day. Needs apiKeyFile.',
      }),
    ),
    apiKeyFile: Type.Optional(Type.String({ minLength: 1, description: 'The file with the key of a MISP user.' })),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        maxItems: 64,
        description:
          'Read only attributes with one of these tags from a MISP server; a tag with ! in front excludes attributes.',
      }),
    ),
    published: Type.Optional(
      Type.Boolean({ description: 'Read only published events of a MISP server (the default).' }),
    ),
    clientCertFile: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'A client certificate (PEM) for mutual TLS; needs clientKeyFile.',
      }),
    ),
    clientKeyFile: Type.Optional(
      Type.String({ minLength: 1, description: 'The private key of clientCertFile (PEM).' }),
    ),
    headersFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'A file of request headers, one per line, such as Authorization: Bearer KEY or Authorization: Basic BASE64. They are sent only to the host in the URL.',
      }),
    ),
    refreshMinutes: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 43200,
        description: 'Minutes between refreshes, plus or minus a tenth; the default is 60.',
      }),
    ),
    allowHttp: Type.Optional(
      Type.Boolean({
        description:
          'Allow a URL without TLS on another machine; anyone on the network path can then read and change the list.',
      }),
    ),
    level: Type.Union([Type.Literal('malicious'), Type.Literal('suspicious')], {
      default: 'malicious',
      description: 'The level of a listing.',
    }),
    score: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'The score of entries without a score of their own; by default they have none.',
      }),
    ),
    categories: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      default: [],
      maxItems: 8,
      description: 'Categories for every entry, in addition to those in the feed.',
    }),
    minScore: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'Skip entries with a lower score or confidence; entries without one are kept.',
      }),
    ),
    columns: Type.Optional(
      Type.Object(
        {
          value: column,
          port: Type.Optional(column),
          score: Type.Optional(column),
          category: Type.Optional(column),
          firstSeen: Type.Optional(column),
          lastSeen: Type.Optional(column),
          expires: Type.Optional(column),
        },
        {
          additionalProperties: false,
          description:
            'The columns of a table, or members of JSON objects, by name or by number from 1, for a list without a header or with two columns of hosts: { value: 2, port: 3 }',
        },
      ),
    ),
    expiresDays: Type.Optional(
      Type.Union(
        [days, Type.Object({ ip: Type.Optional(days), domain: Type.Optional(days) }, { additionalProperties: false })],
        {
          description:
            'Expire entries that have no expiry of their own this many days after they were last seen, or after the file was written if the feed has no date. By default an entry counts while it is listed. A number of days, or one per type: { ip: 30, domain: 90 }.',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    oneOf: [{ required: ['path'] }, { required: ['url'] }, { required: ['taxii'] }, { required: ['misp'] }],
  },
)

/** Settings of local feeds, and the level of a listing in each. */
export const feedsSettings = Type.Array(feed, {
  default: [],
  maxItems: 64,
  description:
    'Local feeds: lists of malicious or suspicious addresses and names. They are checked before any external lookup and reloaded when they change.',
})

const calls = (description: string) => Type.Integer({ default: 0, minimum: 0, maximum: 1_000_000_000, description })

/** Settings of admission: the call budget. */
export const admitSettings = Type.Object(
  {
    perHour: calls('The maximum number of calls per hour (UTC), across restarts if memory.path persists; 0: no limit.'),
    perDay: Type.Optional(
      Type.Unsafe<number | 'unlimited'>({
        anyOf: [
          { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
          { type: 'string', enum: ['unlimited'] },
        ],
        form: 'a whole number from 1 to 1000000000, or unlimited',
        description:
          'The maximum number of calls per day (UTC), across restarts if memory.path persists. If this, perHour and perRun are all unset: 1000, except for clients of a gateway, which has its own budget. unlimited: no limit.',
      }),
    ),
    perRun: calls('The maximum number of calls between start and stop; 0: no limit.'),
  },
  { additionalProperties: false, default: {}, description: 'The call budget of the key.' },
)

const day = 86_400

const seconds = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 365 * day, description })

/** Settings of the memory of findings: capacity, TTLs and the folder on disk. */
export const memorySettings = Type.Object(
  {
    maxEntries: Type.Integer({
      default: 100_000,
      minimum: 1,
      maximum: 10_000_000,
      description:
        'The maximum number of findings; the least recently used is evicted first. On disk they take up to 256 MB per 100,000. A gateway keeps a fifth as many, because it stores whole answers.',
    }),
    path: Type.String({
      default: '',
      description:
        'The folder that keeps findings across restarts; only one process may use it at a time. Empty: a folder per lookup service in the home of the user; none: memory only.',
    }),
    freshSeconds: Type.Object(
      {
        malicious: seconds(
          day,
          'The TTL of findings that are malicious in some role; suspicious ones live half as long. After that they are refreshed, and served as stale for up to seven more TTLs meanwhile.',
        ),
        clean: seconds(
          day / 2,
          'The TTL of clean findings, which are never served as stale; findings without a verdict live half as long.',
        ),
        notFound: seconds(day / 24, 'The TTL of a not-found answer.'),
      },
      {
        additionalProperties: false,
        default: {},
        description: 'TTLs of findings, counted from the lookup.',
      },
    ),
  },
  { additionalProperties: false, default: {}, description: 'The memory of findings, so that each is paid for once.' },
)

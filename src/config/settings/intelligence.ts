// Settings of where verdicts come from: the provider, feeds, the budget of calls, the memory.
import { Type } from '@sinclair/typebox'
import { choices, usualAddressChoices, usualNameChoices, type Choice } from '../../domain/operation-choice.js'

/** Settings of the provider: where it is, with which key, and how many calls it takes at a time. */
const serviceSettings = Type.Object(
  {
    baseUrl: Type.String({
      default: 'https://api.criminalip.io',
      format: 'url',
      description: 'Where the lookup service answers: the provider, a gateway of your own, or `threatweave serve`.',
    }),
    otherUrls: Type.Array(Type.String({ format: 'url' }), {
      default: [],
      description:
        'Where several gateways answer, the others: each is asked where the one before does not answer. A name in baseUrl that resolves to several addresses needs none of these.',
    }),
    apiKey: Type.String({
      default: '',
      secret: true,
      description: 'The key of the account. Without one nobody outside is asked.',
    }),
    profile: Type.String({
      default: '',
      description:
        'A YAML file that says how the service is asked and what its answers mean, where that is not as in sources/lookup-service.yaml: base path, key, operations, errors, places of facts. It is laid over that file. `threatweave check FILE` runs its examples.',
    }),
    concurrency: Type.Unsafe<number | 'auto'>({
      anyOf: [
        { type: 'integer', minimum: 1, maximum: 256 },
        { type: 'string', enum: ['auto'] },
      ],
      form: 'auto or a whole number from 1 to 256',
      default: 'auto',
      description:
        'Calls in flight at the same time. auto: starts with one and doubles while that gets more answers, up to 32; a refusal halves it.',
    }),
    allowHttp: Type.Boolean({
      default: false,
      description: 'Allow a base URL without TLS on another machine; the key then travels in the clear.',
    }),
    caFile: Type.String({
      default: '',
      description: 'A PEM file of certificate authorities to trust besides the usual ones.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'The lookup service and how it is reached.' },
)

/** Settings of one source: another provider, and how much of it is used. */
const source = Type.Object(
  {
    use: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
        description:
          'The name of a bundled source: abuseipdb, greynoise-community, otx or virustotal. A source has one of use and file.',
      }),
    ),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The YAML file that describes a source of your own; `threatweave check FILE` runs its examples.',
      }),
    ),
    apiKeyFile: Type.Optional(
      Type.String({ minLength: 1, description: 'The file that holds the key of your account at the source.' }),
    ),
    concurrency: Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 64,
      description: 'Calls in flight at the same time.',
    }),
    perDay: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description:
          'Calls sent in one day (UTC) at most, in place of what the description says, which is the limit of a free key.',
      }),
    ),
    gateway: Type.Optional(
      Type.Boolean({
        description:
          'The lookup service is `threatweave serve` with the same source: it asks for everyone, and holds the key, the memory and the limits. Needs no apiKeyFile here.',
      }),
    ),
    ask: Type.Optional(
      Type.Unsafe<'accused' | 'unknown' | 'always'>({
        type: 'string',
        enum: ['accused', 'unknown', 'always'],
        description:
          'When it is asked. accused: where somebody accuses, so that `accusers` counts how many do. unknown: where those before it answered and had no opinion. always: about everything that may be asked. By default accused; always where there is no main provider.',
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
    'Whether it is malicious, and its records; open ports, vulnerabilities. always; unclean: where what is known is not plainly clean; accused: where it is malicious or suspicious; never.',
  suspicious_info: 'Scores, flags (VPN, proxy, Tor, scanner, …), abuse records, open ports, owner.',
  summary: 'Scores, country, owner and network.',
  data: 'Everything: scores, flags, categories, open ports, vulnerabilities, owner and network.',
  vpn: 'Whether it is a VPN, proxy or Tor address.',
  hosting: 'Whether it belongs to a hosting provider.',
  'privacy-threat': 'Cameras, devices, storage and administration pages that are open there.',
  is_safe_dns_server: 'Whether it is a name server to trust.',
})

const nameChoices = described(usualNameChoices, {
  reports: 'Which reports exist of the hosts of the domain, with their scores.',
  'reports/personal':
    'The reports of the scans of the account; the list is read once for all names, and again every ten minutes.',
  report: 'The full report of one host, the worst-rated one: evidence of phishing, age of the domain, certificate.',
})

/** Settings of where verdicts come from. */
export const intelSettings = Type.Object(
  {
    service: serviceSettings,
    sources: Type.Array(source, {
      default: [],
      maxItems: 16,
      description:
        'Other providers that are asked besides the lookup service, or in its place where there is no key for it; each is described by a file of data. A source accuses, or says that something is harmless; it never takes back what somebody else says.',
    }),
    table: Type.String({
      default: '',
      description:
        'A YAML file that says what each kind of evidence amounts to, where that is not as built in; examples/judgement.yaml is the built-in table. Empty: the built-in one.',
    }),
    safeguard: Type.Array(Type.String({ minLength: 1 }), {
      default: ['bundled'],
      description:
        'Hosts and addresses that no feed accuses: a listing of them, or of a URL on them, is a flag, with the reason safeguarded. `bundled` stands for the lists that come with the program (code hosting, file sharing, site builders, large platforms, public DNS resolvers; edges of CDNs, mail relays, private relays); leave it out to replace them. Everything else is a file as in gate.allow: plain text or a MISP warninglist.',
    }),
    ip: Type.Object(
      {
        operations: Type.Object(addressChoices, {
          additionalProperties: false,
          default: {},
          description: 'When each operation is asked; each costs a call.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'How an address is asked about.' },
    ),
    domain: Type.Object(
      {
        ask: Type.Union([Type.Literal('registrable'), Type.Literal('host')], {
          default: 'registrable',
          description:
            'Ask about the registrable domain (fewer credits, no internal host names told) or the whole host name.',
        }),
        operations: Type.Object(nameChoices, {
          additionalProperties: false,
          default: {},
          description: 'When each operation is asked; each costs a call.',
        }),
        scan: Type.Union([Type.Literal('off'), Type.Literal('private'), Type.Literal('public')], {
          default: 'off',
          description:
            'Scan names that nobody has a report of. A public scan tells the world that you look at the name.',
        }),
        scanFolder: Type.String({
          default: 'threatweave-scans',
          description: 'The folder where started scans are written down, so that none is ever started twice.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'How a name is asked about.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'Where verdicts come from and how they are judged.' },
)

const column = Type.Union([Type.Integer({ minimum: 1, maximum: 256 }), Type.String({ minLength: 1, maxLength: 64 })])

const days = Type.Number({ exclusiveMinimum: 0, maximum: 36500 })

const feed = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      description: 'The name that annotations give the feed; each feed has its own.',
    }),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The list, as its maker publishes it, gzip or not: its format is known by its content. Or the directory of a MISP feed (manifest.json and its events). A feed has one of path, url, taxii and misp.',
      }),
    ),
    url: Type.Optional(
      Type.String({
        format: 'url',
        description:
          'Where the list is fetched from (https); the address of a manifest.json is that of a whole MISP feed. The last good copy is kept beside the memory and used when the list cannot be fetched.',
      }),
    ),
    taxii: Type.Optional(
      Type.String({
        format: 'url',
        description:
          'The address of a TAXII 2.1 collection (https://…/collections/ID/), whose indicators are read page by page: what was added since the last time, and once a day all of it. `threatweave feeds discover` lists those that a login may read.',
      }),
    ),
    misp: Type.Optional(
      Type.String({
        format: 'url',
        description:
          'The address of a MISP server, whose attributes for detection are read page by page: what has changed since the last time, and once a day all of it. Needs apiKeyFile.',
      }),
    ),
    apiKeyFile: Type.Optional(
      Type.String({ minLength: 1, description: 'The file that holds the key of a user of the MISP server.' }),
    ),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        maxItems: 64,
        description: 'Of a MISP server only what has one of these tags; a tag after an exclamation mark is left out.',
      }),
    ),
    published: Type.Optional(
      Type.Boolean({ description: 'Whether only published events of a MISP server are read; by default they are.' }),
    ),
    clientCertFile: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'A client certificate in PEM, for a server that asks for one; with clientKeyFile.',
      }),
    ),
    clientKeyFile: Type.Optional(
      Type.String({ minLength: 1, description: 'The private key of clientCertFile, in PEM.' }),
    ),
    headersFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'A file of headers to send with what is fetched, one a line, such as Authorization: Bearer KEY or Authorization: Basic BASE64. They are sent to the host of the address alone.',
      }),
    ),
    refreshMinutes: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 43200,
        description:
          'How often the address is asked for what is newer, a tenth more or less; by default every 60 minutes.',
      }),
    ),
    allowHttp: Type.Optional(
      Type.Boolean({
        description:
          'Lets the address be plain HTTP to another machine, where everybody on the way can read and change the list.',
      }),
    ),
    level: Type.Union([Type.Literal('malicious'), Type.Literal('suspicious')], {
      default: 'malicious',
      description: 'What a listing means.',
    }),
    score: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'The score of entries that have none of their own; by default they have no score.',
      }),
    ),
    categories: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      default: [],
      maxItems: 8,
      description: 'Categories of every entry, beside those that the feed gives.',
    }),
    minScore: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description:
          'Entries to which the list gives a lower score or confidence are left out; those without one are taken.',
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
            'Which column of a table, or member of JSON objects, holds what, by its name or its number from 1: for a list without a header, or with two columns of hosts. { value: 2, port: 3 }',
        },
      ),
    ),
    expiresDays: Type.Optional(
      Type.Union(
        [days, Type.Object({ ip: Type.Optional(days), domain: Type.Optional(days) }, { additionalProperties: false })],
        {
          description:
            'An entry without an expiry of its own no longer counts this many days after it was seen, or after the file was written where the feed does not say; by default it counts as long as it is listed. A number of days for all, or by type: { ip: 30, domain: 90 }.',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    oneOf: [{ required: ['path'] }, { required: ['url'] }, { required: ['taxii'] }, { required: ['misp'] }],
  },
)

/** Settings of local intelligence: the feed files, and what a listing in them means. */
export const feedsSettings = Type.Array(feed, {
  default: [],
  maxItems: 64,
  description:
    'Local intelligence: files of malicious or suspicious addresses and names, looked up before anybody is asked and read again when they change.',
})

const calls = (description: string) => Type.Integer({ default: 0, minimum: 0, maximum: 1_000_000_000, description })

/** Settings of admission: how many calls may be sent to the provider. */
export const admitSettings = Type.Object(
  {
    perHour: calls('Calls sent in one hour (UTC) at most, restarts included where memory.path is kept; 0 is no limit.'),
    perDay: Type.Optional(
      Type.Unsafe<number | 'unlimited'>({
        anyOf: [
          { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
          { type: 'string', enum: ['unlimited'] },
        ],
        form: 'a whole number from 1 to 1000000000, or unlimited',
        description:
          'Calls sent in one day (UTC) at most, restarts included where memory.path is kept. Without this, perHour and perRun: 1000, except at a gateway, which has a budget of its own. unlimited: no limit.',
      }),
    ),
    perRun: calls('Calls sent from start to stop at most; 0 is no limit.'),
  },
  { additionalProperties: false, default: {}, description: 'The budget: how many calls may be sent with the key.' },
)

const day = 86_400

const seconds = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 365 * day, description })

/** Settings of the memory: how much is remembered, for how long, and where it survives a restart. */
export const memorySettings = Type.Object(
  {
    maxEntries: Type.Integer({
      default: 100_000,
      minimum: 1,
      maximum: 10_000_000,
      description:
        'How many findings are kept; the least recently asked for goes first. On disk they may take 256 MB for every 100,000. A gateway keeps one answer for every five, since answers are larger.',
    }),
    path: Type.String({
      default: '',
      description:
        'A folder that keeps what was paid for over restarts, one process at a time. Empty: a folder of the user for each service; none: nothing is kept.',
    }),
    freshSeconds: Type.Object(
      {
        malicious: seconds(
          day,
          'How long facts that are malicious for some role are used before they are asked for again; suspicious ones half as long. Both are used for seven such lives more, marked stale, while they are asked for again.',
        ),
        clean: seconds(
          day / 2,
          'How long clean ones are used, and not any longer; facts without a verdict half as long.',
        ),
        notFound: seconds(day / 24, 'How long it counts that nothing was found.'),
      },
      {
        additionalProperties: false,
        default: {},
        description: 'How long findings live, from when they were obtained.',
      },
    ),
  },
  { additionalProperties: false, default: {}, description: 'What is remembered, so that it is paid for once.' },
)

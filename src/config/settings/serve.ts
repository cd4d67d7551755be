// Settings of the lookup service that `threatweave serve` is.
import { Type } from '@sinclair/typebox'

const milliseconds = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 600_000, description })

export const serveSettings = Type.Object(
  {
    host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'The address to listen on.' }),
    port: Type.Integer({
      default: 8787,
      minimum: 0,
      maximum: 65_535,
      description: 'The port to listen on; 0 takes any free one.',
    }),
    opsPort: Type.Integer({
      default: 9463,
      minimum: 0,
      maximum: 65_535,
      description:
        'The port of health and metrics while `serve` runs, on ops.host and by the other settings of ops; 0 takes any free one.',
    }),
    data: Type.String({
      default: '',
      description: 'The folder of local intelligence: feeds, places, lists, banners, exploits, registrations, reports.',
    }),
    state: Type.String({
      default: 'threatweave-serve',
      minLength: 1,
      description: 'The folder where scans, used credits and remembered answers are kept, one process at a time.',
    }),
    apiKey: Type.String({
      default: '',
      secret: true,
      description:
        'One key that callers may use, for a quick start; of 16 characters or more where serve.host is not this machine alone.',
    }),
    plan: Type.Object(
      {
        inFlight: Type.Integer({
          default: 64,
          minimum: 1,
          maximum: 10_000,
          description: 'Calls under way at the same time with serve.apiKey; one more is told to wait.',
        }),
        credits: Type.Integer({
          default: 0,
          minimum: 0,
          maximum: 1_000_000_000,
          description: 'Calls a calendar month with serve.apiKey; 0 is no limit.',
        }),
        perSecond: Type.Integer({
          default: 0,
          minimum: 0,
          maximum: 100_000,
          description: 'Calls a second with serve.apiKey; 0 is no limit.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'What the key of serve.apiKey allows.' },
    ),
    keysFile: Type.String({
      default: '',
      description: 'A JSON file of hashed keys, each with its plan; `threatweave serve --new-key NAME` makes an entry.',
    }),
    tls: Type.Object(
      {
        certFile: Type.String({
          default: '',
          description: 'The PEM file of the certificate chain; empty: plain HTTP.',
        }),
        keyFile: Type.String({ default: '', description: 'The PEM file of its private key.' }),
        passphrase: Type.String({ default: '', secret: true, description: 'The passphrase of the private key.' }),
      },
      { additionalProperties: false, default: {}, description: 'TLS for callers.' },
    ),
    upstream: Type.String({
      default: '',
      pattern: '^$|^https?://',
      description:
        'The base URL of the provider, which makes a gateway of the service: what is not known here is asked there, with intel.service.apiKey, once for all callers.',
    }),
    maxAnswers: Type.Integer({
      default: 20_000,
      minimum: 1,
      maximum: 10_000_000,
      description: 'How many of the provider’s answers a gateway keeps in memory.',
    }),
    maxRows: Type.Integer({
      default: 500_000,
      minimum: 1,
      maximum: 50_000_000,
      description: 'The most rows that each of the banner, exploit and registration indexes holds.',
    }),
    scan: Type.Object(
      {
        enabled: Type.Boolean({
          default: false,
          description:
            'Scan sites from this machine when a caller asks for it: DNS, redirects, TLS certificate, headers.',
        }),
        atOnce: Type.Integer({ default: 2, minimum: 1, maximum: 64, description: 'Scans under way at the same time.' }),
        timeoutMs: milliseconds(10_000, 'For one request of a scan.'),
        totalMs: milliseconds(45_000, 'For a whole scan.'),
        maxBytes: Type.Integer({
          default: 262_144,
          minimum: 1024,
          maximum: 16_777_216,
          description: 'The most that is read of one page.',
        }),
        maxRedirects: Type.Integer({
          default: 10,
          minimum: 0,
          maximum: 50,
          description: 'Redirects that are followed.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'Local scans of sites.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'The lookup service for others: `threatweave serve`.' },
)

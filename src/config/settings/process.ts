// Settings of the process: what it logs and what it listens on.
import { Type } from '@sinclair/typebox'

/** Settings of what is logged. */
export const logSettings = Type.Object(
  {
    level: Type.Unsafe<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'>({
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
      description: 'The least severe log line that is written.',
    }),
    format: Type.Unsafe<'auto' | 'json' | 'pretty'>({
      type: 'string',
      enum: ['auto', 'json', 'pretty'],
      default: 'auto',
      description: 'One JSON object a line, or short lines for a person; auto is pretty on a terminal.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'Logs, always on standard error.' },
)

/** Settings of the endpoint for those who run the program: health, metrics and the status page. */
export const opsSettings = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description: 'Serve health, metrics and the status page while `run` or `serve` runs.',
    }),
    host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'The address to listen on.' }),
    port: Type.Integer({
      default: 9464,
      minimum: 0,
      maximum: 65_535,
      description:
        'The port to listen on, 0 for any free one; with several workers the first has this one, the next the one after, and so on; the gateway that they share comes last.',
    }),
    token: Type.String({
      default: '',
      secret: true,
      pattern: '^$|^[!-~]{16,256}$',
      description:
        'What a caller from another machine must show to see the status page: as bearer token, or as password with any user name. At least 16 characters; empty shows it to this machine alone. Health and metrics need none.',
    }),
    allowedHosts: Type.Array(Type.String({ minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9._-]+$' }), {
      default: [],
      description:
        'Host names by which the endpoint may be called, beside localhost and addresses; a request for any other is refused, so that no web site can read it through a name of its own.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'The endpoint for those who run the program.' },
)

/** Settings of the lookup service that `threatweave serve` is. */
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
    address: Type.String({
      default: '',
      pattern: '^$|^https?://',
      description:
        'The URL under which other gateways reach this one, where kafka.gatewaysTopic is set; empty: serve.host, or the first address of this machine where that is every address, and serve.port.',
    }),
    sessionTimeoutMs: Type.Integer({
      default: 10_000,
      minimum: 1_000,
      maximum: 300_000,
      description:
        'After this long without a heartbeat another gateway takes over, where kafka.gatewaysTopic is set; brokers take 6,000 or more unless told otherwise.',
    }),
    scan: Type.Object(
      {
        enabled: Type.Boolean({
          default: false,
          description:
            'Scan sites from this machine when a caller asks for it: DNS, redirects, TLS certificate, headers.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'Local scans of sites.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'The lookup service for others: `threatweave serve`.' },
)

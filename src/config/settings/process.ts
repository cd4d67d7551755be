// Settings of the process: logs, ports, `serve` and `notify`.
import { Type } from '@sinclair/typebox'

/** Settings of logs. */
export const logSettings = Type.Object(
  {
    level: Type.Unsafe<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'>({
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
      description: 'The minimum severity of log lines.',
    }),
    format: Type.Unsafe<'auto' | 'json' | 'pretty'>({
      type: 'string',
      enum: ['auto', 'json', 'pretty'],
      default: 'auto',
      description: 'json: one object per line; pretty: short lines for people; auto: pretty on a terminal.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'Logs, always on standard error.' },
)

/** Settings of the ops endpoint: health, metrics and the status page. */
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
        'The port to listen on; 0 picks a free one. With several workers the first uses this port and each further one the next; their shared gateway comes last.',
    }),
    token: Type.String({
      default: '',
      secret: true,
      pattern: '^$|^[!-~]{16,256}$',
      description:
        'The token that other machines need for the status page, as a bearer token, or as the password with any user name. At least 16 characters; empty: the page is only for this machine. Health and metrics need no token.',
    }),
    allowedHosts: Type.Array(Type.String({ minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9._-]+$' }), {
      default: [],
      description:
        'Host names accepted in requests, in addition to localhost and IP addresses. Others are refused, so that a web site cannot read the endpoint through a DNS name of its own (DNS rebinding).',
    }),
  },
  { additionalProperties: false, default: {}, description: 'The ops endpoint: health, metrics and the status page.' },
)

/** Settings of the lookup service that `threatweave serve` runs. */
export const serveSettings = Type.Object(
  {
    host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'The address to listen on.' }),
    port: Type.Integer({
      default: 8787,
      minimum: 0,
      maximum: 65_535,
      description: 'The port to listen on; 0 picks a free one.',
    }),
    opsPort: Type.Integer({
      default: 9463,
      minimum: 0,
      maximum: 65_535,
      description: 'The port for health and metrics of `serve`; the other ops settings apply. 0 picks a free one.',
    }),
    data: Type.String({
      default: '',
      description: 'The folder of local data: feeds, places, lists, banners, exploits, registrations, reports.',
    }),
    state: Type.String({
      default: 'threatweave-serve',
      minLength: 1,
      description: 'The folder for scans, used credits and remembered answers; only one process may use it at a time.',
    }),
    apiKey: Type.String({
      default: '',
      secret: true,
      description:
        'One key for all clients, for a quick start; at least 16 characters unless serve.host is a loopback address.',
    }),
    keysFile: Type.String({
      default: '',
      description:
        'A JSON file of hashed keys, each with its plan; `threatweave serve --new-key NAME` creates an entry.',
    }),
    tls: Type.Object(
      {
        certFile: Type.String({
          default: '',
          description: 'The certificate chain (PEM); empty: plain HTTP.',
        }),
        keyFile: Type.String({ default: '', description: 'The private key (PEM).' }),
        passphrase: Type.String({ default: '', secret: true, description: 'The passphrase of the private key.' }),
      },
      { additionalProperties: false, default: {}, description: 'TLS for clients.' },
    ),
    upstream: Type.String({
      default: '',
      pattern: '^$|^https?://',
      description:
        'The base URL of the provider. Set, it turns the service into a gateway: lookups without local data go to the provider with intel.service.apiKey, once for all clients.',
    }),
    address: Type.String({
      default: '',
      pattern: '^$|^https?://',
      description:
        'With kafka.gatewaysTopic: the URL at which other gateways reach this one. Empty: serve.host (or the first address of this machine if that is a wildcard) and serve.port.',
    }),
    sessionTimeoutMs: Type.Integer({
      default: 10_000,
      minimum: 1_000,
      maximum: 300_000,
      description:
        'With kafka.gatewaysTopic: without a heartbeat for this long, another gateway takes over. The default minimum of brokers is 6,000.',
    }),
    scan: Type.Object(
      {
        enabled: Type.Boolean({
          default: false,
          description: 'Scan sites from this machine on request: DNS, redirects, TLS certificate, headers.',
        }),
      },
      { additionalProperties: false, default: {}, description: 'Local scans of sites.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'The lookup service of `threatweave serve`.' },
)

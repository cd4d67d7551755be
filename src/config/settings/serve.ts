// Settings of the lookup service that `threatweave serve` is.
import { Type } from '@sinclair/typebox'

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

// Settings of the provider: where it is, with which key, and how many calls it takes at a time.
import { Type } from '@sinclair/typebox'

export const serviceSettings = Type.Object(
  {
    baseUrl: Type.String({
      default: 'https://api.criminalip.io',
      format: 'url',
      description: 'Where the lookup service answers: the provider, a gateway of your own, or `threatweave serve`.',
    }),
    apiKey: Type.String({
      default: '',
      secret: true,
      description: 'The key of the account. Without one nobody outside is asked.',
    }),
    apiKeyHeader: Type.String({
      default: 'x-api-key',
      pattern: '^[A-Za-z0-9-]{1,64}$',
      description: 'The header that carries the key.',
    }),
    paths: Type.Union([Type.Literal('given'), Type.Literal('feature')], {
      default: 'given',
      description:
        'Which spelling of four paths the service answers to: /v1/ip/... (given) or /v1/feature/ip/... (feature).',
    }),
    pathOverrides: Type.Record(Type.String(), Type.String({ pattern: '^/' }), {
      default: {},
      description: 'Paths of single operations, for example { ip/suspicious_info: /v2/feature/ip/suspicious-info }.',
    }),
    concurrency: Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 256,
      description: 'Calls in flight at the same time; accounts below Enterprise may have one.',
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

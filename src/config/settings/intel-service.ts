// Settings of the lookup service: where it is, with which key, and how patient the client is.
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
    connectTimeoutMs: Type.Integer({ default: 5000, minimum: 1, maximum: 600_000, description: 'For a connection.' }),
    headersTimeoutMs: Type.Integer({
      default: 15_000,
      minimum: 1,
      maximum: 600_000,
      description: 'From a connection to the beginning of the answer.',
    }),
    bodyTimeoutMs: Type.Integer({
      default: 15_000,
      minimum: 1,
      maximum: 600_000,
      description: 'From the beginning of the answer to its end.',
    }),
    maxAnswerBytes: Type.Integer({
      default: 4_194_304,
      minimum: 1024,
      maximum: 268_435_456,
      description: 'A larger answer is not read to its end and counts as a bad one.',
    }),
    maxAnswerDepth: Type.Integer({
      default: 32,
      minimum: 4,
      maximum: 256,
      description: 'An answer nested deeper counts as a bad one.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'The lookup service and how it is reached.' },
)

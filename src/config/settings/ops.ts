// Settings of the endpoint for those who run the program: health, metrics and the status page.
import { Type } from '@sinclair/typebox'

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

// Settings of where verdicts come from.
import { Type } from '@sinclair/typebox'
import { serviceSettings } from './intel-service.js'

export const intelSettings = Type.Object(
  {
    service: serviceSettings,
    table: Type.String({
      default: '',
      description:
        'A YAML file that says what each kind of evidence amounts to, where that is not as built in; examples/judgement.yaml is the built-in table. Empty: the built-in one.',
    }),
    safeguard: Type.Array(Type.String({ minLength: 1 }), {
      default: ['bundled'],
      description:
        'Hosts and addresses that no feed accuses: a listing of them, or of a URL on them, is a flag, with the reason safeguarded. `bundled` is the list that comes with the program (code hosting, file sharing, site builders, large platforms, public DNS resolvers); leave it out to replace it. Everything else is a file as in gate.allow: plain text or a MISP warninglist.',
    }),
    ip: Type.Object(
      {
        escalate: Type.Boolean({
          default: true,
          description: 'Ask once more, for scores and flags, about an address that is not plainly clean.',
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
        report: Type.Union([Type.Literal('never'), Type.Literal('suspicious'), Type.Literal('always')], {
          default: 'never',
          description:
            'Whether the full report is read too, for one more call: never, when a host is rated badly, always.',
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

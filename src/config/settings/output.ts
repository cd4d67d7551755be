// Settings of what is added to an event.
import { Type } from '@sinclair/typebox'

export const outputSettings = Type.Object(
  {
    key: Type.String({
      default: 'threatweave',
      pattern:
        '^(?!(?:message|original_base64|event|source|destination|threat|related|observables|osint|__proto__)$)[A-Za-z_][A-Za-z0-9_-]{0,63}$',
      form: 'a name of at most 64 letters, digits, - and _ that begins with a letter or _ and that neither events nor layers use',
      description: 'The one key under which the annotation stands; not one that events or the layers use themselves.',
    }),
    detail: Type.Union([Type.Literal('auto'), Type.Literal('full'), Type.Literal('compact')], {
      default: 'auto',
      description:
        'How much the annotation says: full, everything with every indicator; compact, what rules and analysts need and no more; auto, full for malicious and suspicious events, compact for all others.',
    }),
    onExisting: Type.Union([Type.Literal('replace'), Type.Literal('keep')], {
      default: 'replace',
      description:
        'What happens to members that a reader would take for our annotation: replace takes them for a forgery, cuts them out and counts them; keep lets such an event pass untouched.',
    }),
    placement: Type.Union([Type.Literal('json'), Type.Literal('headers'), Type.Literal('topic')], {
      default: 'json',
      description:
        'In Kafka: json adds the annotation to the event, headers leaves the value as it is and adds it as a record header, topic writes annotations alone.',
    }),
    layers: Type.Array(Type.Union([Type.Literal('ecs'), Type.Literal('ocsf')]), {
      default: [],
      uniqueItems: true,
      description:
        'Further shapes of the same finding beside the annotation: ecs (threat.enrichments, related, event.risk_score), ocsf (observables, osint). They are added to what the event already has there.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'The annotation and how it is placed.' },
)

// Settings of what is added to an event.
import { Type } from '@sinclair/typebox'

export const outputSettings = Type.Object(
  {
    key: Type.String({
      default: 'threatweave',
      pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$',
      description: 'The one key under which the annotation stands.',
    }),
    onExisting: Type.Union([Type.Literal('replace'), Type.Literal('keep')], {
      default: 'replace',
      description: 'What happens to a member that already stands under our key; by default it is taken for a forgery.',
    }),
    layers: Type.Array(Type.Union([Type.Literal('ecs'), Type.Literal('ocsf')]), {
      default: [],
      uniqueItems: true,
      description: 'Further shapes of the same finding beside the annotation: ecs, ocsf.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'The annotation and how it is placed.' },
)

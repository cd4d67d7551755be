// Settings of where verdicts come from.
import { Type } from '@sinclair/typebox'

export const intelSettings = Type.Object(
  {
    domain: Type.Object(
      {
        ask: Type.Union([Type.Literal('registrable'), Type.Literal('host')], {
          default: 'registrable',
          description:
            'Ask about the registrable domain (fewer credits, no internal host names told) or the whole host name.',
        }),
      },
      { additionalProperties: false, default: {} },
    ),
  },
  { additionalProperties: false, default: {}, description: 'Where verdicts come from and how they are judged.' },
)

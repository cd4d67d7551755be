// Settings of alerts: which rules, and how often the same may be said.
import { Type } from '@sinclair/typebox'

export const alertsSettings = Type.Object(
  {
    bundled: Type.Boolean({
      default: true,
      description: 'Use the rules that come with the program; a rule of the same id elsewhere takes the place of one.',
    }),
    rules: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      maxItems: 64,
      description:
        'Sigma rules: files, or folders with everything below them that ends in .yml or .yaml. Read again when they change.',
    }),
    suppressSeconds: Type.Integer({
      default: 3600,
      minimum: 0,
      maximum: 604_800,
      description:
        'The same rule on the same indicator and machine on the other side raises one alert in this time, by the time of the events; 0 raises every one.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'Alerts: Sigma rules over annotated events.' },
)

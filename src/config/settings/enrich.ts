// Settings of the deadline: how long a chunk of events waits for answers.
import { Type } from '@sinclair/typebox'

export const enrichSettings = Type.Object(
  {
    deadlineMs: Type.Integer({
      default: 500,
      minimum: 0,
      maximum: 600_000,
      description:
        'The longest a chunk of live events waits for answers, all in all; 0 never waits. What comes later raises its alert late.',
    }),
    mode: Type.Union([Type.Literal('auto'), Type.Literal('live'), Type.Literal('complete')], {
      default: 'auto',
      description:
        'live waits one deadline at most and not at all when the stream lags; complete waits for every answer; auto is complete for files and live for streams.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'How long events wait for verdicts.' },
)

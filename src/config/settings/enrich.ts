// Settings of waiting: how long events wait for answers.
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
    catchUpShare: Type.Number({
      default: 0.2,
      minimum: 0,
      maximum: 0.9,
      description:
        'The share of its time that a process may wait for answers while a partition is behind, beside two seconds at the start; 0 never waits there.',
    }),
    mode: Type.Union([Type.Literal('auto'), Type.Literal('live'), Type.Literal('complete')], {
      default: 'auto',
      description:
        'live waits one deadline at most, and a share of the time in a backlog; complete waits for every answer, on Kafka also while the provider is down; auto is complete for files and live for streams.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'How long events wait for verdicts.' },
)

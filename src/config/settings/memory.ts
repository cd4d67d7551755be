// Settings of the memory: how much is remembered, for how long, and where it survives a restart.
import { Type } from '@sinclair/typebox'

const day = 86_400

const seconds = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 365 * day, description })

const part = (value: number, description: string) =>
  Type.Number({ default: value, minimum: 0, maximum: 0.9, description })

export const memorySettings = Type.Object(
  {
    maxEntries: Type.Integer({
      default: 100_000,
      minimum: 1,
      maximum: 10_000_000,
      description: 'How many findings are kept in memory; the least recently asked for goes first.',
    }),
    path: Type.String({
      default: '',
      description:
        'A folder that keeps what was paid for over restarts, one process at a time. Empty: a folder of the user for each service; none: nothing is kept.',
    }),
    maxBytes: Type.Integer({
      default: 268_435_456,
      minimum: 1_048_576,
      maximum: 68_719_476_736,
      description: 'The most that folder may hold; the oldest findings go first.',
    }),
    freshSeconds: Type.Object(
      {
        malicious: seconds(
          day,
          'How long facts that are malicious for some role are used before they are asked for again.',
        ),
        suspicious: seconds(day / 2, 'The same for suspicious ones.'),
        clean: seconds(day / 2, 'The same for clean ones; past this they are no longer used at all.'),
        noVerdict: seconds(day / 4, 'The same for facts that allow no verdict.'),
        notFound: seconds(day / 24, 'How long it counts that nothing was found.'),
      },
      {
        additionalProperties: false,
        default: {},
        description: 'How long findings live, from when they were obtained.',
      },
    ),
    staleSeconds: Type.Integer({
      default: 7 * day,
      minimum: 0,
      maximum: 365 * day,
      description:
        'How long past its life a malicious or suspicious finding is still used, marked stale, while a new one is fetched.',
    }),
    jitter: part(0.1, 'The part by which lives are shortened at most, so that they do not all end together.'),
    refreshAhead: part(0.1, 'The last part of a life in which a finding that is still asked for is fetched anew.'),
    cooldown: Type.Object(
      {
        firstSeconds: seconds(
          30,
          'How long an indicator is left alone after asking about it failed; doubles each time.',
        ),
        maxSeconds: seconds(3600, 'The longest it is left alone.'),
        badInputSeconds: seconds(day, 'How long it is left alone after the provider refused it as wrong input.'),
      },
      { additionalProperties: false, default: {}, description: 'Failures are never remembered as answers.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'What is remembered, so that it is paid for once.' },
)

// Settings of the memory: how much is remembered, for how long, and where it survives a restart.
import { Type } from '@sinclair/typebox'

const day = 86_400

const seconds = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 365 * day, description })

export const memorySettings = Type.Object(
  {
    maxEntries: Type.Integer({
      default: 100_000,
      minimum: 1,
      maximum: 10_000_000,
      description:
        'How many findings are kept; the least recently asked for goes first. On disk they may take 256 MB for every 100,000. A gateway keeps one answer for every five, since answers are larger.',
    }),
    path: Type.String({
      default: '',
      description:
        'A folder that keeps what was paid for over restarts, one process at a time. Empty: a folder of the user for each service; none: nothing is kept.',
    }),
    freshSeconds: Type.Object(
      {
        malicious: seconds(
          day,
          'How long facts that are malicious for some role are used before they are asked for again; suspicious ones half as long. Both are used for seven such lives more, marked stale, while they are asked for again.',
        ),
        clean: seconds(
          day / 2,
          'How long clean ones are used, and not any longer; facts without a verdict half as long.',
        ),
        notFound: seconds(day / 24, 'How long it counts that nothing was found.'),
      },
      {
        additionalProperties: false,
        default: {},
        description: 'How long findings live, from when they were obtained.',
      },
    ),
  },
  { additionalProperties: false, default: {}, description: 'What is remembered, so that it is paid for once.' },
)

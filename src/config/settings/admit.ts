// Settings of admission: how much is asked of the provider, and what happens when it refuses.
import { Type } from '@sinclair/typebox'

const calls = (description: string) => Type.Integer({ default: 0, minimum: 0, maximum: 1_000_000_000, description })

const milliseconds = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 86_400_000, description })

export const admitSettings = Type.Object(
  {
    maxWaiting: Type.Integer({
      default: 10_000,
      minimum: 1,
      maximum: 1_000_000,
      description: 'Lookups that may wait for their turn; past it the least important one is given up as queue_full.',
    }),
    perHour: calls('Calls sent in one hour (UTC) at most, restarts included where memory.path is kept; 0 is no limit.'),
    perDay: calls('Calls sent in one day (UTC) at most, restarts included where memory.path is kept; 0 is no limit.'),
    perRun: calls('Calls sent from start to stop at most; 0 is no limit.'),
    callTimeoutMs: milliseconds(30_000, 'A call that has not come back by then is given up, whatever became of it.'),
    pauseMs: milliseconds(
      2000,
      'How long nobody calls after the provider was busy or throttled us without saying how long; doubles each time.',
    ),
    maxPauseMs: milliseconds(60_000, 'The longest pause that lookups wait for; in a longer one they are refused.'),
    breakerFailures: Type.Integer({
      default: 5,
      minimum: 1,
      maximum: 1000,
      description: 'Failed calls in a row (unreachable, timed out, server error) after which the breaker opens.',
    }),
    breakerMs: milliseconds(10_000, 'How long it stays open before one call is tried; doubles each time.'),
    maxBreakerMs: milliseconds(300_000, 'The longest it stays open.'),
    stopMs: milliseconds(
      300_000,
      'How long nothing is sent after the key was refused. After the credit was used up it is an hour.',
    ),
    retry: Type.Object(
      {
        times: Type.Integer({
          default: 2,
          minimum: 0,
          maximum: 10,
          description: 'How often a call that failed for a passing reason is made again.',
        }),
        firstMs: milliseconds(250, 'The wait before the first repetition; doubles each time.'),
        maxMs: milliseconds(5000, 'A failure that asks to stay away for longer than this is not repeated.'),
      },
      { additionalProperties: false, default: {}, description: 'Repeating calls.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'How much the provider is asked; one state per key.' },
)

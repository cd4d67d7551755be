// Settings of admission: how many calls may be sent to the provider.
import { Type } from '@sinclair/typebox'

const calls = (description: string) => Type.Integer({ default: 0, minimum: 0, maximum: 1_000_000_000, description })

export const admitSettings = Type.Object(
  {
    perHour: calls('Calls sent in one hour (UTC) at most, restarts included where memory.path is kept; 0 is no limit.'),
    perDay: calls('Calls sent in one day (UTC) at most, restarts included where memory.path is kept; 0 is no limit.'),
    perRun: calls('Calls sent from start to stop at most; 0 is no limit.'),
  },
  { additionalProperties: false, default: {}, description: 'The budget: how many calls may be sent with the key.' },
)

// Settings of what is logged.
import { Type } from '@sinclair/typebox'

export const logSettings = Type.Object(
  {
    level: Type.Unsafe<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'>({
      type: 'string',
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
      description: 'The least severe log line that is written.',
    }),
    format: Type.Unsafe<'auto' | 'json' | 'pretty'>({
      type: 'string',
      enum: ['auto', 'json', 'pretty'],
      default: 'auto',
      description: 'One JSON object a line, or short lines for a person; auto is pretty on a terminal.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'Logs, always on standard error.' },
)

// Settings of reading: log formats of your own.
import { Type } from '@sinclair/typebox'

export const extractSettings = Type.Object(
  {
    formats: Type.Array(Type.String(), {
      default: [],
      description:
        'Log formats of your own: files, or folders with everything below them that ends in .yml or .yaml. See docs/formats.md.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'Which indicators are found in an event.' },
)

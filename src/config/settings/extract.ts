// Settings of the reading half of the line: what counts as an indicator and how much of an event is looked at.
import { Type } from '@sinclair/typebox'
import { roles, type Role } from '../../domain/sighting.js'

export const extractSettings = Type.Object(
  {
    fields: Type.Record(Type.String(), Type.Unsafe<Role>({ type: 'string', enum: [...roles] }), {
      default: {},
      description: 'Fields of your own and the role their indicators play, for example { my_src: source }.',
    }),
    formats: Type.Array(Type.String(), {
      default: [],
      description:
        'Log formats of your own: files, or folders with everything below them that ends in .yml or .yaml. See docs/formats.md.',
    }),
    maxIndicators: Type.Integer({
      default: 64,
      minimum: 1,
      maximum: 1024,
      description: 'The most indicators taken from one event; known fields come first, free text last.',
    }),
    maxEventBytes: Type.Integer({
      default: 1_048_576,
      minimum: 1024,
      maximum: 67_108_864,
      description: 'An event larger than this still comes out, but only its first part is searched.',
    }),
    maxDepth: Type.Integer({
      default: 64,
      minimum: 1,
      maximum: 1000,
      description: 'How deep nested objects and lists are followed.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'Which indicators are found in an event.' },
)

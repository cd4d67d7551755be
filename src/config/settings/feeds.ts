// Settings of local intelligence: the feed files, and what a listing in them means.
import { Type } from '@sinclair/typebox'

const days = Type.Number({ exclusiveMinimum: 0, maximum: 36500 })

const feed = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      description: 'The name that annotations give the feed; each feed has its own.',
    }),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'The list, as its maker publishes it, gzip or not: its format is known by its content. Or the directory of a MISP feed (manifest.json and its events). A feed has either path or url.',
      }),
    ),
    url: Type.Optional(
      Type.String({
        format: 'url',
        description:
          'Where the list is fetched from (https); the address of a manifest.json is that of a whole MISP feed. The last good copy is kept beside the memory and used when the list cannot be fetched.',
      }),
    ),
    headersFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'A file of headers to send with url, one a line, such as Authorization: Bearer KEY. They are sent to the host of url alone.',
      }),
    ),
    refreshMinutes: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 43200,
        description: 'How often url is asked for a newer list, a tenth more or less; by default every 60 minutes.',
      }),
    ),
    allowHttp: Type.Optional(
      Type.Boolean({
        description:
          'Lets url be plain HTTP to another machine, where everybody on the way can read and change the list.',
      }),
    ),
    level: Type.Union([Type.Literal('malicious'), Type.Literal('suspicious')], {
      default: 'malicious',
      description: 'What a listing means.',
    }),
    score: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'The score of entries that have none of their own; by default they have no score.',
      }),
    ),
    categories: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      default: [],
      maxItems: 8,
      description: 'Categories of every entry, beside those that the feed gives.',
    }),
    minScore: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description:
          'Entries to which the list gives a lower score or confidence are left out; those without one are taken.',
      }),
    ),
    expiresDays: Type.Optional(
      Type.Union(
        [days, Type.Object({ ip: Type.Optional(days), domain: Type.Optional(days) }, { additionalProperties: false })],
        {
          description:
            'An entry without an expiry of its own no longer counts this many days after it was seen, or after the file was written where the feed does not say; by default it counts as long as it is listed. A number of days for all, or by type: { ip: 30, domain: 90 }.',
        },
      ),
    ),
  },
  { additionalProperties: false, oneOf: [{ required: ['path'] }, { required: ['url'] }] },
)

export const feedsSettings = Type.Array(feed, {
  default: [],
  maxItems: 64,
  description:
    'Local intelligence: files of malicious or suspicious addresses and names, looked up before anybody is asked and read again when they change.',
})

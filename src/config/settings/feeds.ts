// Settings of local intelligence: the feed files, what a listing in them means, and how they are read.
import { Type } from '@sinclair/typebox'

const column = (description: string) =>
  Type.Optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Integer({ minimum: 1, maximum: 256 })], { description }),
  )

const feed = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      description: 'The name that annotations give the feed; each feed has its own.',
    }),
    path: Type.String({
      minLength: 1,
      description: 'The file, gzip or not, or the directory of a MISP feed (manifest.json and its events).',
    }),
    format: Type.Union(
      [
        Type.Literal('auto'),
        Type.Literal('plain'),
        Type.Literal('netset'),
        Type.Literal('csv'),
        Type.Literal('stix'),
        Type.Literal('misp'),
      ],
      {
        default: 'auto',
        description:
          'auto goes by content and file name. plain: one address, range (as a prefix or as first-last), name or URL a line, or a hosts file; netset: addresses and ranges, also as ipset saves them; csv: with named columns; stix: a STIX 2.1 bundle; misp: an event or a feed.',
      },
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
    expiresDays: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 36500,
        description:
          'An entry without an expiry of its own no longer counts this many days after it was seen, or after the file was written where the feed does not say; by default it counts as long as it is listed.',
      }),
    ),
    columns: Type.Object(
      {
        value: column('The address, range, name or URL. By default the column named value.'),
        score: column('From 0 to 100. By default the column named score, if there is one.'),
        category: column('One or several, between , ; or |. By default the column named category, if there is one.'),
        expires: column('When the entry stops to count. By default the column named expires, if there is one.'),
        seen: column('When it was seen, for expiresDays. By default the column named seen, if there is one.'),
      },
      {
        additionalProperties: false,
        default: {},
        description: 'csv: columns by their name in the header, or all by number from 1 where there is no header.',
      },
    ),
    onBadEntry: Type.Union([Type.Literal('refuse'), Type.Literal('skip')], {
      default: 'refuse',
      description:
        'What an entry does that would accuse too much (wider than /8 or /19, a special range, a public suffix): refuse keeps the feed as it was before, skip leaves the entry out.',
    }),
  },
  { additionalProperties: false },
)

export const feedsSettings = Type.Array(feed, {
  default: [],
  maxItems: 64,
  description:
    'Local intelligence: files of malicious or suspicious addresses and names, looked up before anybody is asked and read again when they change.',
})

// One pass over the bytes must decide exactly as the parser does what an event is.
import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decode } from '../../../../src/pipeline/decode.js'
import type { Event } from '../../../../src/pipeline/event.js'
import { createExtract } from '../../../../src/pipeline/extract/extract.js'
import { createFieldOf } from '../../../../src/pipeline/extract/field.js'
import { createPaths } from '../../../../src/pipeline/extract/paths.js'
import { createAnnotationKey } from '../../../../src/pipeline/annotate/annotation-key.js'

const limits = { maxEventBytes: 65_536 }
const annotationKey = createAnnotationKey('threatweave')
const { isAnnotationName } = annotationKey
const settings = { maxIndicators: 8, maxDepth: 6, annotationKey }
const extract = createExtract(settings)

const parse = (text: string): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** What the parser makes of bytes that begin like an object, and whether a name in it looks like ours. */
const parsedOf = ({ text, reading, ...event }: Event, bytes: Buffer) => {
  const value = parse(text)
  const objectReading = !isUtf8(bytes) ? 'not_utf8' : value ? 'json' : 'broken_json'
  const isObject = /^\uFEFF?[\s\v]*\{/.test(text)
  return isObject
    ? {
        reading: objectReading,
        value: objectReading === 'json' ? value : undefined,
        hasAnnotationName: objectReading === 'json' ? Object.keys(value ?? {}).some(isAnnotationName) : undefined,
      }
    : { reading, value: event.value, hasAnnotationName: undefined }
}

const bothWays = (bytes: Buffer) => {
  const unread = decode(bytes, limits)
  const scanned = decode(bytes, limits)
  const shown = ({ reading, value, hasAnnotationName }: Event) => ({ reading, value, hasAnnotationName })
  const parsed = parsedOf(unread, bytes)
  // Extraction scans, and decides what the event is; of one that nobody extracts from, a check without recursion does.
  const { sightings } = extract(scanned)
  expect(shown(unread)).toEqual({ ...parsed, hasAnnotationName: undefined })
  return { parsed, scanned: shown(scanned), sightings, inOnePass: scanned.hasAnnotationName !== undefined }
}

const keys = fc.oneof(
  fc.constantFrom('src_ip', 'dest_ip', 'host', 'url', 'message', 'action', 'blocked', 'type', 'a', 'source', 'ip', ''),
  fc.constantFrom('7', '__proto__', 'ü', 'a"b', 'constructor', 'id.orig_h', 'k'.repeat(220)),
  fc.constantFrom('threatweave', 'Threatweave', 'threatweave.verdict', 'threatweaver', 'THREATWEAVE'),
  fc.string({ maxLength: 6, unit: 'binary' }),
)
const strings = fc.oneof(
  fc.constantFrom('198.51.100.7', '2001:DB8::1', 'www.example.com', 'deny', 'allowed', 'http://a.example.net/x', 'ab'),
  fc.constantFrom('dst=203.0.113.9 src=192.0.2.4', 'a\\b.example.org', 'bücher.example', '192.0.2.1:443', '\ud800.x'),
  fc.constantFrom(
    '{"src":"198.51.100.9"}',
    'Mail from bob@example.org',
    `${'x.'.repeat(60)}example.com`,
    'evil[.]example',
  ),
  fc.string({ unit: 'binary' }),
)
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    strings,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null, 0, -1, 1e300),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.array(fc.tuple(keys, tie('tree')), { maxLength: 6 }).map((list) => new Members(list)),
  ),
}))

/** An object that may say a key twice. */
class Members {
  constructor(readonly list: readonly (readonly [string, unknown])[]) {}
}
const write = (value: unknown, space: string): string => {
  if (value instanceof Members) {
    const members = value.list.map(
      ([key, item]) => `${space}${JSON.stringify(key)}${space}:${space}${write(item, space)}`,
    )
    return `{${members.join(',')}${space}}`
  }
  if (Array.isArray(value)) return `[${space}${value.map((item) => write(item, space)).join(`${space},`)}${space}]`
  return JSON.stringify(value)
}
const objects = fc
  .tuple(fc.array(fc.tuple(keys, tree), { maxLength: 8 }), fc.constantFrom('', ' ', '\n\t', '\r\n'))
  .map(([list, space]) => `${space}${write(new Members(list), space)}${space}`)

describe('one pass over the bytes', () => {
  it('decides as the parser does, for any object', () => {
    fc.assert(
      fc.property(objects, (text) => {
        const { parsed, scanned } = bothWays(Buffer.from(text))
        expect(scanned).toEqual(parsed)
      }),
      { numRuns: 300 },
    )
  })

  it('takes for JSON what the parser takes for JSON, whatever byte is changed, left out or put in', () => {
    const bytes = fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[]",:\\/-+.eE0123u \t\n\v\u0000')))
    fc.assert(
      fc.property(objects, fc.nat(), bytes, fc.nat(2), (text, place, byte, cut) => {
        const whole = Buffer.from(text)
        const at = place % (whole.length + 1)
        const broken = Buffer.concat([whole.subarray(0, at), Buffer.from([byte]), whole.subarray(at + cut)])
        const { parsed, scanned } = bothWays(broken)
        expect(scanned).toEqual(parsed)
      }),
      { numRuns: 500 },
    )
  })

  it('knows a key again in any language', () => {
    const paths = createPaths(createFieldOf())
    for (const key of ['source', '源IP', 'a\\u0062']) {
      const bytes = Buffer.from(`{"${key}":1}`)
      const find = () => paths.find(paths.root, bytes, 1, bytes.length - 3)
      expect(find()).toBe(find())
      expect(find().path).toBe(JSON.parse(`"${key}"`))
    }
  })

  it('takes no key for one that it met in an escaped spelling', () => {
    for (const [met, broken] of [
      ['{"a\\nb":1}', '{"a\nb":1}'],
      ['{"a\\"b":1}', '{"a"b":1}'],
      ['{"a\\\\":1}', '{"a\\":1}'],
    ] as const) {
      expect(bothWays(Buffer.from(met)).scanned.reading).toBe('json')
      expect(bothWays(Buffer.from(broken)).scanned.reading).toBe('broken_json')
    }
  })

  it.each([
    '01',
    '-',
    '-0',
    '1.',
    '.5',
    '1.5e',
    '1e+',
    '1E-7',
    '+1',
    '0x1',
    '1e5',
    '-01',
    'tru',
    'true',
    'nul',
    'null',
    'falsey',
    'NaN',
    '"\\u12g4"',
    '"\\u1234"',
    '"\\x"',
    '"\\"',
    '"a',
    '"\t"',
    '"\\ud800"',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[]',
    '{"a":1,}',
    '{,}',
    "'a'",
  ])('agrees with the parser about %s', (value) => {
    for (const text of [`{"a":${value}}`, `{"a":[${value}]}`, `{"a":${value}`, `{"action":${value},"b":"192.0.2.1"}`]) {
      const { parsed, scanned } = bothWays(Buffer.from(text))
      expect(scanned).toEqual(parsed)
    }
  })

  it.each([
    [
      'an everyday event',
      '{"src_ip":"198.51.100.7","n":[1,-2.5e3],"o":{"host":"www.example.com","ok":true},"e":"a\\nb"}',
      true,
    ],
    ['an event between blanks, behind a byte order mark', '\uFEFF {"a" : "192.0.2.1" } \r\n', true],
    ['a key that comes twice', '{"a":"192.0.2.1","a":"192.0.2.2"}', true],
    ['a key with an escape', '{"\\u0061":"192.0.2.1"}', true],
    ['keys that are numbers', '{"b":"192.0.2.1","1":"192.0.2.2"}', true],
    ['deep nesting', `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`, true],
  ])('reads %s', (_, text, expected) => {
    const { parsed, scanned, inOnePass } = bothWays(Buffer.from(text))
    expect(inOnePass).toBe(expected)
    expect(scanned).toEqual(parsed)
  })

  it('sees the same key in each object of a list', () => {
    const { sightings, inOnePass } = bothWays(
      Buffer.from('{"l":[{"src_ip":"198.51.100.1"},{"src_ip":"198.51.100.2"}]}'),
    )
    expect(inOnePass).toBe(true)
    expect(sightings.map(({ value }) => value)).toEqual(['198.51.100.1', '198.51.100.2'])
  })
})

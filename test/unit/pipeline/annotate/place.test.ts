// The annotation's place in an event, and that every other byte stays what it was.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decode } from '../../../../src/pipeline/decode.js'
import { writeAnnotation } from '../../../../src/pipeline/annotate/write-annotation.js'
import { expectValidAnnotation } from '../../../support/annotation-schema.js'
import { plainAnnotation } from '../../../support/annotations.js'
import { createPlaceAnnotation } from '../../../support/place-annotation.js'

const limits = { maxEventBytes: 1_048_576 }
const settings = { key: 'threatweave', onExisting: 'replace', layers: [] } as const
const annotate = createPlaceAnnotation(settings)
const written = writeAnnotation(plainAnnotation)
const put = (input: string | Buffer, made = annotate, time?: number): string =>
  made(decode(Buffer.from(input), limits), plainAnnotation, time).toString('utf8')
const parse = (text: string): Record<string, unknown> => {
  const value = JSON.parse(text) as Record<string, unknown>
  if ('threatweave' in value) expectValidAnnotation(value['threatweave'])
  return value
}

describe('annotate splices into a JSON object', () => {
  const spliced: readonly (readonly [string, string, string])[] = [
    ['puts a comma before it', '{"a":1}', `{"a":1,"threatweave":${written}}`],
    ['puts no comma into an empty object', '{}', `{"threatweave":${written}}`],
    ['sees that an object with white space is empty', ' { \n\t } \r', ` { \n\t "threatweave":${written}} \r`],
    ['keeps a byte order mark', '\ufeff{"a":1}', `\ufeff{"a":1,"threatweave":${written}}`],
    ['keeps 64-bit numbers', '{"id":9007199254740993123}', `{"id":9007199254740993123,"threatweave":${written}}`],
    ['keeps duplicate keys', '{"a":1,"a":2}', `{"a":1,"a":2,"threatweave":${written}}`],
    [
      'keeps odd spacing',
      '{ "a" : 1.0e0 ,\r\n"b":[ ] }\r\n',
      `{ "a" : 1.0e0 ,\r\n"b":[ ] ,"threatweave":${written}}\r\n`,
    ],
    [
      'keeps escapes and lone surrogates',
      '{"a":"\\ud800\\/\\u0000"}',
      `{"a":"\\ud800\\/\\u0000","threatweave":${written}}`,
    ],
    ['is not misled by brackets in strings', '{"a":"{}}"}', `{"a":"{}}","threatweave":${written}}`],
    ['is not misled by an empty object at the end', '{"a":{}}', `{"a":{},"threatweave":${written}}`],
    [
      'leaves the key alone in nested objects',
      '{"a":{"threatweave":1}}',
      `{"a":{"threatweave":1},"threatweave":${written}}`,
    ],
    [
      'leaves names alone that only begin like ours',
      '{"threatweaver":1}',
      `{"threatweaver":1,"threatweave":${written}}`,
    ],
    [
      'leaves __proto__ alone',
      '{"__proto__":{"threatweave":1}}',
      `{"__proto__":{"threatweave":1},"threatweave":${written}}`,
    ],
  ]
  it.each(spliced)('%s', (_, input, output) => {
    expect(put(input)).toBe(output)
    parse(output.replace('\ufeff', ''))
  })
})

describe('annotate replaces what claims to be ours', () => {
  const replacing = (count: number): string => writeAnnotation({ ...plainAnnotation, replaced: count })
  const forged: readonly (readonly [string, string, string, number])[] = [
    ['the key itself', '{"threatweave":{"verdict":"clean"},"a":1}', '{"a":1,', 1],
    ['the key in escapes', '{"a":1,"threat\\u0077eave":{"verdict":"clean"}}', '{"a":1,', 1],
    ['duplicates', '{"threatweave":1,"a":1,"threatweave":{"x":[{}]},"b":2}', '{"a":1,"b":2,', 2],
    ['dotted members', '{"threatweave.verdict":"clean","a":1,"threatweave.malicious":false}', '{"a":1,', 2],
    ['dotted members in escapes', '{"a":1,"threatweave\\u002everdict":"clean"}', '{"a":1,', 1],
    ['another case', '{"ThreatWeave":{"verdict":"clean"},"a":1}', '{"a":1,', 1],
    ['the only member', '{"threatweave":null}', '{', 1],
    ['several only members', '{"threatweave":null,"threatweave.a":"}"}', '{', 2],
    ['the last member among spaces', '{ "a" : 1 , "threatweave" : "\\"}," }', '{ "a" : 1 , ', 1],
    ['members among spaces', '{ "threatweave" : [1,"]"] , "a" : 1 }', '{ "a" : 1 ,', 1],
  ]
  it.each(forged)('cuts out %s', (_, input, start, count) => {
    const output = put(input)
    expect(output).toBe(`${start}"threatweave":${replacing(count)}}`)
    expect(parse(output)).toMatchObject({ threatweave: { verdict: 'malicious', replaced: count } })
  })

  it('gives the same event again when its own output comes back', () => {
    const once = put('{"a":1}')
    const twice = put(once)
    expect(twice).toBe(`{"a":1,"threatweave":${replacing(1)}}`)
    expect(put(twice)).toBe(twice)
  })

  it('lets such an event pass untouched when told to keep it', () => {
    const keep = createPlaceAnnotation({ ...settings, onExisting: 'keep' })
    const forgery = '{"threat\\u0077eave":{"verdict":"clean"},"a":1}'
    expect(put(forgery, keep)).toBe(forgery)
    expect(put('{"a":1}', keep)).toBe(put('{"a":1}'))
  })

  it('goes by the key that is set', () => {
    const other = createPlaceAnnotation({ ...settings, key: 'ti' })
    expect(put('{"threatweave":1,"TI.verdict":2,"tile":3}', other)).toBe(
      `{"threatweave":1,"tile":3,"ti":${replacing(1)}}`,
    )
  })
})

describe('annotate wraps what is no JSON object', () => {
  const wrapped: readonly (readonly [string, string, string])[] = [
    ['a syslog line', '<134>Nov 15 08:00:00 fw %ASA-6-302013: "Built"\t\u0001', 'text'],
    ['broken JSON', '{"a":1', 'broken_json'],
    ['a list', '[{"threatweave":1}]', 'json_array'],
    ['a scalar', '42', 'json_scalar'],
    ['nothing', '', 'empty'],
    ['white space', ' \r', 'empty'],
    ['text with a byte order mark', '\ufeffdeny tcp', 'text'],
    ['line and paragraph separators', 'a\u2028b\u2029c \ud83d\ude00', 'text'],
  ]
  it.each(wrapped)('keeps %s whole in message', (_, input, readAs) => {
    const output = parse(put(input))
    expect(output).toEqual({ message: input, threatweave: { ...plainAnnotation, read_as: readAs } })
  })

  it('keeps bytes that are not UTF-8 in original_base64, beside what can be read of them', () => {
    const bytes = Buffer.from([0x73, 0x72, 0x63, 0x3d, 0xff, 0xc3, 0x28, 0x0a])
    const output = parse(put(bytes))
    expect(output).toMatchObject({ message: 'src=\ufffd\ufffd(\n', threatweave: { read_as: 'not_utf8' } })
    expect(Buffer.from(output['original_base64'] as string, 'base64')).toEqual(bytes)
  })

  it('keeps an event that is no JSON and too large to be searched whole', () => {
    const input = `{"a":"${'x'.repeat(3000)}"`
    const output = parse(annotate(decode(Buffer.from(input), { maxEventBytes: 1024 }), plainAnnotation).toString())
    expect(output).toMatchObject({ message: input, threatweave: { read_as: 'too_large' } })
  })

  it('gives it the time of its record where that is known', () => {
    expect(parse(put('deny tcp', annotate, Date.UTC(2026, 10, 15)))['@timestamp']).toBe('2026-11-15T00:00:00.000Z')
    expect(parse(put('deny tcp', annotate, Number.NaN))).not.toHaveProperty('@timestamp')
    expect(parse(put('{"a":1}', annotate, 1))).not.toHaveProperty('@timestamp')
  })
})

describe('annotate, for any event', () => {
  const spaces = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
  const names = fc.oneof(
    fc.string(),
    fc.constantFrom('threatweave', 'threatweave.verdict', '__proto__', 'a', '{', '}', '"', '\\'),
  )
  const anyObject = fc
    .tuple(fc.array(fc.tuple(names, fc.jsonValue(), spaces, spaces), { maxLength: 6 }), spaces, spaces)
    .map(([members, before, after]) => {
      const inside = members.map(
        ([name, value, left, right]) =>
          `${left}${JSON.stringify(name)}${right}:${left}${JSON.stringify(value)}${right}`,
      )
      return { text: `${before}{${inside.join(',')}${after}}${after}`, names: members.map(([name]) => name) }
    })
    // Once JSON.parse of Node 24.21 has seen the name "\\" it takes "\"" in its place for it, too: no name ends in a backslash here.
    .filter(({ text }) => !text.includes('\\\\"'))
  const claims = (name: string): boolean => /^threatweave(\.|$)/i.test(name)

  it('changes nothing else: cutting the annotation out gives back the input', () => {
    fc.assert(
      fc.property(anyObject, ({ text, names }) => {
        fc.pre(!names.some(claims))
        const output = put(text)
        const added = `${names.length === 0 ? '' : ','}"threatweave":${written}`
        const at = output.lastIndexOf(added)
        expect(output.slice(0, at) + output.slice(at + added.length)).toBe(text)
        parse(output)
      }),
    )
  })

  it('leaves every other member as it was when it cuts out forgeries', () => {
    fc.assert(
      fc.property(anyObject, ({ text, names }) => {
        const output = parse(put(text))
        const others = Object.entries(parseAny(text)).filter(([name]) => !claims(name))
        expect(Object.entries(output).filter(([name]) => name !== 'threatweave')).toEqual(others)
        expect((output['threatweave'] as { replaced?: number }).replaced ?? 0).toBe(names.filter(claims).length)
      }),
    )
  })

  it('brings out any bytes whole', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const event = decode(Buffer.from(bytes), limits)
        const output = parse(
          annotate(event, plainAnnotation)
            .toString('utf8')
            .replace(/^\ufeff/, ''),
        )
        if (event.reading === 'json') return
        const { message, original_base64: base64 } = output as { message: string; original_base64?: string }
        expect(base64 === undefined ? Buffer.from(message) : Buffer.from(base64, 'base64')).toEqual(Buffer.from(bytes))
      }),
    )
  })
})

const parseAny = (text: string): object => JSON.parse(text) as object

// Pairs out of a line: what the loops find is what these expressions say.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { colonPairsOf, pairsOf, type Pair } from '../../../../src/pipeline/extract/pairs.js'

const expression =
  /(?<![^\s,;|[({\]>":])([\w.-]{1,80}(?:\([\w-]{1,40}\))?)=(?:"([^"\\]*(?:\\.[^"\\]*)*)"|'([^'\\]*(?:\\.[^'\\]*)*)'|((?:[^\s|,;]|[,;](?!\s|$|[\w.-]{1,64}(?:\(\d{0,8}\))?=))*(?:(?<=relay=\S{1,253}) \[[\da-fA-F.:]{3,45}\])?))/gs
const colon =
  /(?<![^\s;,[{:])(?=[A-Za-z_.-])(?<=(?:^|[;,[{]|:\s)\s{0,8})([\w.-]{1,80}):(?::?"([^"\\]*(?:\\.[^"\\]*)*)"| ((?:(?!: )[^;\],]|,(?! ))*)(?=[;\]]|, |$))/gs
const ownerless = /^(?:ip|ipv[46]|addr|address|host|hostname|name|port)$/i

const described = (text: string): readonly Pair[] => {
  let from = 0
  return [...text.matchAll(expression)].map(({ 0: all, 1: name = '', 2: double, 3: single, 4: bare = '', index }) => {
    const value = double ?? single ?? (bare.endsWith(')') && !bare.includes('(') ? bare.slice(0, -1) : bare)
    const key = name.replace(/\(\d+\)$/, '')
    const before = text.slice(Math.max(0, index - 24), index)
    // Its owner is named behind the pair before.
    const isOwned = index - from > 2 && ownerless.test(key)
    from = index + all.length
    const whose = isOwned ? /(?<![\w=])([A-Za-z]{2,20}(?: IP)?) $/.exec(before) : null
    const owned = whose ? `${(whose[1] ?? '').replace(' ', '_')}_${key}` : key
    return { key: owned, value, start: index - (whose?.[0].length ?? 0), end: from }
  })
}

const describedWithColon = (text: string): readonly Pair[] =>
  [...text.matchAll(colon)].map(({ 0: all, 1: key = '', 2: quoted, 3: bare = '', index }) => ({
    key,
    value: quoted ?? bare.trim(),
    start: index,
    end: index + all.length,
  }))

const k = (length: number): string => 'k'.repeat(length)
const part = fc.constantFrom(
  ...['=', '=', '=', '"', "'", '\\', ' ', ' ', ',', ';', '|', '(', ')', '[', ']', '{', '>', ':', '?', '&', '-', '.'],
  ...['a', 'b7', 'src', 'SrcIPAddr(1003)', 'n(x)', 'Peer IP', 'ip', 'Address', 'relay=', ' [192.0.2.1]', '192.0.2.1'],
  ...['key=value', 'k="v w"', "k='v'", ' k="', " k='", '\\"', "\\'", 'k=v,', 'k=v;', ', ', '; ', '\t', '\n'],
  ...['\u00a0', '\u2028', '\ufeff', 'é', '🙂', k(80), k(81), `,${k(64)}=`, `,${k(65)}=`, `,n(${'1'.repeat(9)})=`],
  ...[` n(${k(40)})=`, ` n(${k(41)})=`],
)

const withColon = fc.constantFrom(
  ...[
    ':',
    ':',
    ': ',
    ': ',
    ':"',
    '::"',
    '"',
    '\\',
    ' ',
    ' '.repeat(8),
    ' '.repeat(9),
    ',',
    ', ',
    ';',
    '; ',
    ']',
    '[',
    '{',
  ],
  ...['key', 'key: value', 'key: value, ', 'key:"v w"', 'key::"v"', '9', '9a: b', 'a.b-c_d', '-x', '(', ')', '='],
  ...[
    '\t',
    '\n',
    '\u00a0',
    '\u2028',
    '\ufeff',
    'é',
    '🙂',
    k(80),
    k(81),
    `${k(80)}: v`,
    ` ${k(80)}: v;`,
    `,${k(81)}: v;`,
  ],
)

it.each([
  ['with an equals sign', pairsOf, described, part],
  ['with a colon', colonPairsOf, describedWithColon, withColon],
] as const)('%s are the same as the expression says, whatever the text', (_, found, expected, one) => {
  const parts = fc.array(one, { maxLength: 40 })
  fc.assert(
    fc.property(parts, (line) => {
      expect(found(line.join(''))).toEqual(expected(line.join('')))
    }),
    { numRuns: 20_000 },
  )
})

it('are looked for from there on, whatever is before', () => {
  const header = '<134>Nov 15 08:00:00 host: Peer '
  for (const line of ['IP=192.0.2.1 to=a', ' k=v', 'k:"v"; m:"w"', 'k: v, m: w', '"k=v'])
    for (const find of [pairsOf, colonPairsOf]) {
      const moved = find(line).map((one) => ({
        ...one,
        start: one.start + header.length,
        end: one.end + header.length,
      }))
      expect(find(header + line, header.length)).toEqual(moved)
    }
})

it('are at most 1024', () => {
  expect(pairsOf('a=1 '.repeat(5000))).toHaveLength(1024)
  expect(colonPairsOf('a: 1, '.repeat(5000))).toHaveLength(1024)
})

// Pairs out of a line: what the loop finds is what this expression says.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pairsOf, type Pair } from '../../../../src/pipeline/extract/pairs.js'

const expression =
  /(?<![^\s,;|[({\]>":])([\w.-]{1,80}(?:\([\w-]{1,40}\))?)=(?:"([^"\\]*(?:\\.[^"\\]*)*)"|'([^'\\]*(?:\\.[^'\\]*)*)'|((?:[^\s|,;]|[,;](?!\s|$|[\w.-]{1,64}(?:\(\d{0,8}\))?=))*(?:(?<=relay=\S{1,253}) \[[\da-fA-F.:]{3,45}\])?))/gs
const ownerless = /^(?:ip|ipv[46]|addr|address|host|hostname|name|port)$/i

const described = (text: string): readonly Pair[] =>
  [...text.matchAll(expression)].map(({ 0: all, 1: name = '', 2: double, 3: single, 4: bare = '', index }) => {
    const value = double ?? single ?? (bare.endsWith(')') && !bare.includes('(') ? bare.slice(0, -1) : bare)
    const key = name.replace(/\(\d+\)$/, '')
    const before = text.slice(Math.max(0, index - 24), index)
    const whose = ownerless.test(key) ? /(?<![\w=])([A-Za-z]{2,20}(?: IP)?) $/.exec(before) : null
    const owned = whose ? `${(whose[1] ?? '').replace(' ', '_')}_${key}` : key
    return { key: owned, value, start: index - (whose?.[0].length ?? 0), end: index + all.length }
  })

const k = (length: number): string => 'k'.repeat(length)
const part = fc.constantFrom(
  ...['=', '=', '=', '"', "'", '\\', ' ', ' ', ',', ';', '|', '(', ')', '[', ']', '{', '>', ':', '?', '&', '-', '.'],
  ...['a', 'b7', 'src', 'SrcIPAddr(1003)', 'n(x)', 'Peer IP', 'ip', 'Address', 'relay=', ' [192.0.2.1]', '192.0.2.1'],
  ...['key=value', 'k="v w"', "k='v'", ' k="', " k='", '\\"', "\\'", 'k=v,', 'k=v;', ', ', '; ', '\t', '\n'],
  ...['\u00a0', '\u2028', '\ufeff', 'é', '🙂', k(80), k(81), `,${k(64)}=`, `,${k(65)}=`, `,n(${'1'.repeat(9)})=`],
  ...[` n(${k(40)})=`, ` n(${k(41)})=`],
)

it('are the same as the expression says, whatever the text', () => {
  const text = fc.array(part, { maxLength: 40 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (line) => {
      expect(pairsOf(line)).toEqual(described(line))
    }),
    { numRuns: 20_000 },
  )
})

it('are at most 1024', () => {
  expect(pairsOf('a=1 '.repeat(5000))).toHaveLength(1024)
})

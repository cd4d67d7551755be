// List files: plain text and MISP warninglists become ranges and names, and what is wrong is named with its place.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAddress } from '../../../src/domain/address.js'
import { readListFile } from '../../../src/feeds/list-file.js'

type Short = { ranges: string[]; names: string[] } | { problems: readonly { message: string; where: string }[] }

/** Names that cover what is below them are shown with a leading dot. */
const read = (content: string): Short => {
  const file = readListFile('my.list', content)
  if ('problems' in file) return file
  return {
    ranges: file.ranges.map(({ first, last }) => `${formatAddress(first)}-${formatAddress(last)}`),
    names: file.names.map(({ name, below }) => (below ? `.${name}` : name)),
  }
}
const misp = (type: string | undefined, ...list: unknown[]): string =>
  JSON.stringify({ name: 'A list', version: 1, description: 'd', type, list })

describe('a plain list', () => {
  it.each<[string, string, { ranges?: string[]; names?: string[] }]>([
    ['an address', '192.0.2.1', { ranges: ['192.0.2.1-192.0.2.1'] }],
    ['a range', '192.0.2.0/24', { ranges: ['192.0.2.0-192.0.2.255'] }],
    ['an IPv6 range', '2001:db8::/126', { ranges: ['2001:db8::-2001:db8::3'] }],
    ['a name, for itself', 'WWW.Example.com.', { names: ['www.example.com'] }],
    ['a name with a leading dot, for everything below', '.example.com', { names: ['.example.com'] }],
    ['a name with a star, for everything below', '*.example.com', { names: ['.example.com'] }],
    ['a single label', 'corp', { names: ['corp'] }],
    ['an international name', 'bücher.example', { names: ['xn--bcher-kva.example'] }],
    ['blank lines and Windows line ends', '\r\n192.0.2.1\r\n\r\n', { ranges: ['192.0.2.1-192.0.2.1'] }],
    ['a byte order mark', '\uFEFF192.0.2.1', { ranges: ['192.0.2.1-192.0.2.1'] }],
    ['comment lines', '# one\n; two\n// three\n  # four', {}],
    [
      'comments after an entry',
      '192.0.2.1 # a\nexample.com;b\nexample.net // c',
      { ranges: ['192.0.2.1-192.0.2.1'], names: ['example.com', 'example.net'] },
    ],
    ['nothing', '', {}],
  ])('may hold %s', (_, content, { ranges = [], names = [] }) => {
    expect(read(content)).toEqual({ ranges, names })
  })

  it('may hold entries that end at a date, with the reason behind them', () => {
    const file = readListFile(
      'my.list',
      '203.0.113.7 until 2026-12-01 # false positive, ticket 4711\nexample.com\nexample.net until 2026-12-01',
    )
    expect(file).toMatchObject({
      names: [{ name: 'example.com' }],
      expiring: [{ until: Date.UTC(2026, 11, 1), ranges: [{ version: 4 }], names: [{ name: 'example.net' }] }],
    })
    expect(read('203.0.113.7 until tomorrow')).toEqual({
      problems: [{ where: 'my.list:1', message: 'must have a date behind until, such as 2026-12-01' }],
    })
  })

  it('names file and line of every wrong entry', () => {
    expect(read('192.0.2.1\n# fine\nhttp://example.com/x\n\n192.0.2.0/33\n')).toEqual({
      problems: [
        { where: 'my.list:3', message: 'is not an address, a range or a name: "http://example.com/x"' },
        { where: 'my.list:5', message: 'is not an address, a range or a name: "192.0.2.0/33"' },
      ],
    })
  })

  it('stops naming wrong entries after twenty, each cut to a readable length', () => {
    const file = read(`${'!'.repeat(500)}\n`.repeat(100))
    expect('problems' in file && file.problems.length).toBe(20)
    expect('problems' in file && file.problems[0]?.message.length).toBeLessThan(150)
  })
})

describe('a MISP warninglist', () => {
  it.each<[string, string, { ranges?: string[]; names?: string[] }]>([
    [
      'cidr',
      misp('cidr', '192.0.2.0/24', '2001:db8::1'),
      { ranges: ['192.0.2.0-192.0.2.255', '2001:db8::1-2001:db8::1'] },
    ],
    [
      'hostname, whose names cover what is below',
      misp('hostname', 'example.com', '.example.net'),
      { names: ['.example.com', '.example.net'] },
    ],
    [
      'string, whose names stand for themselves',
      misp('string', 'example.com', '192.0.2.1'),
      { ranges: ['192.0.2.1-192.0.2.1'], names: ['example.com'] },
    ],
    ['no type, which is string', misp(undefined, 'example.com'), { names: ['example.com'] }],
  ])('may be of type %s', (_, content, { ranges = [], names = [] }) => {
    expect(read(content)).toEqual({ ranges, names })
    expect(read(`\uFEFF\n  ${content}`)).toEqual({ ranges, names })
  })

  it.each([
    [misp('glob', 'x'), 'is a warninglist of type "glob", which is none of cidr, hostname, string, substring, regex'],
    ['{"type":"cidr"}', 'is JSON but no MISP warninglist: it has no `list` of entries'],
    ['["192.0.2.1"]', 'is JSON but no MISP warninglist: it has no `list` of entries'],
  ])('is refused as a whole: %s', (content, message) => {
    expect(read(content)).toEqual({ problems: [{ where: 'my.list', message }] })
  })

  it('is refused when it is broken JSON, with the file named', () => {
    const file = read('{"list": [')
    expect('problems' in file && file.problems.map(({ where }) => where)).toEqual(['my.list'])
    expect('problems' in file && file.problems[0]?.message).toMatch(/^is not valid JSON: /)
  })

  it('names the place of every wrong entry where most are wrong, and goes on without a few', () => {
    expect(read(misp('cidr', '192.0.2.0/24', 'a b', ''))).toEqual({
      problems: [
        { where: 'my.list list[1]', message: 'is not an address, a range or a name: "a b"' },
        { where: 'my.list list[2]', message: 'is not an address, a range or a name: ""' },
      ],
    })
    expect(read(misp('string', 'example.com', 'a b', 'example.net', 7))).toEqual({
      ranges: [],
      names: ['example.com', 'example.net'],
    })
  })

  it.each([
    ['substring', ['EXAMPLE.c'], ['www.example.com', 'example.org'], [true, false]],
    [
      'regex',
      ['/^www\\.example\\.(com|net)$/i', 'cdn[0-9]+'],
      ['www.example.net', 'cdn7.example.org', 'example.com'],
      [true, true, false],
    ],
    ['regex', ['(a+)+$'], [`${'a'.repeat(200)}!`], [false]],
  ])('of type %s lists names by %j', (type, list, names, listed) => {
    const file = readListFile('my.list', misp(type, ...list))
    expect('patterns' in file && names.map((name) => file.patterns.some((matches) => matches(name)))).toEqual(listed)
  })
})

it('answers for any content without throwing', () => {
  const content = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.json().map((json) => `{"list":${json}}`),
  )
  fc.assert(
    fc.property(content, (text) => {
      const file = readListFile('any', text)
      expect('problems' in file || Array.isArray(file.ranges)).toBe(true)
    }),
  )
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCsv, splitRow } from '../../../src/feeds/csv.js'
import { parsed } from '../../support/feed-files.js'

describe('splitRow', () => {
  it.each<[string, string[] | undefined]>([
    ['a,b', ['a', 'b']],
    ['a, b ,', ['a', 'b', '']],
    ['"a,b","c ""d"""', ['a,b', 'c "d"']],
    ['"a", "b"', ['a', 'b']],
    ['a"b,c', ['a"b', 'c']],
    ['"a\nb",c', ['a\nb', 'c']],
    ['', ['']],
    ['"open,b', undefined],
  ])('splits %j', (row, fields) => {
    expect(splitRow(row, ',')).toEqual(fields)
  })

  it('gives back what was quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 20 }), (fields) => {
        const row = fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(',')
        expect(splitRow(row, ',')).toEqual(fields)
      }),
    )
  })
})

describe('parseCsv', () => {
  it('reads the conventional columns', () => {
    const csv =
      'value,score,category,expires,seen\n198.51.100.7,90,"scanner, botnet",2026-12-01,2026-11-01 08:00:00\nbad.example.com,,,,'
    expect(parsed(parseCsv, csv)).toEqual({
      added: [
        [
          '198.51.100.7',
          2,
          {
            score: 90,
            categories: ['scanner', ' botnet'],
            expires: Date.UTC(2026, 11, 1),
            seen: Date.UTC(2026, 10, 1, 8),
          },
        ],
        ['bad.example.com', 3, { categories: [''] }],
      ],
      junk: [],
    })
  })

  it('finds a header that stands in a comment', () => {
    const csv =
      '################\n# Our C2 list   #\n################\n#\n# "first_seen_utc","dst_ip","dst_port","malware"\n"2026-11-01 08:00:00","198.51.100.7","443","Emotet"\n# END 1 entries'
    expect(parsed(parseCsv, csv, { value: 'dst_ip', category: 'malware', seen: 'first_seen_utc' })).toEqual({
      added: [['198.51.100.7', 6, { categories: ['Emotet'], seen: Date.UTC(2026, 10, 1, 8) }]],
      junk: [],
    })
  })

  it('reads columns by number where there is no header, and other delimiters', () => {
    expect(parsed(parseCsv, 'x;198.51.100.7;50\ny;bad.example.com;60', { value: 2, score: 3 }).added).toEqual([
      ['198.51.100.7', 1, { score: 50 }],
      ['bad.example.com', 2, { score: 60 }],
    ])
    expect(parsed(parseCsv, 'ip\tscore\n198.51.100.7\t50', { value: 'IP' }).added).toEqual([
      ['198.51.100.7', 2, { score: 50 }],
    ])
  })

  it('keeps counting lines across quoted line breaks', () => {
    expect(parsed(parseCsv, 'note,value\n"two\nlines",198.51.100.7\nx,203.0.113.9').added).toEqual([
      ['198.51.100.7', 2],
      ['203.0.113.9', 4],
    ])
  })

  it('takes a row without a value for junk', () => {
    expect(parsed(parseCsv, 'note,value\nx\ny,').junk).toEqual([2, 3])
  })

  it.each<[string, string, object, object]>([
    ['no header', '198.51.100.7,1', {}, { place: 1, message: 'no header names the column "value"' }],
    ['a missing column', 'value\nx', { score: 'risk' }, { place: 1, message: 'the header names no column "risk"' }],
    ['an open quote', 'value\nx\n"y\nz', {}, { place: 3, message: 'a quoted field never ends' }],
    [
      'a quote open for too long',
      `value\n"${'y\n'.repeat(70)}`,
      {},
      { place: 2, message: 'a quoted field never ends' },
    ],
  ])('refuses %s and says where', (_, csv, columns, problem) => {
    expect(parsed(parseCsv, csv, columns).problem).toEqual(problem)
  })
})

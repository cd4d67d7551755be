import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitRow } from '../../../src/feeds/csv-rows.js'
import { parsed, valuesIn } from '../../support/feed-files.js'

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

describe('a table', () => {
  it('says more about an entry in columns that are known by name', () => {
    const csv =
      'value,score,category,expires,seen,valid_from\n198.51.100.7,90,"scanner, botnet",2026-12-01,2026-11-01 08:00:00,2026-10-01\nbad.example.com,,,,,'
    expect(parsed(csv)).toEqual({
      added: [
        [
          '198.51.100.7',
          2,
          {
            score: 90,
            categories: ['scanner', ' botnet'],
            since: Date.UTC(2026, 9, 1),
            expires: Date.UTC(2026, 11, 1),
            seen: Date.UTC(2026, 10, 1, 8),
          },
        ],
        ['bad.example.com', 3],
      ],
      skipped: [],
    })
  })

  it('may have its header in a comment', () => {
    const csv =
      '################\n# Our C2 list   #\n################\n#\n# "first_seen_utc","dst_ip","dst_port","malware"\n"2026-11-01 08:00:00","198.51.100.7","443","Emotet"\n# END 1 entries'
    expect(parsed(csv)).toEqual({
      added: [
        [
          '198.51.100.7',
          6,
          { categories: ['Emotet'], seen: Date.UTC(2026, 10, 1, 8), firstSeen: Date.UTC(2026, 10, 1, 8), port: 443 },
        ],
      ],
      skipped: [],
    })
  })

  it.each([
    ['no header', 'x;198.51.100.7;50\ny;bad.example.com;60\n'],
    ['a header nobody knows', 'no;who;much\nx;198.51.100.7;50\ny;bad.example.com;60\n'],
    ['tabs', 'IP\tscore\n198.51.100.7\t50\nbad.example.com\t60\n'],
    ['bars', 'name|ip|note\nx|198.51.100.7|a\ny|bad.example.com|b\n'],
  ])('with %s is read by the column that holds addresses and names', (_, csv) => {
    expect(valuesIn(csv)).toEqual(['198.51.100.7', 'bad.example.com'])
  })

  it('in which two columns could be meant is refused, with what to do', () => {
    const message =
      'columns 2 and 3 both hold addresses or names: put a first line above that names the one meant "value", or say it with columns: { value: 2 } of the feed'
    expect(parsed('when,src_ip,dst_ip\n1,198.51.100.7,203.0.113.9\n2,198.51.100.8,203.0.113.9\n').problem).toEqual({
      place: 1,
      message,
    })
    expect(valuesIn('when,value,dst_ip\n1,198.51.100.7,203.0.113.9\n')).toEqual(['198.51.100.7'])
  })

  it('keeps counting lines across quoted line breaks', () => {
    expect(parsed('note,value\n"two\nlines",198.51.100.7\nx,203.0.113.9').added).toEqual([
      ['198.51.100.7', 2],
      ['203.0.113.9', 4],
    ])
  })

  it('skips a row without a value, one that is revoked, and the lines of a quote that never ends', () => {
    expect(parsed('note,value\nx,198.51.100.7\ny,\nz').skipped).toEqual([3, 4])
    expect(valuesIn('value,revoked\n198.51.100.7,true\n198.51.100.8,false')).toEqual(['198.51.100.8'])
    expect(parsed('value,x\n198.51.100.7,\n"y\nz')).toMatchObject({ added: [['198.51.100.7', 2]], skipped: [3, 4] })
    expect(parsed(`value,x\n"${'y\n'.repeat(64)}`).skipped).toHaveLength(64)
  })
})

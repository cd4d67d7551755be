// `columns` of a feed: which column holds what, where the list does not say it.
import { describe, expect, it } from 'vitest'
import type { Columns } from '../../../src/feeds/feed.js'
import { parsed } from '../../support/feed-files.js'

const read = (content: string, columns: Columns): unknown => {
  const { added, skipped, problem } = parsed(content, columns)
  return problem ?? { added: added.map(([value, , details]) => [value, details ?? {}]), skipped }
}
const two = 'when,src_ip,dst_ip,dst_port\n1,198.51.100.7,203.0.113.9,443\n2,198.51.100.8,203.0.113.10,8443\n'

describe('columns', () => {
  it.each<[string, string, Columns, unknown]>([
    [
      'a list with two columns of hosts, by name',
      two,
      { value: 'dst_ip', port: 'dst_port' },
      [
        ['203.0.113.9', { port: 443 }],
        ['203.0.113.10', { port: 8443 }],
      ],
    ],
    [
      'the other of them, by number, with its header',
      two,
      { value: 2 },
      [
        ['198.51.100.7', {}],
        ['198.51.100.8', {}],
      ],
    ],
    [
      'a list without a header',
      '7;203.0.113.9;443;c2;55\n8;bad.example.com;443;c2;60\n',
      { value: 2, port: 3, category: 4, score: 5 },
      [
        ['203.0.113.9', { port: 443, categories: ['c2'], score: 55 }],
        ['bad.example.com', { port: 443, categories: ['c2'], score: 60 }],
      ],
    ],
    [
      'a header in a comment',
      '# made today\n# peer|why\n203.0.113.9|c2\n',
      { value: 'peer', category: 'why' },
      [['203.0.113.9', { categories: ['c2'] }]],
    ],
    [
      'members of JSON objects',
      '[{"client":"198.51.100.7","server":"203.0.113.9"},{"client":"198.51.100.7","server":"203.0.113.10"}]',
      { value: 'server' },
      [
        ['203.0.113.9', {}],
        ['203.0.113.10', {}],
      ],
    ],
    [
      'one JSON object a line',
      '{"client":"198.51.100.7","server":"203.0.113.9"}\n{"client":"198.51.100.7","server":"203.0.113.10"}\n',
      { value: 'server' },
      [
        ['203.0.113.9', {}],
        ['203.0.113.10', {}],
      ],
    ],
  ])('say what is meant in %s', (_, content, columns, added) => {
    expect(read(content, columns)).toEqual({ added, skipped: [] })
  })

  it('refuse a list that has no such column', () => {
    expect(read(two, { value: 'peer' })).toEqual({
      place: 1,
      message: 'has no column "peer", which the columns of the feed name',
    })
    expect(read(two, { value: 9 })).toMatchObject({ message: expect.stringContaining('number 9') as string })
  })
})

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { feedFormats, type FeedSettings } from '../../../src/feeds/feed.js'
import { findHit, sizeOf } from '../../../src/feeds/feed-index.js'
import { loadFeed, type LoadResult } from '../../../src/feeds/load-feed.js'
import { feedFile, feedSettings, folder } from '../../support/feed-files.js'

const now = Date.UTC(2026, 10, 15)
const loaded = (path: string, given: Partial<FeedSettings> = {}, documentation = true): LoadResult =>
  loadFeed({ feed: feedSettings({ path, ...given }), documentation, now, seed: 7 })
const sizes = (result: LoadResult): object => {
  if (!result.ok) return result.problem
  const { addresses, names } = sizeOf(result.index)
  return { addresses, names, skipped: result.skipped }
}
const event = (uuid: string, value: string): string =>
  JSON.stringify({ Event: { Attribute: [{ uuid, type: 'ip-dst', value, to_ids: true }] } }, null, 1)
const bundle = (value: string): string =>
  JSON.stringify(
    { type: 'bundle', objects: [{ type: 'indicator', id: 'indicator--1', pattern: `[ipv4-addr:value = '${value}']` }] },
    null,
    1,
  )

describe('loadFeed', () => {
  it.each<[string, string, string | Buffer]>([
    ['a plain list', 'feed.txt', '198.51.100.7\nbad.example.com\n'],
    ['a list that begins with brackets', 'feed.txt', '[2001:db8::7]:443\nbad.example.com\n'],
    ['a packed list, whatever its name', 'feed.txt', gzipSync('198.51.100.7\nbad.example.com\n')],
    ['CSV by its name', 'feed.csv', 'value\n198.51.100.7\nbad.example.com\n'],
    ['packed CSV by its name', 'feed.csv.gz', gzipSync('value\n198.51.100.7\nbad.example.com\n')],
    [
      'a STIX bundle by its content',
      'feed',
      `{"type": "bundle", "objects": [{"type": "indicator", "id": "x", "pattern": "[ipv4-addr:value = '198.51.100.7' OR domain-name:value = 'bad.example.com']"}]}`,
    ],
    [
      'a MISP event by its content',
      'feed',
      '{"Event": {"Attribute": [{"uuid": "x", "type": "domain|ip", "value": "bad.example.com|198.51.100.7", "to_ids": true}]}}',
    ],
  ])('knows %s', (_, name, content) => {
    expect(sizes(loaded(feedFile(content, name)))).toEqual({ addresses: 1, names: 1, skipped: 0 })
  })

  it('reads a netset by its name, where a name is junk', () => {
    const path = feedFile('bad.example.com\n', 'feed.netset')
    expect(sizes(loaded(path))).toMatchObject({ file: path, line: 1 })
  })

  it('counts CSV with a named column as such, whatever the file is called', () => {
    expect(sizes(loaded(feedFile('n,ip\n1,198.51.100.7'), { columns: { value: 'ip' } }))).toMatchObject({
      addresses: 1,
    })
  })

  it('reads a MISP feed, and only events that its manifest names', () => {
    const path = folder()
    const id = '5f6b2a4c-0000-4000-8000-000000000001'
    writeFileSync(join(path, 'manifest.json'), JSON.stringify({ [id]: {} }))
    writeFileSync(join(path, `${id}.json`), event('a', '198.51.100.7'))
    writeFileSync(join(path, 'other.json'), event('b', '198.51.100.8'))
    expect(sizes(loaded(path))).toEqual({ addresses: 1, names: 0, skipped: 0 })
  })

  const refusals: [string, string, string | Buffer, number | undefined, string][] = [
    ['a prefix wider than /8', 'f.txt', '198.51.100.7\n16.0.0.0/7\n', 2, '"16.0.0.0/7" is wider than /8'],
    ['a prefix wider than /19', 'f.txt', '# x\n2400::/18', 2, '"2400::/18" is wider than /19'],
    ['a span of more than a /8 that no single prefix of it exceeds', 'f.txt', '1.0.0.1-2.255.255.255', 1, '"1.0.0.1-2.255.255.255" is wider than /8'],
    ['a span around a private range', 'f.txt', '9.255.255.250-10.0.0.3', 1, '"9.255.255.250-10.0.0.3" lies in or around the special range 10.0.0.0/8 (private use)'],
    ['everything', 'f.netset', '0.0.0.0/0', 1, '"0.0.0.0/0" is wider than /8'],
    ['a private address', 'f.txt', '198.51.100.7\n\n10.1.2.3', 3, '"10.1.2.3" lies in or around the special range 10.0.0.0/8 (private use)'],
    ['a range around a special one', 'f.txt', '192.0.0.0/8', 1, '"192.0.0.0/8" lies in or around the special range 192.0.0.0/24 (IETF protocol assignments)'],
    ['a loopback URL', 'f.txt', 'http://127.0.0.1/x', 1, '"http://127.0.0.1/x" lies in or around the special range 127.0.0.0/8 (loopback)'],
    ['a link-local IPv6 address', 'f.txt', 'fe80::1', 1, '"fe80::1" lies in or around the special range fe80::/10 (link local)'],
    ['a public suffix', 'f.txt', 'bad.example.com\nco.uk', 2, '"co.uk" is a public suffix, not a name below one'],
    ['a top-level domain', 'f.txt', 'com', 1, '"com" is a public suffix, not a name below one'],
    ['a wildcard below a public suffix', 'f.txt', '*.com', 1, '"*.com" is a public suffix, not a name below one'],
    ['a private public suffix', 'f.txt', 'github.io', 1, '"github.io" is a public suffix, not a name below one'],
    ['a special range in CSV', 'f.csv', 'value\n"10.0.0.1"', 2, '"10.0.0.1" lies in or around the special range 10.0.0.0/8 (private use)'],
    ['a special range in STIX', 'f.json', bundle('10.0.0.1'), 6, '"10.0.0.1" lies in or around the special range 10.0.0.0/8 (private use)'],
    ['a special range in MISP', 'f.json', event('a', '10.0.0.1'), 5, '"10.0.0.1" lies in or around the special range 10.0.0.0/8 (private use)'],
    ['an error page', 'f.txt', '<html>\n<body>Forbidden</body>\n', 1, '"<html>" is no address, range or name, and so it is with 2 of its lines'],
    ['an error in one word', 'f.txt', 'Forbidden', 1, '"Forbidden" is no address, range or name, and so it is with 1 of its lines'],
    ['broken JSON', 'f.json', '{\n"objects": [}', 2, 'is not valid JSON'],
    ['other JSON', 'f.json', '{"a": 1}', 1, 'is JSON, but neither a STIX bundle nor a MISP event'],
    ['a packed file that was cut off', 'f.gz', gzipSync('198.51.100.7\n'.repeat(99)).subarray(0, 30), undefined, 'is a gzip file that was cut off'],
    ['a broken packed file', 'f.gz', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), undefined, 'is a broken gzip file'],
    ['CSV without its header', 'f.csv', '198.51.100.7\n', 1, 'no header names the column "value"'],
  ] // prettier-ignore
  it.each(refusals)('refuses %s with file and line', (_, name, content, line, message) => {
    const path = feedFile(content, name)
    const problem = line === undefined ? { file: path, message } : { file: path, line, message }
    expect(loaded(path)).toEqual({ ok: false, problem })
  })

  it('takes a prefix of exactly /8 and /19', () => {
    expect(sizes(loaded(feedFile('16.0.0.0/8\n2400::/19')))).toEqual({ addresses: 2, names: 0, skipped: 0 })
  })

  it('refuses documentation addresses unless they are wanted', () => {
    expect(sizes(loaded(feedFile('198.51.100.7'), {}, false))).toMatchObject({ line: 1 })
  })

  it('leaves bad entries out where told to, and says which was the first', () => {
    const path = feedFile('198.51.100.7\n10.1.2.3\nco.uk\nbad.example.com')
    const result = loaded(path, { onBadEntry: 'skip' })
    expect(sizes(result)).toEqual({ addresses: 1, names: 1, skipped: 2 })
    expect(result.ok && result.first).toEqual({
      file: path,
      line: 2,
      message: '"10.1.2.3" lies in or around the special range 10.0.0.0/8 (private use)',
    })
  })

  const hosts = (count: number): string => Array.from({ length: count }, (_, i) => `h${i}.example.com`).join('\n')
  it.each<[number, number, boolean]>([
    [1, 1, true],
    [1, 2, false],
    [198, 2, true],
    [197, 2, false],
    [0, 0, true],
    [0, 1, false],
  ])('given %i entries and %i junk lines: taken is %s', (entries, junk, ok) => {
    expect(loaded(feedFile(`${hosts(entries)}\n${'not a line\n'.repeat(junk)}`)).ok).toBe(ok)
  })

  it('refuses what is not there, and a directory that is no MISP feed', () => {
    const path = folder()
    mkdirSync(join(path, 'empty'))
    expect(loaded(join(path, 'gone.txt'))).toMatchObject({ ok: false, problem: { message: 'does not exist' } })
    expect(loaded(join(path, 'empty'))).toEqual({
      ok: false,
      problem: { file: join(path, 'empty', 'manifest.json'), message: 'does not exist' },
    })
    expect(loaded(join(path, 'empty'), { format: 'plain' })).toMatchObject({ problem: { message: 'is a directory' } })
  })

  it('refuses a MISP feed whose event is missing', () => {
    const path = folder()
    const id = '5f6b2a4c-0000-4000-8000-000000000001'
    writeFileSync(join(path, 'manifest.json'), JSON.stringify({ [id]: {} }))
    expect(loaded(path)).toEqual({ ok: false, problem: { file: join(path, `${id}.json`), message: 'does not exist' } })
  })

  it('lets entries expire after the file was written, and no file be of the future', () => {
    const result = loaded(feedFile('198.51.100.7'), { expiresDays: 2 })
    const hit = result.ok ? findHit(result.index, { address: [0xc6336407], width: 1, text: '' }, 0) : undefined
    expect(result.ok && result.modified).toBeLessThanOrEqual(now)
    expect(hit?.expires).toBe(result.ok && Math.floor(result.modified / 1000) * 1000 + 2 * 86_400_000)
  })

  it.each(feedFormats)('never throws on any bytes, read as %s', (format) => {
    const words = ['198.51.100.7', '2001:db8::/32', 'bad.example.com', '{"type":"bundle","objects":[', '{"Event":{"Attribute":[', '"', ',', '\n', ']}', 'null', '#', '[', "'", 'value\n'] // prettier-ignore
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array)),
      fc.array(fc.constantFrom(...words), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
    )
    const path = feedFile('')
    fc.assert(
      fc.property(bytes, (content) => {
        writeFileSync(path, content)
        const result = loaded(path, { format })
        expect(result.ok || result.problem.file === path).toBe(true)
      }),
    )
  })
})

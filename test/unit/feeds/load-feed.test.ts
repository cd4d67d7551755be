import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { skippedIn, type Skipped } from '../../../src/domain/skipped.js'
import type { FeedSettings } from '../../../src/feeds/feed.js'
import { findHit, sizeOf } from '../../../src/feeds/feed-index.js'
import { loadFeed, type LoadResult } from '../../../src/feeds/load-feed.js'
import { feedFile, feedSettings, folder } from '../../support/feed-files.js'

const now = Date.UTC(2026, 10, 15)
const loaded = (path: string, given: Partial<FeedSettings> = {}): LoadResult =>
  loadFeed({ feed: feedSettings({ path, ...given }), now, seed: 7 })
const sizes = (result: LoadResult): object => {
  if (!result.ok) return result.problem
  const { addresses, names } = sizeOf(result.index)
  return { addresses, names, skipped: skippedIn(result.skipped) }
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
    ['a list that begins with brackets', 'feed.txt', '[2001:db8::7]\nbad.example.com\n'],
    ['a packed list, whatever its name', 'feed.txt', gzipSync('198.51.100.7\nbad.example.com\n')],
    ['a table', 'feed.csv', 'value\n198.51.100.7\nbad.example.com\n'],
    ['a packed table', 'feed.csv.gz', gzipSync('value\n198.51.100.7\nbad.example.com\n')],
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

  const utf16 = Buffer.from('\ufeff# Liste\r\n198.51.100.7\r\nbad.example.com\r\n', 'utf16le')
  it.each<[string, Buffer]>([
    ['with a mark', utf16],
    ['big-endian', Buffer.from(utf16).swap16()],
    ['without a mark', utf16.subarray(2)],
    ['packed', gzipSync(utf16)],
  ])('reads a list in UTF-16, %s', (_, content) => {
    expect(sizes(loaded(feedFile(content)))).toEqual({ addresses: 1, names: 1, skipped: 0 })
  })

  it('reads a MISP feed, and only events that its manifest names', () => {
    const path = folder()
    const id = '5f6b2a4c-0000-4000-8000-000000000001'
    writeFileSync(join(path, 'manifest.json'), JSON.stringify({ [id]: {} }))
    writeFileSync(join(path, `${id}.json`), event('a', '198.51.100.7'))
    writeFileSync(join(path, 'other.json'), event('b', '198.51.100.8'))
    expect(sizes(loaded(path))).toEqual({ addresses: 1, names: 0, skipped: 0 })
  })

  const good = '198.51.100.7\nbad.example.com\n'
  const broad: [string, string, string, number, string][] = [
    ['a prefix wider than /8', 'f.txt', `${good}16.0.0.0/7\n`, 3, '"16.0.0.0/7" is wider than /8'],
    ['a prefix wider than /19', 'f.txt', `${good}# x\n2400::/18`, 4, '"2400::/18" is wider than /19'],
    ['a span of more than a /8 that no single prefix of it exceeds', 'f.txt', `${good}1.0.0.1-2.255.255.255`, 3, '"1.0.0.1-2.255.255.255" is wider than /8'],
    ['a span around a private range', 'f.txt', `${good}9.255.255.250-10.0.0.3`, 3, '"9.255.255.250-10.0.0.3" lies in or around the special range 10.0.0.0/8 (private use)'],
    ['everything', 'f.netset', `${good}0.0.0.0/0`, 3, '"0.0.0.0/0" is wider than /8'],
    ['a private address', 'f.txt', `${good}\n10.1.2.3`, 4, '"10.1.2.3" lies in or around the special range 10.0.0.0/8 (private use)'],
    ['a range around a special one', 'f.txt', `${good}192.0.0.0/8`, 3, '"192.0.0.0/8" lies in or around the special range 192.0.0.0/24 (IETF protocol assignments)'],
    ['a loopback URL', 'f.txt', `${good}http://127.0.0.1/x`, 3, '"http://127.0.0.1/x" lies in or around the special range 127.0.0.0/8 (loopback)'],
    ['a link-local IPv6 address', 'f.txt', `${good}fe80::1`, 3, '"fe80::1" lies in or around the special range fe80::/10 (link local)'],
    ['a public suffix', 'f.txt', `${good}co.uk`, 3, '"co.uk" is a public suffix, not a name below one'],
    ['a top-level domain', 'f.txt', `${good}com`, 3, '"com" is a public suffix, not a name below one'],
    ['a wildcard below a public suffix', 'f.txt', `${good}*.com`, 3, '"*.com" is a public suffix, not a name below one'],
    ['a private public suffix', 'f.txt', `${good}github.io`, 3, '"github.io" is a public suffix, not a name below one'],
    ['a special range in a table', 'f.csv', `value\n${good}"10.0.0.1"`, 4, '"10.0.0.1" lies in or around the special range 10.0.0.0/8 (private use)'],
    ['a special range in STIX', 'f.json', bundle("10.0.0.1' OR domain-name:value = 'bad.example.com' OR ipv4-addr:value = '198.51.100.7"), 6, '"10.0.0.1" lies in or around the special range 10.0.0.0/8 (private use)'],
  ] // prettier-ignore
  it.each(broad)('takes everything but %s, and says which line', (_, name, content, line, message) => {
    const path = feedFile(content, name)
    const result = loaded(path)
    expect(sizes(result)).toEqual({ addresses: 1, names: 1, skipped: 1 })
    expect(result).toMatchObject({ skipped: { too_broad: 1 }, examples: [{ file: path, line, message }] })
  })

  const check = 'check that this is the list you mean'
  const refusals: [string, string, string | Buffer, number | undefined, string][] = [
    ['an error page', 'f.txt', '<html>\n<body>Forbidden</body>\n', 1, 'is a web page (HTML or XML), not a list: the address it came from answered with an error or a login page'],
    ['an error in one word', 'f.txt', 'Forbidden', 1, `"Forbidden" is no address, range, name or URL; none of 1 lines can be used: ${check}`],
    ['a list of which nothing can be used', 'f.txt', '10.0.0.1\nco.uk', 1, `"10.0.0.1" lies in or around the special range 10.0.0.0/8 (private use); none of 2 lines can be used: ${check}`],
    ['a special range in MISP', 'f.json', event('a', '10.0.0.1'), 5, `"10.0.0.1" lies in or around the special range 10.0.0.0/8 (private use); none of 1 lines can be used: ${check}`],
    ['broken JSON', 'f.json', '{\n"objects": [}', 2, 'is not valid JSON'],
    ['other JSON', 'f.json', '{"a": 1}', 1, 'is JSON in which no address, name or URL is found: no STIX, no MISP, no list of entries'],
    ['a packed file that was cut off', 'f.gz', gzipSync('198.51.100.7\n'.repeat(99)).subarray(0, 30), undefined, 'is a gzip file that was cut off'],
    ['a broken packed file', 'f.gz', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), undefined, 'is a broken gzip file'],
  ] // prettier-ignore
  it.each(refusals)('refuses %s with file and line', (_, name, content, line, message) => {
    const path = feedFile(content, name)
    const problem = line === undefined ? { file: path, message } : { file: path, line, message }
    expect(loaded(path)).toEqual({ ok: false, problem })
  })

  it('takes a prefix of exactly /8 and /19, and documentation addresses', () => {
    expect(sizes(loaded(feedFile('16.0.0.0/8\n2400::/19\n192.0.2.1')))).toEqual({ addresses: 3, names: 0, skipped: 0 })
  })

  it('refuses a fetched list without a byte, and takes an empty file', () => {
    const path = feedFile('\n\n')
    expect(loaded(path, { url: 'https://lists.example.net/' })).toEqual({
      ok: false,
      problem: { file: path, message: 'is empty' },
    })
    expect(sizes(loaded(path))).toEqual({ addresses: 0, names: 0, skipped: 0 })
  })

  it('takes a list that says that it holds nothing at present', () => {
    expect(sizes(loaded(feedFile('# 0 entries\n')))).toEqual({ addresses: 0, names: 0, skipped: 0 })
  })

  it('shows the first three of what it skipped, too broad ones first, and counts hashes and paths apart', () => {
    const path = feedFile(
      '198.51.100.7\nno entry at all\n10.1.2.3\nco.uk\n/gate.php\nd41d8cd98f00b204e9800998ecf8427e\n10.1.2.4\nx.example.com\n10.1.2.5\n',
    )
    const result = loaded(path)
    expect(result).toMatchObject({
      skipped: { unusable: 1, too_broad: 4, not_looked_up: 2 },
      examples: [
        { file: path, line: 3 },
        { file: path, line: 4 },
        { file: path, line: 7 },
      ],
    })
  })

  /** What is in the file, counted by hand, and what of it is no entry. */
  const counted: [string, string, number, Skipped][] = [
    ['lines', '# a\n\n198.51.100.7\n198.51.100.7\nbad.example.com\n10.0.0.1\n/gate.php\nd41d8cd98f00b204e9800998ecf8427e\na@example.com\nno entry\n@@||good.example.com^\n', 9, { duplicate: 1, too_broad: 1, not_looked_up: 3, unusable: 1, harmless: 1 }],
    ['names of a hosts file', '127.0.0.1 localhost\n0.0.0.0 a.example.com b.example.com\n0.0.0.0 a.example.com\n', 3, { duplicate: 1 }],
    ['prefixes of spans', '198.51.100.7-198.51.100.9\n203.0.113.0-203.0.113.255\n', 3, {}],
    ['rows of a table', 'value,score,revoked,valid_until\n198.51.100.7,80,,\n198.51.100.8,10,,\nbad.example.com,90,true,\nbad.example.net,90,,2026-11-01\n,90,,\nlast.example.com,,,\n', 6, { low_score: 1, revoked: 1, expired: 1, unusable: 1 }],
    ['objects of a list', '[{"ip": "198.51.100.7"}, {"ip": "198.51.100.7"}, {"ip": ""}, "bad.example.com", 7, null]', 6, { duplicate: 1, unusable: 3 }],
    ['objects, one a line', '{"cidr":"198.51.100.0/24"}\n{"cidr":"203.0.113.0/24"}\n{"x":1}\n{"type":"metadata"}\n', 3, { unusable: 1 }],
    ['records of a zone', '$TTL 30\n@ SOA a.example.org. b.example.org. 1 2 3 4 5\n NS localhost.\nbad.example.com CNAME .\n*.bad.example.com CNAME .\ngood.example.com CNAME rpz-passthru.\n32.7.100.51.198.rpz-client-ip CNAME .\nx.example.com CNAME .\n', 5, { duplicate: 1, harmless: 1, not_looked_up: 1 }],
    ['attributes of MISP', JSON.stringify({ Event: { Attribute: [{ uuid: 'a', type: 'domain|ip', value: 'bad.example.com|198.51.100.7', to_ids: true }, { uuid: 'b', type: 'md5', value: 'x', to_ids: true }, { uuid: 'c', type: 'ip-dst', value: '198.51.100.8', to_ids: false }, { uuid: 'd', type: 'url', value: 'x', to_ids: true, deleted: true }] } }), 5, { not_looked_up: 1, not_for_detection: 1, revoked: 1 }],
    ['values and patterns of STIX', JSON.stringify({ type: 'bundle', objects: [{ type: 'identity' }, ...["[ipv4-addr:value IN ('198.51.100.7', '198.51.100.8')]", "[ipv4-addr:value = '198.51.100.7'", "[file:name = 'x' OR ipv4-addr:value = '10.0.0.1']", "[domain-name:value LIKE 'x%']"].map((pattern) => ({ type: 'indicator', pattern }))] }), 6, { broken: 1, not_looked_up: 1, too_broad: 1, inexact: 1 }],
  ] // prettier-ignore
  it.each(counted)('counts all %s: an entry, or skipped for a reason', (_, content, total, skipped) => {
    const result = loaded(feedFile(content), { minScore: 50 })
    if (!result.ok) throw new Error(result.problem.message)
    const { addresses, names } = sizeOf(result.index)
    expect(result.skipped).toEqual(skipped)
    expect(addresses + names + skippedIn(result.skipped)).toBe(total)
  })

  it.each<[string, string, Skipped, string]>([
    ['paths', '/gate.php\n', { not_looked_up: 1 }, '"/gate.php" is a path without a host'],
    ['file hashes', 'd41d8cd98f00b204e9800998ecf8427e\n', { not_looked_up: 1 }, '"d41d8cd98f00b204e9800998ecf8427e" is a file hash'],
    ['combined patterns', bundle("198.51.100.7' AND file:name = 'x"), { combined: 1 }, `"[ipv4-addr:value = '198.51.100.7' AND file:name = 'x']" is skipped (combined): a pattern with several conditions`],
  ])('takes a list of %s alone as empty, and says what it holds', (_, content, skipped, message) => {
    const path = feedFile(content)
    expect(loaded(path)).toMatchObject({ ok: true, skipped, examples: [{ file: path, message }] })
  }) // prettier-ignore

  const hosts = (count: number): string => Array.from({ length: count }, (_, i) => `h${i}.example.com`).join('\n')
  it.each<[number, number, boolean]>([
    [1, 1, true],
    [1, 2, false],
    [10, 10, true],
    [10, 11, false],
    [0, 1, false],
  ])('given %i entries and %i unusable lines: taken is %s', (entries, unusable, ok) => {
    expect(loaded(feedFile(`${hosts(entries)}\n${'not a line\n'.repeat(unusable)}`)).ok).toBe(ok)
  })

  it('refuses what is not there, and a directory that is no MISP feed', () => {
    const path = folder()
    mkdirSync(join(path, 'empty'))
    expect(loaded(join(path, 'gone.txt'))).toMatchObject({ ok: false, problem: { message: 'does not exist' } })
    expect(loaded(join(path, 'empty'))).toEqual({
      ok: false,
      problem: { file: join(path, 'empty', 'manifest.json'), message: 'does not exist' },
    })
  })

  it('refuses a MISP feed whose event is missing', () => {
    const path = folder()
    const id = '5f6b2a4c-0000-4000-8000-000000000001'
    writeFileSync(join(path, 'manifest.json'), JSON.stringify({ [id]: {} }))
    expect(loaded(path)).toEqual({ ok: false, problem: { file: join(path, `${id}.json`), message: 'does not exist' } })
  })

  it('lets entries expire after the file was written, and no file be of the future', () => {
    const result = loaded(feedFile('198.51.100.7'), { expiresDays: 2 })
    const hit = result.ok ? findHit(result.index, { address: [0xc6336407], width: 1, text: '', port: 0 }, 0) : undefined
    expect(result.ok && result.modified).toBeLessThanOrEqual(now)
    expect(hit?.expires).toBe(result.ok && Math.floor(result.modified / 1000) * 1000 + 2 * 86_400_000)
  })

  it('never throws on any bytes', () => {
    const words = ['198.51.100.7', '2001:db8::/32', 'bad.example.com', '{"type":"bundle","objects":[', '{"Event":{"Attribute":[', '"', ',', '\n', ']}', 'null', '#', '[', "'", 'value\n', ';', '\t', '$TTL 1\n', 'a SOA ', 'CNAME .', 'address=/', '||', '^', '0.0.0.0 ', '{"cidr":"'] // prettier-ignore
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array)),
      fc.array(fc.constantFrom(...words), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
    )
    const path = feedFile('')
    fc.assert(
      fc.property(bytes, (content) => {
        writeFileSync(path, content)
        const result = loaded(path)
        expect(result.ok || result.problem.file === path).toBe(true)
      }),
    )
  })
})

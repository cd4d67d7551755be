import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Indicator } from '../../../src/domain/indicator.js'
import type { FeedSettings } from '../../../src/feeds/feed.js'
import type { FeedIndex } from '../../../src/feeds/feed-index.js'
import { loadFeed } from '../../../src/feeds/load-feed.js'
import { openFeeds, type Feeds } from '../../../src/feeds/open-feeds.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { createFakeClock, type FakeClock } from '../../support/clock.js'
import { feedFile, feedSettings, folder } from '../../support/feed-files.js'

const ip = (value: string): Indicator => ({ type: 'ip', value })
const domain = (value: string): Indicator => ({ type: 'domain', value })
const pollMs = 1000
const start = Date.UTC(2026, 10, 15)

type Opened = { feeds: Feeds; clock: FakeClock; told: TelemetryEvent[]; poll: () => Promise<void> }

const open = async (...settings: FeedSettings[]): Promise<Opened> => {
  const clock = createFakeClock(start)
  const told: TelemetryEvent[] = []
  const emit = (event: TelemetryEvent): void => void told.push(event)
  const feeds = await openFeeds(settings, { clock, emit, pollMs, random: () => 0.5 })
  onTestFinished(() => feeds.close())
  const poll = async (): Promise<void> => {
    await clock.advance(pollMs)
    while (clock.timers() === 0) await new Promise((resolve) => setImmediate(resolve)) // files are read for real
  }
  return { feeds, clock, told, poll }
}
const entriesOf = (feeds: Feeds, ...values: string[]): (string | undefined)[] =>
  values.map((value) => feeds.match(ip(value))?.facts.listings?.[0]?.entry)
const names = (told: readonly TelemetryEvent[]): string[] => told.map(({ event }) => event)

describe('match', () => {
  it('says which feed and which entry, and when the feed was written', async () => {
    const path = feedFile('198.51.100.0/24\nbad.example.com')
    utimesSync(path, 1_700_000_000, 1_700_000_000)
    const { feeds } = await open(feedSettings({ path, score: 80, categories: ['botnet'] }))
    expect(feeds.match(domain('www.bad.example.com'))).toEqual({
      status: 'known',
      source: 'feed:ours',
      at: 1_700_000_000_000,
      facts: {
        flags: {},
        categories: [],
        listings: [
          {
            feed: 'ours',
            entry: 'bad.example.com',
            level: 'malicious',
            score: 80,
            categories: ['botnet'],
            copyAt: 1_700_000_000_000,
          },
        ],
      },
    })
    expect(entriesOf(feeds, '198.51.100.7', '203.0.113.7')).toEqual(['198.51.100.0/24', undefined])
    expect(feeds.match(ip('no address'))).toBeUndefined()
  })

  it('names the worst of several feeds and lists them all', async () => {
    const { feeds } = await open(
      feedSettings({ name: 'a', path: feedFile('198.51.100.7'), level: 'suspicious', score: 99, categories: ['x'] }),
      feedSettings({ name: 'b', path: feedFile('198.51.100.0/24'), level: 'malicious', score: 10, categories: ['y'] }),
      feedSettings({ name: 'c', path: feedFile('198.51.100.0/25'), level: 'malicious', score: 20, categories: ['x'] }),
      feedSettings({ name: 'd', path: feedFile('203.0.113.7') }),
    )
    const known = feeds.match(ip('198.51.100.7'))
    expect([
      known?.source,
      known?.facts.listings?.map(({ categories }) => categories),
      known?.facts.listings?.map(({ feed, entry }) => [feed, entry]),
    ]).toEqual([
      'feed:c',
      [['x'], ['y'], ['x']],
      [
        ['a', '198.51.100.7'],
        ['b', '198.51.100.0/24'],
        ['c', '198.51.100.0/25'],
      ],
    ])
  })

  it('does not match an entry that has expired', async () => {
    const path = feedFile(`value,expires\n198.51.100.7,2026-11-15T00:00:10Z`, 'feed.csv')
    const { feeds, clock } = await open(feedSettings({ path }))
    expect(feeds.match(ip('198.51.100.7'), start + 9999)?.facts.listings?.[0]?.expires).toBe(start + 10_000)
    expect(feeds.match(ip('198.51.100.7'), start + 10_000)).toBeUndefined()
    await clock.advance(10_000)
    expect(feeds.match(ip('198.51.100.7'))).toBeUndefined()
  })
})

describe('a STIX indicator whose valid_from is in the future', () => {
  const indicator = (pattern: string, from: number): object => ({
    type: 'indicator',
    id: `indicator--${from}`,
    pattern_type: 'stix',
    pattern,
    valid_from: new Date(from).toISOString(),
  })

  it.each<[string, Indicator]>([
    ["[ipv4-addr:value = '198.51.100.7']", ip('198.51.100.7')],
    ["[ipv6-addr:value = '2001:db8::7']", ip('2001:db8::7')],
    ["[domain-name:value = 'bad.example.com']", domain('bad.example.com')],
    ["[url:value = 'https://bad.example.com/a']", domain('bad.example.com')],
  ])('counts from then on and not before: %s', async (pattern, indicatorOf) => {
    const bundle = { type: 'bundle', objects: [indicator(pattern, start + 60_000)] }
    const { feeds } = await open(feedSettings({ path: feedFile(JSON.stringify(bundle), 'feed.json') }))
    expect(feeds.match(indicatorOf, start)).toBeUndefined()
    expect(feeds.match(indicatorOf, start + 59_999)).toBeUndefined()
    expect(feeds.match(indicatorOf, start + 60_000)?.status).toBe('known')
  })

  it('does not postpone another indicator that accuses the same value already', async () => {
    const pattern = "[ipv4-addr:value = '198.51.100.7']"
    const bundle = { type: 'bundle', objects: [indicator(pattern, start + 60_000), indicator(pattern, start - 60_000)] }
    const { feeds } = await open(feedSettings({ path: feedFile(JSON.stringify(bundle), 'feed.json') }))
    expect(feeds.match(ip('198.51.100.7'), start)?.status).toBe('known')
  })
})

describe('a host under a wildcard public suffix', () => {
  it('is listed as the host it is, without what is below it', async () => {
    const host = 'ec2-203-0-113-7.compute-1.amazonaws.com'
    const { feeds } = await open(feedSettings({ path: feedFile(`${host}\nus-west-2.compute.amazonaws.com`) }))
    expect(feeds.status()).toMatchObject([{ state: 'loaded', names: 2 }])
    const listed = ['malicious', undefined, 'malicious', undefined]
    const names = [
      host,
      'ec2-203-0-113-8.compute-1.amazonaws.com',
      'us-west-2.compute.amazonaws.com',
      'ec2-203-0-113-9.us-west-2.compute.amazonaws.com',
    ]
    expect(names.map((name) => feeds.match(domain(name))?.facts.listings?.[0]?.level)).toEqual(listed)
  })

  it.each(['com.bd', 'github.io', 'co.uk', 's3.amazonaws.com'])(
    'is not what a suffix is: %s stays refused',
    async (suffix) => {
      const { feeds } = await open(feedSettings({ path: feedFile(suffix) }))
      expect(feeds.status()).toMatchObject([{ state: 'refused' }])
    },
  )
})

describe('watching', () => {
  const list = (...last: number[]): string => last.map((n) => `198.51.100.${n}\n`).join('')

  it.each<[string, (path: string) => void]>([
    ['was rewritten', (path) => writeFileSync(path, list(2, 3))],
    [
      'was replaced by rename',
      (path) => {
        writeFileSync(`${path}.new`, list(2, 3))
        renameSync(`${path}.new`, path)
      },
    ],
  ])('swaps a feed whose file %s, once it has stood still for one look', async (_, change) => {
    const path = feedFile(list(1, 2))
    const { feeds, told, poll } = await open(feedSettings({ path }))
    await poll()
    change(path)
    await poll()
    expect(entriesOf(feeds, '198.51.100.1', '198.51.100.3')).toEqual(['198.51.100.1', undefined])
    await poll()
    expect(entriesOf(feeds, '198.51.100.1', '198.51.100.3')).toEqual([undefined, '198.51.100.3'])
    await poll()
    expect(names(told)).toEqual(['feed_loaded', 'feed_loaded'])
  })

  it('swaps a feed when a link on the way to it points elsewhere, as in a mounted ConfigMap', async () => {
    const root = folder()
    for (const [version, content] of [
      ['..1', list(1, 2)],
      ['..2', list(2, 3)],
    ] as const) {
      mkdirSync(join(root, version))
      writeFileSync(join(root, version, 'feed.txt'), content)
      utimesSync(join(root, version, 'feed.txt'), 1_700_000_000, 1_700_000_000)
    }
    symlinkSync('..1', join(root, '..data'))
    symlinkSync(join('..data', 'feed.txt'), join(root, 'feed.txt'))
    const { feeds, poll } = await open(feedSettings({ path: join(root, 'feed.txt') }))
    symlinkSync('..2', join(root, '..data_tmp'))
    renameSync(join(root, '..data_tmp'), join(root, '..data'))
    await poll()
    await poll()
    expect(entriesOf(feeds, '198.51.100.1', '198.51.100.3')).toEqual([undefined, '198.51.100.3'])
  })

  it('swaps a MISP feed when its manifest changes', async () => {
    const root = folder()
    const ids = [1, 2].map((n) => `5f6b2a4c-0000-4000-8000-00000000000${n}`)
    const write = (...present: string[]): void => {
      for (const [n, id] of ids.entries())
        writeFileSync(
          join(root, `${id}.json`),
          JSON.stringify({ Event: { Attribute: [{ type: 'ip-dst', value: `198.51.100.${n + 1}`, to_ids: true }] } }),
        )
      writeFileSync(join(root, 'manifest.json'), JSON.stringify(Object.fromEntries(present.map((id) => [id, {}]))))
    }
    write(ids[0]!)
    const { feeds, poll } = await open(feedSettings({ path: root }))
    write(...ids)
    await poll()
    await poll()
    expect(entriesOf(feeds, '198.51.100.1', '198.51.100.2')).toEqual(['198.51.100.1', '198.51.100.2'])
  })

  it.each<[string, string, number | undefined, string]>([
    [
      'is a web page',
      '<html>\nno</html>',
      1,
      'is a web page (HTML or XML), not a list: the address it came from answered with an error or a login page',
    ],
    [
      'is mostly something else',
      `${list(1, 2)}this\nis no\nlist\n`,
      3,
      '"this" is no address, range, name or URL; 3 of 5 lines are like this: check that this is the list you mean',
    ],
  ])('keeps the old feed when the new one %s, says so once, and recovers', async (_, content, line, message) => {
    const path = feedFile(list(1, 2, 3, 4))
    const { feeds, told, poll } = await open(feedSettings({ path }))
    writeFileSync(path, content)
    for (let i = 0; i < 4; i++) await poll()
    const problem = { file: path, ...(line !== undefined && { line }), message }
    expect(told.slice(1)).toEqual([{ event: 'feed_refused', feed: 'ours', kept: true, ...problem }])
    expect(feeds.status()).toMatchObject([{ name: 'ours', state: 'kept', addresses: 4, problem }])
    expect(entriesOf(feeds, '198.51.100.4')).toEqual(['198.51.100.4'])
    writeFileSync(path, list(1, 5))
    await poll()
    await poll()
    expect(feeds.status()).toMatchObject([{ state: 'loaded', addresses: 2 }])
    expect(entriesOf(feeds, '198.51.100.5')).toEqual(['198.51.100.5'])
  })

  it.each([
    ['one entry', list(9), 'loaded', 1],
    ['a comment', '# none at present\n', 'empty', 0],
    ['nothing', '', 'empty', 0],
    ['blank lines', '\n\r\n', 'empty', 0],
  ])('takes a file that shrank to %s as its owner left it', async (_, content, state, addresses) => {
    const path = feedFile(list(...Array.from({ length: 200 }, (__, n) => n)))
    const { feeds, poll } = await open(feedSettings({ path }))
    writeFileSync(path, content)
    for (let i = 0; i < 3; i++) await poll()
    expect(feeds.status()).toMatchObject([{ state, addresses }])
  })

  it('keeps a feed whose file is gone, and takes it up when it is back', async () => {
    const path = feedFile(list(1))
    const { feeds, told, poll } = await open(feedSettings({ path }))
    rmSync(path)
    for (let i = 0; i < 3; i++) await poll()
    expect(told.slice(1)).toEqual([
      { event: 'feed_refused', feed: 'ours', kept: true, file: path, message: 'does not exist' },
    ])
    expect(entriesOf(feeds, '198.51.100.1')).toEqual(['198.51.100.1'])
    writeFileSync(path, list(2))
    await poll()
    await poll()
    expect(entriesOf(feeds, '198.51.100.2')).toEqual(['198.51.100.2'])
  })

  it('has nothing in use of a feed that was refused at the start, and says so', async () => {
    const path = feedFile('10.0.0.1')
    const other = feedFile('198.51.100.7')
    const { feeds, told, poll } = await open(feedSettings({ path }), feedSettings({ name: 'other', path: other }))
    expect(told[0]).toMatchObject({ event: 'feed_refused', feed: 'ours', kept: false, file: path, line: 1 })
    expect(feeds.status()).toMatchObject([
      { name: 'ours', state: 'refused', addresses: 0, problem: { file: path, line: 1 } },
      { name: 'other', state: 'loaded', addresses: 1 },
    ])
    writeFileSync(path, '198.51.100.9')
    await poll()
    await poll()
    expect(entriesOf(feeds, '198.51.100.9')).toEqual(['198.51.100.9'])
  })

  it('uses a feed without an entry, which keeps nobody from being clean, and warns', async () => {
    const path = feedFile('/gate.php\n')
    const { feeds, told } = await open(feedSettings({ path }))
    expect(feeds.isMissing()).toBe(false)
    expect(feeds.status()).toMatchObject([{ state: 'empty', addresses: 0, names: 0, skipped: { not_looked_up: 1 } }])
    expect(told).toMatchObject([
      { event: 'feed_loaded', feed: 'ours', skipped: { not_looked_up: 1 } },
      { event: 'feed_empty', feed: 'ours', message: expect.stringContaining('is a path without a host') as string },
    ])
  })

  it.each([
    ['2026-08-18', []],
    ['2026-08-16', ['feed_stale']],
  ])('warns of a list whose newest entry is months old: %s', async (date, warnings) => {
    const path = feedFile(`value,last_seen\n198.51.100.1,2026-01-01\n198.51.100.2,${date}\n`)
    const { feeds, told } = await open(feedSettings({ path }))
    expect(names(told).slice(1)).toEqual(warnings)
    expect(feeds.status()).toMatchObject([{ newestEntry: Date.parse(date) }])
  })

  it('takes entries that expired since for what they are, not for lost', async () => {
    const path = feedFile(
      'value,valid_until\n198.51.100.1,2100-01-01\n198.51.100.2,2100-01-01\n198.51.100.3,2100-01-01\n',
    )
    const { feeds, poll } = await open(feedSettings({ path }))
    writeFileSync(
      path,
      'value,valid_until\n198.51.100.1,1999-01-01\n198.51.100.2,1999-01-01\n198.51.100.3,2100-01-01\n',
    )
    await poll()
    await poll()
    expect(feeds.status()).toMatchObject([{ state: 'loaded', addresses: 1, skipped: { expired: 2 } }])
  })

  it('reads everything again at once when told to', async () => {
    const path = feedFile(list(1, 2))
    const { feeds } = await open(feedSettings({ path }))
    writeFileSync(path, list(3))
    await feeds.reload()
    expect(entriesOf(feeds, '198.51.100.3')).toEqual(['198.51.100.3'])
  })

  it('looks at nothing any more once it is closed', async () => {
    const { feeds, clock } = await open(feedSettings({ path: feedFile(list(1)) }))
    await feeds.close()
    expect(clock.timers()).toBe(0)
    expect(entriesOf(feeds, '198.51.100.1')).toEqual(['198.51.100.1'])
  })

  it('refuses a second feed of the same name', async () => {
    const path = feedFile(list(1))
    const { feeds } = await open(feedSettings({ path }), feedSettings({ path }))
    expect(feeds.status()).toMatchObject([
      { state: 'loaded' },
      { state: 'refused', problem: { file: path, message: 'another feed is named ours' } },
    ])
  })
})

it('gives the memory of the former index back at the swap', async () => {
  const indexes: FeedIndex[] = []
  const feeds = await openFeeds([feedSettings({ path: feedFile('198.51.100.7\nbad.example.com') })], {
    pollMs: 0,
    load: (request) => {
      const result = loadFeed(request)
      if (result.ok) indexes.push(result.index)
      return Promise.resolve(result)
    },
  })
  onTestFinished(() => feeds.close())
  await feeds.reload()
  expect(indexes.map(({ four, names }) => [four.starts.length, names.text.length])).toEqual([
    [0, 0],
    [1, 15],
  ])
  expect(entriesOf(feeds, '198.51.100.7')).toEqual(['198.51.100.7'])
})

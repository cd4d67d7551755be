// Feeds that are fetched from a real server: what is asked, what is kept when it goes wrong, and that the key goes nowhere else.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { FeedSettings } from '../../../src/feeds/feed.js'
import { openFeeds, type Feeds } from '../../../src/feeds/open-feeds.js'
import { unzip } from '../../../src/feeds/zip.js'
import { createEnricher } from '../../../src/index.js'
import { createDownload } from '../../../src/provider/download.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { wordings } from '../../../src/telemetry/wording.js'
import { createFakeClock } from '../../support/clock.js'
import { folder } from '../../support/feed-files.js'
import { listOf, startListServer, type ListServer } from '../../support/list-server.js'
import { untilFetched } from '../../support/paged-feed.js'

const hour = 3_600_000
const secret = 'key-that-appears-nowhere'
const good = '198.51.100.1\n198.51.100.2\n198.51.100.3\n198.51.100.4\n'

const zip = (body: Buffer, size = body.length): Buffer => {
  const packed = deflateRawSync(body)
  const name = Buffer.from('list.txt')
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(8, 8)
  local.writeUInt16LE(name.length, 26)
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(8, 10)
  entry.writeUInt32LE(packed.length, 20)
  entry.writeUInt32LE(size, 24)
  entry.writeUInt16LE(name.length, 28)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(30 + name.length + packed.length, 16)
  return Buffer.concat([local, name, packed, entry, name, end])
}

type Opened = {
  feeds: Feeds
  told: TelemetryEvent[]
  /** Until the time has passed, and whatever is fetched then is done. */
  later: (ms: number) => Promise<void>
}

const open = async (at: string, given: Partial<FeedSettings> & { url: string }): Promise<Opened> => {
  const clock = createFakeClock()
  const told: TelemetryEvent[] = []
  const feeds = await openFeeds([{ name: 'ours', level: 'malicious', categories: [], ...given }], {
    clock,
    emit: (event) => void told.push(event),
    pollMs: 1000,
    random: () => 0.5,
    fetching: { folder: at, download: createDownload({}, { silenceMs: 300, connectMs: 2000 }) },
  })
  onTestFinished(() => feeds.close())
  return { feeds, told, later: untilFetched(feeds, clock) }
}
const headers = (): string => {
  const file = join(folder(), 'headers')
  writeFileSync(file, `# for the list\nAuthorization: Bearer ${secret}\n`)
  return file
}
const isListed = (feeds: Feeds, value = '198.51.100.4'): boolean => feeds.match({ type: 'ip', value }) !== undefined
const said = (told: readonly TelemetryEvent[]): string =>
  JSON.stringify(told) + told.map((event) => wordings[event.event].say(event as never)).join('\n')

describe('a feed with a URL', () => {
  it('is fetched with its headers, and once it has not changed no body moves', async () => {
    const server = await startListServer(listOf(good))
    const { feeds, told, later } = await open(folder(), { url: `${server.url}/a?b=c`, headersFile: headers() })
    expect(isListed(feeds)).toBe(true)
    expect(server.asked.map(({ url, headers: { authorization } }) => [url, authorization])).toEqual([
      ['/a?b=c', `Bearer ${secret}`],
    ])
    const sent = server.sent()
    await later(1.2 * hour)
    expect(server.asked.map(({ headers: h }) => [h['if-none-match'], h['if-modified-since']])).toEqual([
      [undefined, undefined],
      ['"1"', 'Sun, 15 Nov 2026 08:00:00 GMT'],
    ])
    expect(server.sent()).toBe(sent)
    expect(told.filter(({ event }) => event === 'feed_loaded')).toHaveLength(1)
    expect(feeds.status()).toMatchObject([{ state: 'loaded', fetch: { fetches: 2, failures: 0 } }])
  })

  it.each([
    ['gzip', gzipSync(good)],
    ['zip', zip(Buffer.from(good))],
    ['zip in gzip', gzipSync(zip(Buffer.from(good)))],
  ])('may be packed as %s', async (_, body) => {
    const server = await startListServer(listOf(body))
    const { feeds } = await open(folder(), { url: server.url })
    expect(feeds.status()).toMatchObject([{ state: 'loaded', addresses: 4 }])
  })

  it('has failed when the first answer is that nothing has changed', async () => {
    const server = await startListServer((_, response) => void response.writeHead(304).end())
    const { feeds, told } = await open(folder(), { url: server.url })
    expect(feeds.status()).toMatchObject([{ state: 'missing', fetch: { failures: 1 } }])
    expect(feeds.isMissing()).toBe(true)
    expect(told).toMatchObject([{ event: 'feed_fetch_failed', message: expect.stringContaining('304') as string }])
  })

  it('takes what has changed', async () => {
    const server = await startListServer(listOf(good))
    const { feeds, later } = await open(folder(), { url: server.url })
    server.answer = listOf(`${good}198.51.100.5\n`, '"2"')
    await later(1.2 * hour)
    expect(isListed(feeds, '198.51.100.5')).toBe(true)
  })

  const failures: [string, ListServer['answer'], RegExp][] = [
    ['a refused key', (_, response) => void response.writeHead(401).end('no'), /answered 401: .+ check headersFile/],
    ['an answer that never comes', () => undefined, /the server did not answer in time/],
    [
      'a body that stops',
      (_, response) => void response.writeHead(200, { 'content-length': '999' }).write(good),
      /stopped in the middle/,
    ],
    [
      'a body that is cut off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '999' })
        response.write(good, () => response.destroy())
      },
      /cut/,
    ],
    ['a web page', listOf('<!DOCTYPE html><p>Sign in</p>', '"2"'), /is a web page/],
    ['an empty body', listOf('', '"2"'), /is empty/],
    ['a zip bomb', listOf(zip(Buffer.alloc(1000), 0xfffffffe), '"2"'), /more than \d+ bytes when unpacked/],
    ['gzip that is cut off', listOf(gzipSync(good.repeat(99)).subarray(0, 40), '"2"'), /cut off/],
    [
      'endless redirects',
      (_, response) => void response.writeHead(302, { location: '/again' }).end(),
      /redirected more/,
    ],
    [
      'a redirect into the machine',
      ({ socket }, response) =>
        void response.writeHead(302, { location: `http://localhost:${socket.localPort}/` }).end(),
      /redirected to localhost:\d+, which is not public/,
    ],
    [
      'a redirect to plain HTTP elsewhere',
      (_, response) => void response.writeHead(302, { location: 'http://192.0.2.1/list' }).end(),
      /plain HTTP/,
    ],
  ]
  it.each(failures)('keeps what is in use through %s, says so, and recovers', async (_, answer, message) => {
    const server = await startListServer(listOf(good))
    const { feeds, told, later } = await open(folder(), { url: server.url, headersFile: headers() })
    server.answer = answer
    await later(1.2 * hour)
    expect(isListed(feeds)).toBe(true)
    expect(feeds.isMissing()).toBe(false)
    expect(feeds.status()[0]?.fetch).toMatchObject({ failures: 1, error: expect.stringMatching(message) as string })
    expect(told.at(-1)).toMatchObject({ event: 'feed_fetch_failed', kept: true })
    server.answer = listOf(`${good}198.51.100.9\n`, '"3"')
    await later(0.1 * hour)
    expect(isListed(feeds, '198.51.100.9')).toBe(true)
    expect(feeds.status()).toMatchObject([{ state: 'loaded', fetch: { error: undefined } }])
    expect(said(told)).not.toContain(secret)
  })

  it.each([
    [99, 1],
    [100, 100],
  ])('may shrink where it had %d entries, and a longer one may not', async (before, after) => {
    const list = Array.from({ length: before }, (_, n) => `198.51.100.${n}\n`).join('')
    const server = await startListServer(listOf(list))
    const { feeds, later } = await open(folder(), { url: server.url })
    server.answer = listOf('198.51.100.4\n', '"2"')
    await later(1.2 * hour)
    expect(feeds.status()).toMatchObject([{ addresses: after }])
    const error =
      after === 1 ? undefined : (expect.stringMatching(/1 entries where 100 are in use.+delete .+restart/) as string)
    expect(feeds.status()[0]?.fetch?.error).toEqual(error)
  })

  it('does not send its key to another host', async () => {
    const other = await startListServer(listOf(good))
    const server = await startListServer(
      (_, response) => void response.writeHead(302, { location: `${other.url}/list` }).end(),
    )
    const { feeds } = await open(folder(), { url: server.url, headersFile: headers() })
    expect(isListed(feeds)).toBe(true)
    expect(server.asked[0]?.headers.authorization).toBe(`Bearer ${secret}`)
    expect(JSON.stringify(other.asked[0]?.rawHeaders)).not.toContain(secret)
  })

  it('is not taken from a host whose certificate is not trusted', async () => {
    const text = (name: string): string => readFileSync(join('test/fixtures/tls', name), 'utf8')
    const server = await startListServer(listOf(good), { key: text('server.key'), cert: text('server.pem') })
    const { feeds, told } = await open(folder(), { url: server.url, headersFile: headers() })
    expect(feeds.isMissing()).toBe(true)
    expect(said(told)).toMatch(/certificate|CERT/)
    expect(server.asked).toEqual([])
  })

  it.each(['http://lists.example.com/a', 'ftp://lists.example.com/a'])('is not fetched from %s', async (url) => {
    const { feeds } = await open(folder(), { url })
    expect(feeds.status()[0]?.fetch?.error).toMatch(/plain HTTP|not an https/)
  })

  it('is used as it was last fetched where the network is not there at the start, with a warning', async () => {
    const at = folder()
    const server = await startListServer(listOf(good))
    const first = await open(at, { url: server.url, refreshMinutes: 1 })
    await first.feeds.close()
    for (const file of readdirSync(at).filter((name) => name.endsWith('.json')))
      writeFileSync(join(at, file), JSON.stringify({ etag: '"1"', checkedAt: 0 }))
    server.answer = (request) => request.socket.destroy()
    const { feeds, told } = await open(at, { url: server.url, refreshMinutes: 1 })
    expect(isListed(feeds)).toBe(true)
    expect(told.map(({ event }) => event)).toEqual(['feed_loaded', 'feed_fetch_failed'])
    expect(said(told)).toContain('the last good copy stays in use')
  })

  it('is fetched once for two who start together, and not again for one who comes later', async () => {
    const at = folder()
    const server = await startListServer(
      (request, response) => void setTimeout(() => listOf(good)(request, response), 50),
    )
    const start = async (): Promise<boolean> => {
      const feeds = await openFeeds([{ name: 'ours', level: 'malicious', categories: [], url: server.url }], {
        pollMs: 0,
        fetching: { folder: at, download: createDownload({}) },
      })
      await feeds.close()
      return isListed(feeds)
    }
    expect(await Promise.all([start(), start()])).toEqual([true, true])
    expect(await start()).toBe(true)
    expect(server.asked).toHaveLength(1)
  })

  it('does not keep the key on disk', async () => {
    const at = folder()
    const server = await startListServer(listOf(good))
    await open(at, { url: `${server.url}/${secret}/list?key=${secret}`, headersFile: headers() })
    const files = readdirSync(at)
    expect(files).toHaveLength(2)
    expect(files.join() + files.map((file) => readFileSync(join(at, file), 'utf8')).join()).not.toContain(secret)
  })
})

describe('a MISP feed with the address of its manifest', () => {
  const ids = [1, 2].map((nth) => `5a9c7f1e-0000-4000-8000-00000000000${nth}`)
  const event = (value: string): string =>
    JSON.stringify({ Event: { Attribute: [{ type: 'ip-dst', to_ids: true, value, category: 'Network activity' }] } })
  const publish =
    (events: Record<string, { body: string; timestamp: string }>): ListServer['answer'] =>
    ({ url = '' }, response) => {
      const id = /([0-9a-f-]+)\.json\?/.exec(url)?.[1] ?? ''
      const entries = Object.entries(events).map(([key, { timestamp }]) => [key, { timestamp }])
      if (url.includes('manifest')) response.end(JSON.stringify(Object.fromEntries(entries)))
      else if (events[id]) response.end(events[id].body)
      else response.writeHead(404).end()
    }
  const asked = (server: ListServer): string[] => server.asked.map(({ url = '' }) => url)

  it('is fetched with its events and the headers, later only what has changed, and used from the disk', async () => {
    const at = folder()
    const [one = '', two = ''] = ids
    const first = {
      [one]: { body: event('198.51.100.1'), timestamp: '1' },
      [two]: { body: event('198.51.100.2'), timestamp: '1' },
    }
    const server = await startListServer(publish(first))
    const settings = { url: `${server.url}/feed/manifest.json?k=v`, headersFile: headers() }
    const { feeds, later } = await open(at, settings)
    expect([isListed(feeds, '198.51.100.1'), isListed(feeds, '198.51.100.2')]).toEqual([true, true])
    expect(asked(server).toSorted()).toEqual([...ids.map((id) => `/feed/${id}.json?k=v`), '/feed/manifest.json?k=v'])
    expect(server.asked.every(({ headers: sent }) => sent.authorization === `Bearer ${secret}`)).toBe(true)
    server.answer = publish({ ...first, [two]: { body: event('198.51.100.3'), timestamp: '2' } })
    await later(1.2 * hour)
    expect([isListed(feeds, '198.51.100.1'), isListed(feeds, '198.51.100.2'), isListed(feeds, '198.51.100.3')]).toEqual(
      [true, false, true],
    )
    expect(asked(server).slice(3)).toEqual(['/feed/manifest.json?k=v', `/feed/${two}.json?k=v`])
    await feeds.close()
    server.answer = (request) => request.socket.destroy()
    expect(isListed((await open(at, settings)).feeds, '198.51.100.3')).toBe(true)
    expect(readdirSync(at)).toHaveLength(2)
  })

  it.each([
    ['an event that is not there', { [ids[1]!]: { body: '', timestamp: '2' } }, /its event .+ answered 404/],
    ['a name that is no id', { '../../etc/passwd': { body: '', timestamp: '1' } }, /its manifest names .+ no UUID/],
  ])('keeps what is in use through %s', async (_, broken, message) => {
    const good = { [ids[0]!]: { body: event('198.51.100.1'), timestamp: '1' } }
    const server = await startListServer(publish(good))
    const { feeds, later } = await open(folder(), { url: `${server.url}/feed/manifest.json?k=v` })
    const answer = publish({ ...good, ...broken })
    server.answer = (request, response) =>
      request.url?.includes(ids[1]!) ? void response.writeHead(404).end() : answer(request, response)
    await later(1.2 * hour)
    expect(isListed(feeds, '198.51.100.1')).toBe(true)
    expect(feeds.status()[0]?.fetch).toMatchObject({ failures: 1, error: expect.stringMatching(message) as string })
  })
})

describe('an event of a MISP feed', () => {
  it('is not fetched from inside the network where the feed is redirected there', async () => {
    const id = '5f6a2b1c-0000-4000-8000-000000000001'
    const inside = await startListServer(listOf('{"Event":{}}'))
    const server = await startListServer((request, response) => {
      if (request.url?.endsWith('/manifest.json')) response.end(JSON.stringify({ [id]: { timestamp: '1' } }))
      else response.writeHead(302, { location: inside.url.replace('127.0.0.1', 'localhost') }).end()
    })
    const { feeds } = await open(folder(), { url: `${server.url}/manifest.json` })
    expect(feeds.status()[0]?.fetch?.error).toMatch(/its event .+ was redirected to localhost:\d+, which is not public/)
    expect(inside.asked).toEqual([])
  })
})

describe('a feed that was never there', () => {
  it('lets the stream start, and events say so', async () => {
    const server = await startListServer((request) => request.socket.destroy())
    const enricher = await createEnricher({
      settings: { feeds: [{ name: 'ours', url: server.url }], memory: { path: folder() } },
    })
    onTestFinished(() => enricher.close())
    const { annotation } = await enricher.enrich('action=allow src=10.0.0.5 dst=93.184.215.14')
    expect(annotation).toMatchObject({ status: 'partial', verdict: 'unknown', reason: 'feed_missing' })
  })
})

describe('unzip', () => {
  it('stops at the limit even where the archive lies about its size', () => {
    expect(unzip(zip(Buffer.alloc(100_000), 10), 50_000)).toEqual({
      ok: false,
      message: 'holds more than 50000 bytes when unpacked',
    })
  })

  it.each([
    ['cut off', zip(Buffer.from(good)).subarray(0, 60)],
    ['broken', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(100, 7)])],
  ])('refuses an archive that is %s', (_, bytes) => {
    expect(unzip(bytes, 1000).ok).toBe(false)
  })
})

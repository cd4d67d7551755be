// Collections that are read page by page, from real servers that answer as TAXII 2.1 documents it.
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Feeds } from '../../../src/feeds/open-feeds.js'
import { discoverTaxii } from '../../../src/feeds/discover-taxii.js'
import { createDownload } from '../../../src/provider/download.js'
import { folder } from '../../support/feed-files.js'
import { startListServer, type ListServer } from '../../support/list-server.js'
import { entriesOf, errorOf, openPagedFeed } from '../../support/paged-feed.js'

const minute = 60_000
const day = 24 * 60 * minute
const taxii = 'application/taxii+json;version=2.1'

const address = (number: number): string => `198.51.${100 + (number >> 8)}.${number & 255}`
const isListed = (feeds: Feeds, number: number): boolean =>
  feeds.match({ type: 'ip', value: address(number) }) !== undefined

type Added = { readonly number: number; readonly added: string; readonly revoked?: boolean; readonly version?: number }

const indicator = ({ number, revoked, version = 0 }: Added): object => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  created: '2026-11-01T00:00:00Z',
  modified: `2026-11-01T00:00:${String(version).padStart(2, '0')}Z`,
  valid_from: '1970-01-01T00:00:00Z',
  pattern_type: 'stix',
  pattern: `[ipv4-addr:value = '${address(number)}']`,
  ...(revoked === true && { revoked }),
})

/** A collection whose pages hold this many, in the order in which they were added. */
const collection =
  (objects: () => readonly Added[], perPage: number, hasNext = true): ListServer['answer'] =>
  ({ url = '', headers }, response) => {
    const { searchParams } = new URL(url, 'http://localhost')
    if (headers.accept !== taxii) return void response.writeHead(406).end()
    const after = searchParams.get('added_after')
    const all = objects().filter(({ added }) => after === null || added > after)
    const from = hasNext ? Number(searchParams.get('next') ?? 0) : 0
    const page = all.slice(from, from + perPage)
    const more = from + perPage < all.length
    response
      .writeHead(200, {
        'content-type': taxii,
        ...(page.length > 0 && { 'x-taxii-date-added-last': page.at(-1)?.added ?? '' }),
      })
      .end(
        JSON.stringify({
          ...(page.length > 0 && { objects: page.map(indicator) }),
          ...(more && { more, ...(hasNext && { next: String(from + perPage) }) }),
        }),
      )
  }

const time = (second: number): string => new Date(Date.UTC(2026, 10, 1) + second * 1000).toISOString()
const numbered = (count: number, from = 0): readonly Added[] =>
  Array.from({ length: count }, (_, at) => ({ number: from + at, added: time(from + at) }))
const collectionOf = ({ url }: ListServer): string => `${url}/api/collections/91a7b528-80eb-42ed-a74d-c6fbd5a26116/`

describe('a TAXII collection', () => {
  it('is read page by page with the same filters, then what was added since, then whole again', async () => {
    const objects = [...numbered(25)]
    const server = await startListServer(collection(() => objects, 10))
    const { feeds, later } = await openPagedFeed(folder(), { taxii: collectionOf(server) })
    expect(entriesOf(feeds)).toBe(25)
    expect(feeds.status()[0]?.fetch?.read).toEqual({ pages: 3, objects: 25, cursor: time(24) })
    const asked = (): (string | null)[][] =>
      server.asked.map(({ url = '' }) => {
        const { pathname, searchParams } = new URL(url, 'http://localhost')
        expect(pathname).toBe('/api/collections/91a7b528-80eb-42ed-a74d-c6fbd5a26116/objects/')
        expect(searchParams.get('match[type]')).toBe('indicator')
        return [searchParams.get('added_after'), searchParams.get('next')]
      })
    expect(asked()).toEqual([
      [null, null],
      [null, '10'],
      [null, '20'],
    ])

    objects.push(...numbered(11, 25), { number: 0, added: time(60), version: 1, revoked: true })
    await later(61 * minute)
    expect(asked().slice(3)).toEqual([
      [time(24), null],
      [time(24), '10'],
    ])
    expect(entriesOf(feeds)).toBe(35)
    expect([0, 1, 35].map((number) => isListed(feeds, number))).toEqual([false, true, true])
    expect(feeds.status()[0]?.skipped).toEqual({ revoked: 1, superseded: 1 })

    // Nothing new, and one that is gone without a word.
    objects.splice(3, 1)
    await later(61 * minute)
    expect(asked().slice(5)).toEqual([[time(60), null]])
    expect(isListed(feeds, 3)).toBe(true)
    await later(day)
    // It is fetched many times on that day, and the last may still be under way.
    await later(61 * minute)
    expect(isListed(feeds, 3)).toBe(false)
    expect(entriesOf(feeds)).toBe(34)
  })

  it.each([
    ['one read', { readBytes: 1_000_000 }, 'sends more than 1000000 bytes'],
    ['the copies of all feeds', { folderBytes: 1_000_000 }, 'would have more than 1000000 bytes'],
  ])('that never ends is not kept past the bytes of %s, and the copy in use stays', async (_, disk, message) => {
    const objects = [...numbered(25)]
    const calm = collection(() => objects, 10)
    let nth = 0
    const endless: ListServer['answer'] = (_request, response) => {
      const added = time(1000 + nth++)
      const object = { ...indicator({ number: nth, added }), name: 'x'.repeat(50_000) }
      response
        .writeHead(200, { 'content-type': taxii, 'x-taxii-date-added-last': added })
        .end(JSON.stringify({ objects: [object], more: true, next: String(nth) }))
    }
    let isEndless = false
    const server = await startListServer((...asked) => (isEndless ? endless : calm)(...asked))
    const kept = folder()
    const { feeds, later } = await openPagedFeed(kept, { taxii: collectionOf(server) }, { disk })
    const before = readdirSync(kept).sort()
    isEndless = true
    await later(61 * minute)
    expect(errorOf(feeds)).toContain(message)
    expect(nth).toBeLessThan(30)
    expect(entriesOf(feeds)).toBe(25)
    await expect.poll(() => readdirSync(kept).sort()).toEqual(before)
  })

  it('keeps the newest version of an object, though an older one is added later', async () => {
    const objects: Added[] = [...numbered(3)]
    objects.push({ number: 0, added: time(3), version: 9, revoked: true }, { number: 1, added: time(4), version: 9 })
    const server = await startListServer(collection(() => objects, 10))
    const { feeds, later } = await openPagedFeed(folder(), { taxii: collectionOf(server) })
    objects.push({ number: 0, added: time(5), version: 8 }, { number: 1, added: time(6), version: 7, revoked: true })
    await later(61 * minute)
    expect([0, 1, 2].map((number) => isListed(feeds, number))).toEqual([false, true, true])
    expect(feeds.status()[0]).toMatchObject({ addresses: 2, skipped: { revoked: 1, superseded: 4 } })
  })

  it('is read to its end where a server names no next page, though objects of one moment are on several', async () => {
    const objects = numbered(30).map((one) => ({ ...one, added: time(Math.floor(one.number / 6)) }))
    const server = await startListServer(collection(() => objects, 10, false))
    const { feeds } = await openPagedFeed(folder(), { taxii: collectionOf(server) })
    expect(errorOf(feeds)).toBeUndefined()
    expect(entriesOf(feeds)).toBe(30)
  })

  it('keeps what it has and its cursor when a page fails, and is read again from there', async () => {
    const objects = [...numbered(25)]
    const server = await startListServer(collection(() => objects, 10))
    const { feeds, later } = await openPagedFeed(folder(), { taxii: collectionOf(server) })
    objects.push(...numbered(25, 25))
    const answer = server.answer
    server.answer = (request, response) =>
      request.url?.includes('next=20') === true ? void response.writeHead(500).end() : answer(request, response)
    await later(61 * minute)
    expect(errorOf(feeds)).toBe('its page 3 answered 500')
    expect(entriesOf(feeds)).toBe(25)
    server.answer = answer
    await later(2 * minute)
    expect(errorOf(feeds)).toBeUndefined()
    expect(entriesOf(feeds)).toBe(50)
    expect(new URL(server.asked.at(-3)?.url ?? '', 'http://localhost').searchParams.get('added_after')).toBe(time(24))
  })

  it('goes on after a restart where it was, and leaves nothing half read behind', async () => {
    const at = folder()
    const objects = [...numbered(12)]
    const server = await startListServer(collection(() => objects, 10))
    const first = await openPagedFeed(at, { taxii: collectionOf(server) })
    await first.close()
    const asked = server.asked.length
    objects.push(...numbered(1, 12))
    const second = await openPagedFeed(at, { taxii: collectionOf(server) }, { now: 61 * minute })
    expect(server.asked).toHaveLength(asked + 1)
    expect(entriesOf(second.feeds)).toBe(13)
    expect(readdirSync(at).filter((name) => name.endsWith('.folder') || name.endsWith('.lock'))).toEqual([])
  })

  it.each<[string, ListServer['answer'], RegExp]>([
    [
      'that speaks 2.0 only',
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/vnd.oasis.stix+json; version=2.0' }).end('{}'),
      /^speaks TAXII 2\.0/,
    ],
    ['that refuses what is asked for', (_, response) => void response.writeHead(406).end(), /^answered 406: .+2\.0/],
    ['that refuses the login', (_, response) => void response.writeHead(401).end(), /^answered 401: the login/],
    [
      'that is no TAXII server',
      (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('[]'),
      /^does not answer as a TAXII/,
    ],
    [
      'that says more for ever',
      (_, response) => void response.writeHead(200, { 'content-type': taxii }).end('{"more":true,"next":"1"}'),
      /^says that there is more, and sends nothing/,
    ],
    [
      'that repeats a page',
      (_, response) =>
        void response
          .writeHead(200, { 'content-type': taxii })
          .end(JSON.stringify({ more: true, next: '1', objects: [indicator({ number: 1, added: '' })] })),
      /^sends the same page again/,
    ],
    [
      'that repeats a page and names another next each time',
      ({ url = '' }, response) => {
        const next = String(Number(new URL(url, 'http://localhost').searchParams.get('next') ?? 0) + 1)
        response
          .writeHead(200, { 'content-type': taxii })
          .end(JSON.stringify({ more: true, next, objects: [indicator({ number: 1, added: '' })] }))
      },
      /^sends the same page again/,
    ],
    [
      'that does not say where more is',
      (_, response) =>
        void response
          .writeHead(200, { 'content-type': taxii })
          .end(JSON.stringify({ more: true, objects: [indicator({ number: 1, added: '' })] })),
      /no next and no X-TAXII/,
    ],
  ])('is refused from a server %s', async (_, answer, message) => {
    const server = await startListServer(answer)
    const { feeds } = await openPagedFeed(folder(), { taxii: collectionOf(server) })
    expect(errorOf(feeds)).toMatch(message)
    expect(feeds.isMissing()).toBe(true)
    expect(server.asked.length).toBeLessThan(3)
  })
})

describe('the discovery of a TAXII server', () => {
  it('lists the collections of every API root, and shows the login to no other host', async () => {
    const server = await startListServer((request, response) => {
      const answers: Record<string, object> = {
        '/taxii2/': { title: 'ours', api_roots: ['/one/', 'https://elsewhere.example/two/', '/three'] },
        '/one/collections/': {
          collections: [
            { id: 'a', title: 'Shared', can_read: true },
            { id: 'b', title: 'Closed', can_read: false },
          ],
        },
      }
      const answer = answers[request.url ?? '']
      if (request.headers.authorization !== 'Basic dQ==' || request.headers.accept !== taxii)
        response.writeHead(401).end()
      else if (answer) response.writeHead(200, { 'content-type': taxii }).end(JSON.stringify(answer))
      else response.writeHead(404).end()
    })
    const access = { headers: { authorization: 'Basic dQ==' }, allowHttp: false, signal: AbortSignal.timeout(60_000) }
    expect(await discoverTaxii(createDownload({}), `${server.url}/taxii2/`, access)).toEqual([
      {
        address: `${server.url}/one/`,
        collections: [
          { address: `${server.url}/one/collections/a/`, title: 'Shared', isReadable: true },
          { address: `${server.url}/one/collections/b/`, title: 'Closed', isReadable: false },
        ],
      },
      {
        address: 'https://elsewhere.example/two/',
        collections: [],
        problem: 'is on another host, which the login is not shown to: ask it by itself',
      },
      { address: `${server.url}/three/`, collections: [], problem: expect.stringMatching(/^answered 404/) as string },
    ])
    expect(await discoverTaxii(createDownload({}), `${server.url}/taxii2/`, { ...access, headers: {} })).toEqual({
      refused: expect.stringMatching(/^answered 401: the login is missing/) as string,
    })
  })
})

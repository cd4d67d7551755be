// A MISP server that is searched page by page. Its answers have the shape that MISP documents for a search of attributes:
// https://www.misp-project.org/openapi/#tag/Attributes/operation/restSearchAttributes
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Feeds } from '../../../src/feeds/open-feeds.js'
import { folder } from '../../support/feed-files.js'
import { startListServer, type ListServer } from '../../support/list-server.js'
import { entriesOf, errorOf, openPagedFeed, type OpenedFeed } from '../../support/paged-feed.js'

const minute = 60_000
const day = 24 * 60 * minute
const key = 'k'.repeat(40)

const keyFile = (content = `${key}\n`): string => {
  const file = join(folder(), 'key')
  writeFileSync(file, content)
  return file
}

type Search = {
  readonly page: number
  readonly limit: number
  readonly timestamp?: string
  readonly [name: string]: unknown
}

type Attribute = { readonly number: number; readonly timestamp: number; readonly tag?: string }

const hostOf = (number: number): string => `h${number}.example.com`
const isListed = (feeds: Feeds, number: number): boolean =>
  feeds.match({ type: 'domain', value: hostOf(number) }) !== undefined

const attributeOf = ({ number, timestamp, tag }: Attribute): object => ({
  id: String(number + 1),
  event_id: '12',
  object_id: '0',
  object_relation: null,
  category: 'Network activity',
  type: number % 2 === 0 ? 'hostname' : 'url',
  to_ids: true,
  uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  timestamp: String(timestamp),
  distribution: '5',
  sharing_group_id: '0',
  comment: '',
  deleted: false,
  disable_correlation: false,
  first_seen: null,
  last_seen: null,
  value: number % 2 === 0 ? hostOf(number) : `http://${hostOf(number)}/`,
  Event: {
    org_id: '1',
    distribution: '1',
    id: '12',
    info: 'A campaign',
    orgc_id: '1',
    uuid: '5c6983c8-0000-4000-8000-000000000012',
  },
  ...(tag !== undefined && { Tag: [{ id: '3', name: tag, colour: '#004646', is_galaxy: false }] }),
})

const bodyOf = async (request: IncomingMessage): Promise<Search> => {
  let text = ''
  for await (const part of request.setEncoding('utf8')) text += part as string
  return JSON.parse(text) as Search
}

const refusal = {
  saved: false,
  name: 'Authentication failed. Please make sure you pass the API key of an API enabled user along in the Authorization header.',
  message:
    'Authentication failed. Please make sure you pass the API key of an API enabled user along in the Authorization header.',
  url: '/attributes/restSearch',
}

type Misp = {
  readonly server: ListServer
  readonly searches: Search[]
  /** Something where it answers in the place of the server. */
  instead?: (search: Search, response: Parameters<ListServer['answer']>[1]) => unknown
}

/** At most `perPage` a page, whatever is asked for; in the order of their ids, as MISP sends them. */
const startMisp = async (attributes: readonly Attribute[], perPage = 5000): Promise<Misp> => {
  const searches: Search[] = []
  const server = await startListServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.headers.authorization !== key) return void response.writeHead(403).end(JSON.stringify(refusal))
    void bodyOf(request).then((search) => {
      searches.push(search)
      if (Boolean(misp.instead?.(search, response))) return
      const { page, limit, timestamp = 0 } = search
      const size = Math.min(limit, perPage)
      const Attribute = attributes
        .filter((one) => one.timestamp >= Number(timestamp))
        .slice((page - 1) * size, page * size)
        .map(attributeOf)
      response.writeHead(200).end(JSON.stringify({ response: { Attribute } }))
    })
  })
  const misp: Misp = { server, searches }
  return misp
}

const attributesOf = (count: number): Attribute[] =>
  Array.from({ length: count }, (_, number) => ({ number, timestamp: 1_700_000_000 + number }))

const loads = ({ told }: OpenedFeed): number => told.filter(({ event }) => event === 'feed_loaded').length

describe('a MISP server', () => {
  it('is searched page by page until one is empty, then for what has changed, and whole again after a day', async () => {
    const attributes = attributesOf(450)
    const { server, searches } = await startMisp(attributes, 50)
    const { feeds, later } = await openPagedFeed(folder(), {
      misp: `${server.url}/`,
      apiKeyFile: keyFile(),
      tags: ['apt'],
    })
    expect(errorOf(feeds)).toBeUndefined()
    expect(feeds.status()[0]).toMatchObject({ names: 450, skipped: {} })
    expect(server.asked.every(({ url, method }) => url === '/attributes/restSearch' && method === 'POST')).toBe(true)
    expect(searches.map(({ page }) => page)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(searches[0]).toMatchObject({ to_ids: 1, published: 1, enforceWarninglist: 1, tags: ['apt'] })
    expect(searches[0]?.type).toContain('ip-dst|port')
    expect(feeds.status()[0]?.fetch?.read).toEqual({ pages: 9, objects: 450, cursor: '1700000449' })

    attributes.push({ number: 450, timestamp: 1_700_000_500 })
    await later(61 * minute)
    expect(searches[10]).toMatchObject({ page: 1, timestamp: '1700000449' })
    expect(entriesOf(feeds)).toBe(451)
    // It vanishes, which nobody is told before all is read again.
    attributes.splice(7, 1)
    await later(61 * minute)
    expect(isListed(feeds, 7)).toBe(true)
    await later(day)
    // It is fetched many times on that day, and the last may still be under way.
    await later(61 * minute)
    expect(isListed(feeds, 7)).toBe(false)
    expect(feeds.status()[0]).toMatchObject({ names: 450, skipped: {} })
  })

  it('is not loaded again for what it has sent before', async () => {
    // Two were changed last, in the same second.
    const attributes: Attribute[] = [...attributesOf(100), { number: 100, timestamp: 1_700_000_099 }]
    const at = folder()
    const { server, searches } = await startMisp(attributes, 40)
    const settings = { misp: server.url, apiKeyFile: keyFile() }
    const opened = await openPagedFeed(at, settings)
    const { feeds, later } = opened
    await later(61 * minute)
    await later(61 * minute)
    expect(searches.at(-2)).toMatchObject({ page: 1, timestamp: '1700000099' })
    expect(loads(opened)).toBe(1)
    expect(feeds.status()[0]).toMatchObject({ names: 101, skipped: {} })
    expect(feeds.status()[0]?.fetch?.read).toEqual({ pages: 3, objects: 101, cursor: '1700000099' })

    // A third of the same second, and a tag that does not change the time.
    attributes.push({ number: 101, timestamp: 1_700_000_099 })
    await later(61 * minute)
    expect(loads(opened)).toBe(2)
    expect(entriesOf(feeds)).toBe(102)
    attributes[100] = { number: 100, timestamp: 1_700_000_099, tag: 'botnet' }
    await later(61 * minute)
    expect(loads(opened)).toBe(3)
    expect(JSON.stringify(feeds.match({ type: 'domain', value: hostOf(100) }))).toContain('botnet')
    await opened.close()
    // It is still known after a restart.
    const pages = searches.length
    const again = await openPagedFeed(at, settings, { now: 8 * 61 * minute })
    expect(searches.length).toBe(pages + 2)
    expect(loads(again)).toBe(1)
    expect(entriesOf(again.feeds)).toBe(102)
  })

  it('keeps what it has when a page does not come in time, and is read again from where it was', async () => {
    const attributes = attributesOf(300)
    const misp = await startMisp(attributes, 40)
    const settings = { misp: misp.server.url, apiKeyFile: keyFile() }
    // Silence on page 7: the answer never comes.
    misp.instead = ({ page }) => page === 7
    const { feeds, later } = await openPagedFeed(folder(), settings, { silenceMs: 500 })
    expect(errorOf(feeds)).toMatch(/^its page 7 /)
    expect(feeds.isMissing()).toBe(true)
    delete misp.instead
    await later(2 * minute)
    expect(errorOf(feeds)).toBeUndefined()
    expect(feeds.status()[0]).toMatchObject({ names: 300, skipped: {} })
    // The same in what has changed since.
    attributes.push(...attributesOf(600).slice(300))
    misp.instead = ({ page }, response) => page === 7 && response.writeHead(200).write('{"response":{"Attribute":[')
    await later(61 * minute)
    expect(errorOf(feeds)).toMatch(/^its page 7 /)
    expect(entriesOf(feeds)).toBe(300)
    expect(feeds.status()[0]?.fetch?.read?.cursor).toBe('1700000299')
    delete misp.instead
    await later(2 * minute)
    expect(misp.searches.at(-1)).toMatchObject({ page: 9, timestamp: '1700000299' })
    expect(entriesOf(feeds)).toBe(600)
  })

  it('gives entries the score of the confidence that they are tagged with', async () => {
    const { server } = await startMisp([
      { number: 2, timestamp: 1, tag: 'misp:confidence-level="rarely-confident"' },
      { number: 4, timestamp: 1, tag: 'misp:confidence-level="usually-confident"' },
      { number: 6, timestamp: 1 },
    ])
    const { feeds } = await openPagedFeed(folder(), { misp: server.url, apiKeyFile: keyFile(), minScore: 50 })
    expect([2, 4, 6].map((number) => isListed(feeds, number))).toEqual([false, true, true])
  })

  it('says that the key is refused, that it may not search, and what is no MISP server', async () => {
    const misp = await startMisp(attributesOf(3))
    const { server } = misp
    const refused = await openPagedFeed(folder(), { misp: server.url, apiKeyFile: keyFile('wrong') })
    expect(errorOf(refused.feeds)).toMatch(/^answered 403: the key is refused/)
    misp.instead = (_, response) => response.writeHead(403).end('{"message":"You do not have permission"}')
    const forbidden = await openPagedFeed(folder(), { misp: server.url, apiKeyFile: keyFile() })
    expect(errorOf(forbidden.feeds)).toMatch(/^answered 403: the key is refused or may not search/)
    misp.instead = (_, response) => response.writeHead(200).end('{"hello":1}')
    const other = await openPagedFeed(folder(), { misp: server.url, apiKeyFile: keyFile() })
    expect(errorOf(other.feeds)).toMatch(/^does not answer as a MISP server/)
    expect(JSON.stringify([refused.told, forbidden.told, other.told])).not.toContain(key)
  })
})

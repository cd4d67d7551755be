// Collections of medallion, the TAXII 2.1 server of those who wrote the standard, with the faults of networks and of readers between.
//
// What medallion 3.0.0 does that others need not do, and what it means for a reader:
// - `next` names what is left of one read, and every answer takes from it: the same request, sent again, is answered with the page after.
//   So a page that was lost is lost for that read, which has to begin again.
// - `next` with other filters than those of the first page is refused, and without `limit` is an error of the server.
// - `added_after` is applied before the versions are compared: an older version that was added later is sent although a newer one is there.
import { spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { provisionMedallion } from '../../scripts/tools.mjs'
import { discoverTaxii } from '../../src/feeds/discover-taxii.js'
import { createDownload } from '../../src/provider/download.js'
import type { Feeds } from '../../src/feeds/open-feeds.js'
import { cliPath, runCli } from '../support/cli.js'
import { folder } from '../support/feed-files.js'
import { startListServer, type ListServer } from '../support/list-server.js'
import { startMedallion, type AddedObject, type Medallion } from '../support/medallion.js'
import { errorOf, openPagedFeed } from '../support/paged-feed.js'

const { medallion = '', missing } = provisionMedallion()

if (missing !== undefined)
  it('is not tested for want of medallion, which is a failure in CI', () => {
    process.stderr.write(`${missing}\n`)
    expect(process.env.CI ?? '').toBe('')
  })

const minute = 60_000
const silenceMs = 600_000

const address = (number: number): string => `198.51.${100 + (number >> 8)}.${number & 255}`
const isListed = (feeds: Feeds, number: number): boolean =>
  feeds.match({ type: 'ip', value: address(number) }) !== undefined
const time = (second: number): string =>
  `${new Date(Date.UTC(2025, 10, 1) + second * 1000).toISOString().slice(0, -1)}000Z`

const indicator = (number: number, version = 0, members: object = {}): AddedObject['object'] => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  created: time(0),
  modified: time(version),
  valid_from: time(0),
  pattern_type: 'stix',
  pattern: `[ipv4-addr:value = '${address(number)}']`,
  ...members,
})

/** `together` of them, from `from` on, were added at the same moment. */
const added = (count: number, from: number, together: number): readonly AddedObject[] =>
  Array.from({ length: count }, (_, number) => ({
    object: indicator(number),
    added: time(number >= from && number < from + together ? from : number),
  }))

const loginFile = (login: string): string => {
  const file = join(folder(), 'login')
  writeFileSync(file, `Authorization: ${login}\n`)
  return file
}

type Between = {
  readonly proxy: ListServer
  /** Of the same collection, through the proxy. */
  readonly collection: string
}

/** Hands requests on; `meet` may answer with a status in the server's place, after the server has answered, or change the headers. */
const startProxy = async (
  { collection }: Medallion,
  meet: (request: IncomingMessage, number: number) => number | Record<string, string> | undefined,
): Promise<Between> => {
  const { origin, pathname } = new URL(collection)
  let number = 0
  const forward: ListServer['answer'] = (request, response) => {
    const met = meet(request, ++number)
    const { authorization = '', accept = '' } = request.headers
    const headers = { authorization, accept, ...(typeof met === 'object' && met) }
    void fetch(origin + (request.url ?? ''), { headers }).then(async (answer) => {
      const body = Buffer.from(await answer.arrayBuffer())
      const last = answer.headers.get('x-taxii-date-added-last')
      if (typeof met === 'number') response.writeHead(met).end()
      else
        response
          .writeHead(answer.status, {
            'content-type': answer.headers.get('content-type') ?? '',
            ...(last !== null && { 'x-taxii-date-added-last': last }),
          })
          .end(body)
    })
  }
  const proxy = await startListServer(forward)
  return { proxy, collection: proxy.url + pathname }
}

describe.runIf(missing === undefined)('a collection of medallion', () => {
  it('is found by its login, and read once and whole in pages of a hundred', async () => {
    const server = await startMedallion(medallion, { objects: added(450, 120, 150), maxPage: 100 })
    const access = {
      headers: { authorization: server.login },
      allowHttp: false,
      signal: AbortSignal.timeout(silenceMs),
    }
    const [root] = (await discoverTaxii(createDownload({}), server.discovery, access)) as readonly object[]
    expect(root).toMatchObject({
      collections: [
        { title: 'Closed', isReadable: false },
        { title: 'Indicators', isReadable: true, address: server.collection },
      ],
    })
    const headersFile = loginFile(server.login)
    const { feeds, later } = await openPagedFeed(folder(), { taxii: server.collection, headersFile }, { silenceMs })
    expect(errorOf(feeds)).toBeUndefined()
    expect(feeds.status()[0]).toMatchObject({ addresses: 450, skipped: {} })
    expect(feeds.status()[0]?.fetch?.read).toEqual({ pages: 5, objects: 450, cursor: time(449) })

    await server.add([indicator(450), indicator(3, 5, { revoked: true }), indicator(4, 5, { confidence: 90 })])
    await later(61 * minute)
    expect([3, 4, 450].map((number) => isListed(feeds, number))).toEqual([false, true, true])
    expect(feeds.status()[0]?.fetch?.read).toMatchObject({ pages: 6, objects: 453 })
    // Versions of before, added late: what is known to be newer stays.
    await server.add([indicator(3, 4), indicator(4, 4, { revoked: true })])
    await later(61 * minute)
    expect(errorOf(feeds)).toBeUndefined()
    expect([3, 4].map((number) => isListed(feeds, number))).toEqual([false, true])
    expect(feeds.status()[0]).toMatchObject({ addresses: 450, skipped: { revoked: 1, superseded: 4 } })
  })

  it('is refused with a wrong login, and to who asks for another version', async () => {
    const server = await startMedallion(medallion, { objects: added(3, 0, 0), maxPage: 100 })
    const wrong = loginFile(`Basic ${Buffer.from('reader:wrong').toString('base64')}`)
    const refused = await openPagedFeed(folder(), { taxii: server.collection, headersFile: wrong }, { silenceMs })
    expect(errorOf(refused.feeds)).toMatch(/^answered 401: the login is missing or may not read this collection/)
    const closed = server.collection.replace(/[^/]+\/$/, '64993447-4d7e-4f70-b94d-d7f33742ee63/')
    const headersFile = loginFile(server.login)
    const hidden = await openPagedFeed(folder(), { taxii: closed, headersFile }, { silenceMs })
    expect(errorOf(hidden.feeds)).toMatch(/^answered 403: the login is missing or may not read this collection/)
    const none = await openPagedFeed(folder(), { taxii: `${closed.slice(0, -3)}/`, headersFile }, { silenceMs })
    expect(errorOf(none.feeds)).toMatch(/^answered 404: there is no such collection/)
    for (const accept of [
      'application/taxii+json;version=2.0',
      'application/vnd.oasis.taxii+json; version=2.0',
      '*/*',
    ]) {
      const { collection } = await startProxy(server, () => ({ accept }))
      const other = await openPagedFeed(folder(), { taxii: collection, headersFile }, { silenceMs })
      expect(errorOf(other.feeds)).toMatch(/^answered 406: it does not speak TAXII 2\.1/)
    }
  })

  it('of 25,000, 1,500 of them of one moment, is read once and whole though a page is lost, and 5,000 are revoked', async () => {
    const count = 25_000
    const server = await startMedallion(medallion, { objects: added(count, 9300, 1500), maxPage: 1000, isLarge: true })
    const headersFile = loginFile(server.login)
    let lost = 0
    const { proxy, collection } = await startProxy(server, (_, number) => (number === lost ? 502 : undefined))
    lost = 11 // in the middle of those that share a moment
    const { feeds, later } = await openPagedFeed(folder(), { taxii: collection, headersFile }, { silenceMs })
    expect(errorOf(feeds)).toBe('its page 11 answered 502')
    expect(feeds.isMissing()).toBe(true)
    await later(2 * minute)
    expect(errorOf(feeds)).toBeUndefined()
    expect(feeds.status()[0]).toMatchObject({ addresses: count, skipped: {} })
    expect(feeds.status()[0]?.fetch?.read).toEqual({ pages: 25, objects: count, cursor: time(count - 1) })
    expect(proxy.asked).toHaveLength(11 + 25)

    await server.add(Array.from({ length: 5000 }, (_, at) => indicator(at * 2, 1, { revoked: true })))
    lost = proxy.asked.length + 3
    await later(61 * minute)
    expect(errorOf(feeds)).toBe('its page 3 answered 502')
    expect(feeds.status()[0]).toMatchObject({ addresses: count, skipped: {} })
    await later(2 * minute)
    expect(errorOf(feeds)).toBeUndefined()
    expect(feeds.status()[0]).toMatchObject({ addresses: count - 5000, skipped: { revoked: 5000, superseded: 5000 } })
    expect([0, 1, 9998, 9999, 10_000].map((number) => isListed(feeds, number))).toEqual([
      false,
      true,
      false,
      true,
      true,
    ])
    expect(feeds.status()[0]?.fetch?.read).toMatchObject({ pages: 30, objects: count + 5000 })
  })

  it('is read whole after a reader was killed in the middle', async () => {
    const count = 12_000
    const server = await startMedallion(medallion, { objects: added(count, 4500, 1500), maxPage: 1000, isLarge: true })
    const at = folder()
    let kill = (): void => undefined
    const { proxy, collection } = await startProxy(server, (_, number) => {
      if (number === 6) kill()
      return undefined
    })
    const feeds = [{ name: 'ours', taxii: collection, headersFile: loginFile(server.login) }]
    const env = { THREATWEAVE_FEEDS: JSON.stringify(feeds), THREATWEAVE_MEMORY_PATH: at }
    const killed = await new Promise((done) => {
      const reader = spawn(process.execPath, [cliPath, 'feeds'], { env: { ...process.env, ...env }, stdio: 'ignore' })
      kill = () => void reader.kill('SIGKILL')
      reader.once('exit', (_, signal) => done(signal))
    })
    expect(killed).toBe('SIGKILL')
    const left = (): readonly string[] =>
      readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:folder|lock|new)$/.test(name))
    expect(left()).toHaveLength(2)
    const { code, stdout } = await runCli(['feeds', '--json'], { env })
    expect(JSON.parse(stdout)).toMatchObject({ state: 'loaded', addresses: count, skipped: {} })
    expect(code).toBe(0)
    expect(proxy.asked).toHaveLength(6 + 12)
    expect(left()).toEqual([])
    // What was read is there for the next one, who has nothing to ask.
    const again = await runCli(['feeds'], { env })
    expect(again.stdout).toContain(`ours: ${count} objects in 12 pages, up to ${time(count - 1)}`)
    expect(proxy.asked).toHaveLength(6 + 12)
  })
})

// What an operator's own list accuses is never clean: in no role, and by no route from the list to the verdict.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openApp, type App } from '../../src/app/open-app.js'
import { load } from '../../src/config/load.js'
import { judge } from '../../src/domain/judge.js'
import { shippedTable, type JudgementTable } from '../../src/domain/judgement-table.js'
import type { Indicator } from '../../src/domain/indicator.js'
import { roles, type Role } from '../../src/domain/sighting.js'
import type { Verdict } from '../../src/domain/verdict.js'
import { feedFile } from '../support/feed-files.js'
import { gatewayOf } from '../support/gateway.js'
import { newFolder, sampleKey, startSampleService } from '../support/lookup-service.js'
import { startScriptedService, type Asked } from '../support/scripted-service.js'

const address: Indicator = { type: 'ip', value: '198.51.100.7' }
const name: Indicator = { type: 'domain', value: 'bad.example.com' }
const below: Indicator = { type: 'domain', value: 'www.bad.example.com' }
const urlHost: Indicator = { type: 'domain', value: 'files.example.net' }
const endpoint: Indicator = { type: 'ip', value: '203.0.113.9' }
const entries = '198.51.100.0/24\nbad.example.com\nhttps://files.example.net/x/a.exe\n203.0.113.9:443\n'

type Level = 'malicious' | 'suspicious'
type Route = (level: Level) => Promise<App>

const open = async (settings: Readonly<Record<string, unknown>>): Promise<App> => {
  const values = { gate: { documentation: true }, memory: { path: 'none' }, ...settings }
  const loaded = load({ file: undefined, values, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const app = await openApp(loaded.config, { mode: 'complete', env: {} })
  if ('problems' in app) throw new Error(JSON.stringify(app.problems))
  onTestFinished(app.close)
  return app
}
const asking = (baseUrl: string): Promise<App> => open({ intel: { service: { baseUrl, apiKey: sampleKey } } })

/** A list that was written long ago, as lists of one's own are. */
const dataWith = (level: Level): string => {
  const data = newFolder()
  mkdirSync(join(data, 'feeds', level), { recursive: true })
  const file = join(data, 'feeds', level, 'own.txt')
  writeFileSync(file, entries)
  utimesSync(file, 1_700_000_000, 1_700_000_000)
  return data
}

/** A provider that has nothing but good news. */
const goodNews = ({ path, query }: Asked): unknown => {
  const time = new Date().toISOString().slice(0, 19).replace('T', ' ')
  if (path.includes('/domain/reports'))
    return {
      status: 200,
      data: { count: 1, reports: [{ scan_id: 1, url: `https://${query.query}/`, score: 'Safe', reg_dtime: time }] },
    }
  return { status: 200, ip: query.ip, is_malicious: false, score: { inbound: 'Safe', outbound: 'Safe' } }
}

const routes: Readonly<Record<string, Route>> = {
  feed: (level) => open({ feeds: [{ name: 'own', path: feedFile(entries), level }] }),
  serve: async (level) => asking((await startSampleService({ data: dataWith(level) }, { now: Date.now })).url),
  gateway: async (level) => {
    const upstream = await startScriptedService(goodNews)
    onTestFinished(upstream.close)
    const openGateway = gatewayOf(upstream.baseUrl)
    return asking((await startSampleService({ data: dataWith(level) }, { now: Date.now, openGateway })).url)
  },
  'gateway in bulk': async (level) => {
    const upstream = await startScriptedService(goodNews)
    onTestFinished(upstream.close)
    const outside = { now: Date.now, openGateway: gatewayOf(upstream.baseUrl), socket: join(newFolder(), 'socket') }
    return asking((await startSampleService({ data: dataWith(level) }, outside)).url)
  },
}

/** One that makes as much as it can clean. */
const mildTable: JudgementTable = {
  ...shippedTable,
  rows: {
    ...shippedTable.rows,
    critical: { level: 'clean' },
    moderateAsDestination: { level: 'clean' },
    domainModerate: { level: 'clean' },
    domainCritical: { level: 'clean' },
  },
}

const verdictsOf = async (app: App, indicator: Indicator, table = shippedTable): Promise<Map<Role, Verdict>> => {
  const verdicts = new Map<Role, Verdict>()
  for (const role of roles) {
    const finding = await app.lookup(indicator, { role, action: 'allowed', evidence: 'field' })
    verdicts.set(role, judge(finding, { ...indicator, role }, table, Date.now()))
  }
  return verdicts
}

describe.each(Object.keys(routes))('what a list accuses, by %s,', (route) => {
  it.each<Level>(['suspicious', 'malicious'])(
    'is %s in every role that is asked about, and clean in none',
    async (level) => {
      const app = await routes[route]!(level)
      for (const table of [shippedTable, mildTable])
        for (const indicator of [address, name, below])
          for (const [role, verdict] of await verdictsOf(app, indicator, table)) {
            // What a client claims is looked up in feeds alone.
            const isAsked = role !== 'observer' && role !== 'translated' && (role !== 'claimed' || route === 'feed')
            expect([indicator.value, role, verdict.level]).toEqual([indicator.value, role, isAsked ? level : 'unknown'])
          }
    },
  )

  it('is told with the list and the entry', async () => {
    const app = await routes[route]!('suspicious')
    for (const [indicator, entry] of [
      [address, '198.51.100.0/24'],
      [below, 'bad.example.com'],
      [urlHost, 'files.example.net/x/a.exe'],
      [endpoint, '203.0.113.9:443'],
    ] as const) {
      const verdict = (await verdictsOf(app, indicator)).get('source')
      expect(verdict).toMatchObject({ level: 'suspicious', feed: 'own', entry, source: 'feed:own' })
    }
  })

  it('is suspicious where only a port of the address or a URL of the host is listed, whatever the level', async () => {
    const app = await routes[route]!('malicious')
    for (const indicator of [urlHost, endpoint])
      expect((await verdictsOf(app, indicator)).get('destination')?.level).toBe('suspicious')
  })

  it('does not spread to its neighbours', async () => {
    const app = await routes[route]!('malicious')
    for (const value of ['example.com', 'good.example.com', 'www.files.example.net']) {
      const levels = [...(await verdictsOf(app, { type: 'domain', value })).values()].map(({ level }) => level)
      expect(levels).not.toContain('malicious')
      expect(levels).not.toContain('suspicious')
    }
  })
})

describe.each(['serve', 'gateway'])('an address on a list of Tor exits, by %s,', (route) => {
  it('is clean in no role', async () => {
    const data = newFolder()
    mkdirSync(join(data, 'lists'))
    writeFileSync(join(data, 'lists', 'tor.txt'), '198.51.100.7\n')
    const upstream = await startScriptedService(goodNews)
    onTestFinished(upstream.close)
    const outside = route === 'gateway' ? { openGateway: gatewayOf(upstream.baseUrl) } : {}
    const app = await asking((await startSampleService({ data }, { now: Date.now, ...outside })).url)
    for (const [role, { level }] of await verdictsOf(app, address)) {
      const isAsked = role !== 'observer' && role !== 'translated' && role !== 'claimed'
      expect([role, level]).toEqual([role, isAsked ? 'suspicious' : 'unknown'])
    }
  })
})

describe('a URL that is asked about by hand', () => {
  it('is answered as the listed URL it is', async () => {
    const { url } = await startSampleService({ data: dataWith('malicious') }, { now: Date.now })
    const scoreOf = async (query: string): Promise<unknown> => {
      const path = `/v1/domain/reports?query=${encodeURIComponent(query)}`
      const response = await fetch(url + path, { headers: { 'x-api-key': sampleKey } })
      const { data } = (await response.json()) as {
        data: { reports: { score: string }[]; listings?: { level: string }[] }
      }
      return [data.reports[0]?.score, data.listings?.[0]?.level]
    }
    expect(await scoreOf('https://files.example.net/x/a.exe?d=1')).toEqual(['Critical', 'malicious'])
    expect(await scoreOf('https://files.example.net/other')).toEqual(['Moderate', 'suspicious'])
    expect(await scoreOf('https://good.example.net/')).toEqual([undefined, undefined])
  })
})

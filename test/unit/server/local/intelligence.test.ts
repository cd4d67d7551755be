import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bannerSearch } from '../../../../src/server/answers/banner.js'
import { exploitSearch } from '../../../../src/server/answers/exploit.js'
import { createFindRows } from '../../../../src/server/local/find-rows.js'
import { openIntelligence, type Intelligence } from '../../../../src/server/local/intelligence.js'
import { ignoreTelemetry, type TelemetryEvent } from '../../../../src/telemetry/event.js'
import { newFolder, sampleData } from '../../../support/lookup-service.js'
import { sampleAsn, sampleCity } from '../../../support/sample-places.js'

const open = (folder: string, maxRows = 1_000): Intelligence =>
  openIntelligence(folder, () => undefined, { maxRows, emit: ignoreTelemetry })

const sample = open(sampleData)
const asked = { caller: 'somebody', findRows: createFindRows() }

const found = async (query: string): Promise<unknown> => {
  const answer = await bannerSearch(
    { ...sample, ...asked, aboutAddress: (ip) => sample.aboutAddress(ip, []) },
    query,
    0,
  )
  return answer.ok ? (answer.body.data as { count: number }).count : answer.failure.status
}
const exploits = async (query: string): Promise<unknown> => {
  const answer = await exploitSearch({ ...sample, ...asked }, query, 0)
  return answer.ok ? (answer.body.data as { count: number }).count : answer.failure.status
}

describe('the filters of the banner index', () => {
  it.each([
    ['ip:198.51.100.60', 3],
    ['ip:198.51.100.0/24', 8],
    ['ip:2001:db8::/32', 1],
    ['ip:nonsense', 0],
    ['port:443', 1],
    ['port:https', 0],
    ['scanner_port:23', 1],
    ['product:openssh', 2],
    ['product:"example nas"', 1],
    ['product_version:1.22.1', 5],
    ['service:https', 2],
    ['tag:webcam', 1],
    ['tech_stack:php', 2],
    ['title:welcome', 14],
    ['status_code:404', 7],
    ['country:us', 15],
    ['city:Utrecht', 9],
    ['as_name:hosting', 9],
    ['ssl_subject_common_name:example.com', 1],
    ['hostname:shop.example.com', 1],
    ['cve_id:cve-2099-0001', 1],
    ['after: 2026-10-01', 6],
    ['SSH-2.0', 2],
    ['nginx AND NOT port:80', 1],
    ['port:22 OR port:3389', 3],
    ['unheard_of:1', 0],
    ['port:22 OR unheard_of:1', 0],
    ['AND', 420],
  ])('%s finds %i', async (query, count) => {
    expect(await found(query)).toBe(count)
  })
})

describe('the filters of the exploit index', () => {
  it.each([
    ['cve_id:CVE-2099-0001', 2],
    ['cve_id:CVE-2098-1235', 1],
    ['edb_id:90003', 1],
    ['author:researcher', 1],
    ['author:Researcher', 1],
    ['author:RESEARCHER', 0],
    ['platform:linux', 1],
    ['type:remote', 2],
    ['verified:verified', 2],
    ['verified:unverified', 13],
    ['verified:perhaps', 0],
    ['year:2099', 2],
    ['placeholder NOT type:remote', 13],
  ])('%s finds %i', async (query, count) => {
    expect(await exploits(query)).toBe(count)
  })
})

describe('the folder of intelligence', () => {
  it('may be empty, or none at all', () => {
    for (const folder of [newFolder(), '']) {
      const { banners, exploits: none, reportFiles, placeOf, registeredOn } = open(folder)
      expect({ banners, none, reportFiles }).toEqual({ banners: [], none: [], reportFiles: [] })
      expect(placeOf('203.0.113.7')).toBeUndefined()
      expect(registeredOn('example.com')).toBeUndefined()
    }
  })

  it('leaves out rows that are none and takes no more than it may, and says both', () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'banners'))
    const rows = [
      '{"ip":"192.0.2.1","port":80}',
      'nonsense',
      '{"ip":"x","port":80}',
      '[]',
      '{"ip":"192.0.2.2","port":99999}',
    ]
    writeFileSync(join(folder, 'banners/a.ndjson'), [...rows, '{"ip":"192.0.2.3","port":"81"}'].join('\n'))
    writeFileSync(
      join(folder, 'banners/b.csv'),
      'ip,port,title\n192.0.2.4,82,"two\nlines, ""quoted"""\n192.0.2.5\n192.0.2.6,83,x\n',
    )
    const told: TelemetryEvent[] = []
    const { banners } = openIntelligence(folder, () => undefined, { maxRows: 3, emit: (event) => told.push(event) })
    expect(banners.map(({ ip, port, title }) => [ip, port, title])).toEqual([
      ['192.0.2.1', 80, ''],
      ['192.0.2.3', 81, ''],
      ['192.0.2.4', 82, 'two\nlines, "quoted"'],
    ])
    expect(told).toMatchObject([
      { event: 'index_loaded', rows: 2, skipped: 4, full: false },
      { event: 'index_loaded', rows: 1, full: true },
    ])
  })

  it('keeps of each port the newest scan', () => {
    expect(sample.aboutAddress('198.51.100.60', []).banners.map(({ port, version }) => [port, version])).toEqual([
      [8080, '1.0'],
      [3389, ''],
    ])
  })

  it('says when a name was registered, by its registrable domain', () => {
    expect(sample.registeredOn('www.example.org')).toBe('2026-11-01')
    expect(sample.registeredOn('unlisted.test')).toBe('')
  })

  it('joins what several databases say about one address', () => {
    expect(sample.placeOf('198.51.100.200')).toEqual({
      countryCode: 'de',
      country: 'Germany',
      region: 'Hesse',
      city: 'Frankfurt',
      postalCode: '0000',
      latitude: 50.1,
      longitude: 8.7,
      asNumber: 64_500,
      asName: 'EXAMPLE-HOSTING',
      organisation: 'EXAMPLE-HOSTING',
    })
    expect(sample.placeOf('2001:db8::1')).toMatchObject({ city: 'Utrecht', asNumber: 64_500 })
    expect(sample.placeOf('192.0.2.1')).toEqual({
      asNumber: 64_496,
      asName: 'EXAMPLE-ACCESS',
      organisation: 'EXAMPLE-ACCESS',
    })
    expect(sample.placeOf('8.8.8.8')).toBeUndefined()
  })

  it('holds the databases that its places are written in', () => {
    expect(readFileSync(join(sampleData, 'places/sample-city.mmdb')).equals(sampleCity())).toBe(true)
    expect(readFileSync(join(sampleData, 'places/sample-asn.mmdb')).equals(sampleAsn())).toBe(true)
  })
})

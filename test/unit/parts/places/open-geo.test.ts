// Databases of intel.geo: what they say, and what becomes of them when their files change.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../../src/base/clock.js'
import type { GeoDatabases } from '../../../../src/domain/geo.js'
import { openGeo } from '../../../../src/parts/places/open-geo.js'
import type { TelemetryEvent } from '../../../../src/telemetry/event.js'
import { writeMmdb, type MmdbValue } from '../../../support/mmdb.js'
import { sampleAsn, sampleCity } from '../../../support/sample-places.js'

const folder = mkdtempSync(join(tmpdir(), 'threatweave-geo-'))
let opened: GeoDatabases | undefined
let told: TelemetryEvent[] = []
let files = 0
afterEach(async () => {
  await opened?.close()
  opened = undefined
  told = []
})

const fileOf = (bytes: Buffer | string): string => {
  const file = join(folder, `${files++}.mmdb`)
  writeFileSync(file, bytes)
  return file
}

const options = {
  clock: systemClock,
  emit: (event: TelemetryEvent) => void told.push(event),
  documentation: true,
  pollMs: 5,
}

const open = async (given: readonly string[], more: object = {}): Promise<GeoDatabases> => {
  const geo = await openGeo(given, { ...options, ...more })
  if ('problems' in geo) throw new Error(JSON.stringify(geo.problems))
  return (opened = geo)
}

const generous = { timeout: 600_000, interval: 5 }
const ofAddress = (geo: GeoDatabases, value: string): unknown => geo.of({ type: 'ip', value })
const netherlands = { country: 'NL', as: { number: 64_500, name: 'EXAMPLE-HOSTING' } }

const countryOnly = (code: string): Buffer =>
  writeMmdb('Sample-Country', [['198.51.100.0/24', { country: { iso_code: code } }]])

describe('what databases say', () => {
  it('is country and network of an address, joined from several files', async () => {
    const geo = await open([fileOf(sampleCity()), fileOf(sampleAsn())])
    expect(ofAddress(geo, '198.51.100.7')).toEqual(netherlands)
    expect(ofAddress(geo, '2001:db8::1')).toEqual(netherlands)
    expect(ofAddress(geo, '192.0.2.1')).toEqual({ as: { number: 64_496, name: 'EXAMPLE-ACCESS' } })
    expect(geo.status()).toMatchObject([
      { state: 'loaded', type: 'Sample-City', built: 1_735_689_600_000, refusals: 0 },
      { state: 'loaded', type: 'Sample-ASN' },
    ])
  })

  it('is nothing for names, private addresses and addresses that no database has', async () => {
    const everything = writeMmdb('Everything', [['0.0.0.0/1', { country: { iso_code: 'NL' } }]])
    const geo = await open([fileOf(everything)])
    expect(ofAddress(geo, '8.8.8.8')).toEqual({ country: 'NL' })
    expect(ofAddress(geo, '10.0.0.5')).toBeUndefined()
    expect(ofAddress(geo, '127.0.0.1')).toBeUndefined()
    expect(ofAddress(geo, '203.0.113.7')).toBeUndefined()
    expect(geo.of({ type: 'domain', value: 'example.com' })).toBeUndefined()
  })

  it('is nothing for documentation addresses unless they count as real', async () => {
    const geo = await open([fileOf(sampleCity())], { documentation: false })
    expect(ofAddress(geo, '198.51.100.7')).toBeUndefined()
  })

  it.each<[string, MmdbValue, unknown]>([
    [
      'IPinfo, flat',
      { country_code: 'de', asn: 'AS64501', as_name: 'EXAMPLE' },
      { country: 'DE', as: { number: 64_501, name: 'EXAMPLE' } },
    ],
    ['IPinfo, older', { country: 'DE', country_name: 'Germany' }, { country: 'DE' }],
    ['the country of registration', { registered_country: { iso_code: 'FR' } }, { country: 'FR' }],
    ['a network without a name', { autonomous_system_number: 64_502 }, { as: { number: 64_502 } }],
    ['a name without a number', { autonomous_system_organization: 'EXAMPLE' }, undefined],
    ['a code that is none', { country: { iso_code: 'Germany' } }, undefined],
  ])('is read as others write it: %s', async (_, record, expected) => {
    const geo = await open([fileOf(writeMmdb('Other', [['198.51.100.0/24', record]]))])
    expect(ofAddress(geo, '198.51.100.7')).toEqual(expected)
  })
})

describe('a file that cannot be used', () => {
  it.each([
    ['is not there', 'missing.mmdb', 'does not exist'],
    ['is no database', fileOf('nonsense'), 'is no MaxMind-format database, or was cut off'],
    ['was cut off', fileOf(sampleCity().subarray(0, 400)), 'is no MaxMind-format database, or was cut off'],
    ['lost its beginning', fileOf(sampleCity().subarray(700)), 'is a damaged'],
    ['is packed', fileOf(gzipSync(sampleCity())), 'is packed with gzip: unpack it first'],
    ['is a folder', folder, 'is a directory'],
  ])('is refused at the start if it %s', async (_, file, message) => {
    const refused = await openGeo([fileOf(sampleAsn()), file], options)
    expect(refused).toEqual({
      problems: [
        {
          setting: 'intel.geo.1',
          message: expect.stringContaining(`names a database, which is refused: ${message}`) as string,
          where: file,
        },
      ],
    })
  })

  it('is said to be broken once, where only a part of it is, and answers for the rest', async () => {
    const rows = ['198.51.100.0/24', '203.0.113.0/24'].map((range) => [range, { country: { iso_code: 'NL' } }] as const)
    const bytes = writeMmdb('Broken', rows)
    const last = bytes.lastIndexOf('country')
    // No value has this type.
    bytes.writeUInt16BE(0x0005, last - 2)
    const geo = await open([fileOf(bytes)])
    expect(ofAddress(geo, '203.0.113.7')).toBeUndefined()
    expect(ofAddress(geo, '203.0.113.8')).toBeUndefined()
    expect(ofAddress(geo, '198.51.100.7')).toEqual({ country: 'NL' })
    expect(told.filter(({ event }) => event === 'geo_lookup_failed')).toHaveLength(1)
  })
})

describe('a file that changes', () => {
  const refusals = (): TelemetryEvent[] => told.filter(({ event }) => event === 'geo_database_refused')

  it('is used from then on, by rename and in place', async () => {
    const file = fileOf(countryOnly('NL'))
    const geo = await open([file])
    const before = geo.version()
    renameSync(fileOf(countryOnly('DE')), file)
    await vi.waitFor(() => expect(ofAddress(geo, '198.51.100.7')).toEqual({ country: 'DE' }), generous)
    expect(geo.version()).toBeGreaterThan(before)
    writeFileSync(file, countryOnly('FR'))
    await vi.waitFor(() => expect(ofAddress(geo, '198.51.100.7')).toEqual({ country: 'FR' }), generous)
    expect(refusals()).toEqual([])
  })

  it.each([
    [
      'broken',
      (file: string) => writeFileSync(file, countryOnly('DE').subarray(0, 60)),
      'is no MaxMind-format database',
    ],
    ['removed', (file: string) => rmSync(file), 'does not exist'],
  ])(
    'and is %s leaves the last good version in use, says so, and is used when it is whole again',
    async (_, harm, why) => {
      const file = fileOf(countryOnly('NL'))
      const geo = await open([file, fileOf(sampleAsn())])
      const { version } = geo
      const before = version()
      harm(file)
      await vi.waitFor(() => expect(refusals()).toHaveLength(1), generous)
      expect(refusals()[0]).toMatchObject({ file, message: expect.stringContaining(why) as string })
      expect(ofAddress(geo, '198.51.100.7')).toEqual(netherlands)
      expect(version()).toBe(before)
      expect(geo.status()).toMatchObject([
        { file, state: 'kept', refusals: 1 },
        { state: 'loaded', refusals: 0 },
      ])
      writeFileSync(file, countryOnly('DE'))
      await vi.waitFor(() => expect(ofAddress(geo, '198.51.100.7')).toMatchObject({ country: 'DE' }), generous)
      expect(geo.status()[0]).toMatchObject({ state: 'loaded', refusals: 1 })
      expect(geo.status()[0]).not.toHaveProperty('problem')
    },
  )
})

// The invented places of examples/intel, from which its two databases are generated.
import { writeMmdb, type MmdbValue } from './mmdb.js'

const city = (
  [code, country]: readonly [string, string],
  region: string,
  name: string,
  [latitude, longitude]: readonly [number, number],
): MmdbValue => ({
  country: { iso_code: code, names: { en: country } },
  subdivisions: [{ names: { en: region } }],
  city: { names: { en: name } },
  location: { latitude: { double: latitude }, longitude: { double: longitude } },
  postal: { code: '0000' },
})

const owner = (number: number, name: string): MmdbValue => ({
  autonomous_system_number: number,
  autonomous_system_organization: name,
})

export const sampleCity = (): Buffer =>
  writeMmdb('Sample-City', [
    ['198.51.100.0/25', city(['NL', 'Netherlands'], 'Utrecht', 'Utrecht', [52.1, 5.1])],
    ['198.51.100.128/25', city(['DE', 'Germany'], 'Hesse', 'Frankfurt', [50.1, 8.7])],
    ['203.0.113.0/24', city(['US', 'United States'], 'Oregon', 'Portland', [45.5, -122.7])],
    ['2001:db8::/32', city(['NL', 'Netherlands'], 'Utrecht', 'Utrecht', [52.1, 5.1])],
  ])

export const sampleAsn = (): Buffer =>
  writeMmdb('Sample-ASN', [
    ['192.0.2.0/24', owner(64_496, 'EXAMPLE-ACCESS')],
    ['198.51.100.0/24', owner(64_500, 'EXAMPLE-HOSTING')],
    ['203.0.113.0/24', owner(64_501, 'EXAMPLE-TRANSIT')],
    ['2001:db8::/32', owner(64_500, 'EXAMPLE-HOSTING')],
  ])

// The location and network of an address from MaxMind-format databases; the first database with a member wins.
import { readFileSync } from 'node:fs'
import { Reader, type Response } from 'maxmind'
import { messageOf } from '../base/message-of.js'

export type Location = {
  readonly countryCode?: string
  readonly country?: string
  readonly region?: string
  readonly city?: string
  readonly postalCode?: string
  readonly latitude?: number
  readonly longitude?: number
  readonly asNumber?: number
  readonly asName?: string
  readonly organisation?: string
}

type Places = {
  readonly find: (address: string) => Location | undefined
}

/** One database. */
export type Database = Places & {
  /** The type in its metadata, such as GeoLite2-ASN. */
  readonly type: string
  /** The build time in epoch milliseconds. */
  readonly built: number
}

/** Throws for an unusable file; otherwise its addresses would appear to have no location. */
export const openPlaces = (files: readonly string[]): Places => {
  const databases = files.map((file) => {
    const database = databaseIn(readFileSync(file))
    if ('problem' in database) throw new Error(`${file} ${database.problem}`)
    return database
  })
  return { find: (address) => findIn(databases, address) }
}

export const findIn = (databases: readonly Places[], address: string): Location | undefined => {
  let found: Location | undefined
  for (const { find } of databases) {
    const place = find(address)
    if (place !== undefined) found = found === undefined ? place : { ...place, ...found }
  }
  return found
}

const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
/** The separator between the search tree and the data section. */
const gapBytes = 16
/** Test lookups in every part of the address space, to detect a damaged file. */
const probes = Array.from({ length: 256 }, (_, first) => `${first}.${(first * 7) % 256}.113.1`)

/** Parses a database; a truncated or partly written file is a problem. */
export const databaseIn = (bytes: Buffer): Database | { readonly problem: string } => {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return { problem: 'is packed with gzip: unpack it first' }
  const end = bytes.lastIndexOf(marker)
  if (end < 0) return { problem: 'is no MaxMind-format database, or was cut off: its end is missing' }
  try {
    const reader = new Reader(bytes)
    const { searchTreeSize, ipVersion, databaseType, buildEpoch } = reader.metadata
    if (!(searchTreeSize > 0) || searchTreeSize + gapBytes > end)
      return { problem: 'is a damaged database: its tree is larger than the file' }
    const find = (address: string): Location | undefined => {
      // An IPv4 tree would return a wrong result for the first bits of an IPv6 address.
      const record = ipVersion === 4 && address.includes(':') ? null : reader.get(address)
      return record === null ? undefined : placeOf(record)
    }
    for (const address of probes) find(address)
    return { type: databaseType, built: buildEpoch.getTime(), find }
  } catch (error) {
    return { problem: `is a broken MaxMind-format database: ${messageOf(error)}` }
  }
}

/** MaxMind nests the members; IPinfo and others have them at the top. */
const placeOf = (record: Response): Location => {
  const at = (...path: (string | number)[]): unknown =>
    path.reduce<unknown>((node, name) => (node as Record<string | number, unknown> | null | undefined)?.[name], record)
  const text = (...candidates: unknown[]): string | undefined =>
    candidates.find((value): value is string => typeof value === 'string' && value !== '')
  const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
  return defined({
    countryCode: text(
      at('country', 'iso_code'),
      at('registered_country', 'iso_code'),
      at('country_code'),
      codeIn(at('country')),
    )?.toLowerCase(),
    country: text(at('country', 'names', 'en'), at('registered_country', 'names', 'en'), at('country')),
    region: text(at('subdivisions', 0, 'names', 'en'), at('region')),
    city: text(at('city', 'names', 'en'), at('city')),
    postalCode: text(at('postal', 'code'), at('postal_code')),
    latitude: number(at('location', 'latitude') ?? at('latitude')),
    longitude: number(at('location', 'longitude') ?? at('longitude')),
    asNumber: number(at('autonomous_system_number')) ?? asNumberOf(at('asn')),
    asName: text(at('autonomous_system_organization'), at('as_name')),
    organisation: text(at('organization'), at('isp'), at('autonomous_system_organization'), at('as_name')),
  })
}

/** IPinfo has the country code in the member where others have the name. */
const codeIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[A-Z]{2}$/.test(value) ? value : undefined

const asNumberOf = (value: unknown): number | undefined => {
  const digits = typeof value === 'string' ? /^(?:AS)?(\d{1,10})$/i.exec(value)?.[1] : undefined
  return digits === undefined ? undefined : Number(digits)
}

const defined = <T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>
  }

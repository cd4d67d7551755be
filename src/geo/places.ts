// Where an address is and whose it is, from MaxMind-format databases; each gives what it has, the first to have a member wins.
import { readFileSync } from 'node:fs'
import { Reader, type Response } from 'maxmind'

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
  readonly size: number
  readonly find: (address: string) => Location | undefined
}

/** A file that is no such database is a refusal to start: silence would look like "nowhere". */
export const openPlaces = (files: readonly string[]): Places => {
  const readers = files.map((file) => {
    try {
      return new Reader(readFileSync(file))
    } catch (error) {
      throw new Error(
        `${file} is no MaxMind-format database: ${error instanceof Error ? error.message : 'unreadable'}`,
        {
          cause: error,
        },
      )
    }
  })
  return {
    size: readers.length,
    find: (address) => {
      const records = readers.map((reader) => reader.get(address)).filter((record) => record !== null)
      return records.length === 0 ? undefined : merge(records.map(placeOf))
    },
  }
}

const merge = (places: readonly Location[]): Location =>
  places.reduceRight((merged, place) => ({ ...merged, ...place }))

/** Nested as MaxMind writes, flat as IPinfo and others do. */
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

const asNumberOf = (value: unknown): number | undefined => {
  const digits = typeof value === 'string' ? /^(?:AS)?(\d{1,10})$/i.exec(value)?.[1] : undefined
  return digits === undefined ? undefined : Number(digits)
}

const defined = <T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>
  }

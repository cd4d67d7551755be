// Local data: opens one folder of feeds, databases, lists, indexes and reports, and answers questions from it.
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { Listing } from '../../domain/finding.js'
import { parseHostname } from '../../domain/hostname.js'
import type { Indicator } from '../../domain/indicator.js'
import { registrableDomain } from '../../domain/public-suffix.js'
import type { FeedSettings } from '../../feeds/feed.js'
import type { Emit } from '../../telemetry/event.js'
import { openAddressLists } from './address-lists.js'
import { bannerOf, type Banner } from './banner-index.js'
import type { AddressIntelligence } from './address-intelligence.js'
import { exploitOf, type Exploit } from './exploit-index.js'
import { textOf, readRows, type DataRow } from './read-rows.js'
import { openPlaces, type Location } from '../../geo/places.js'

type Listed = { readonly listings: readonly Listing[]; readonly at: number }
/** `paths`: the paths of the URLs in question. */
export type ListedOf = (indicator: Indicator, paths?: readonly string[]) => Listed | undefined

export type Intelligence = {
  readonly banners: readonly Banner[]
  readonly exploits: readonly Exploit[]
  readonly reportFiles: readonly string[]
  readonly exploitsOf: (cveId: string) => readonly Exploit[]
  readonly placeOf: (address: string) => Location | undefined
  /** The registration date of a name; `""` if no list has it, undefined if no list is loaded. */
  readonly registeredOn: (host: string) => string | undefined
  readonly aboutAddress: (address: string, names: AddressIntelligence['names']) => AddressIntelligence
}

const extensions = {
  feeds: ['.txt', '.csv', '.json', '.netset', '.ipset', '.list'],
  places: ['.mmdb'],
  lists: ['.txt', '.json', '.netset', '.list'],
  banners: ['.ndjson', '.jsonl', '.csv'],
  exploits: ['.ndjson', '.jsonl', '.csv'],
  registrations: ['.ndjson', '.jsonl', '.csv'],
  reports: ['.json'],
} as const
type Part = keyof typeof extensions

/** All files of one part of the folder, in the order of their names. */
const filesOf = (folder: string, part: Part): string[] => {
  const there = join(folder, part)
  if (folder === '' || !existsSync(there)) return []
  return readdirSync(there, { recursive: true, encoding: 'utf8' })
    .filter((file) => (extensions[part] as readonly string[]).includes(extname(file).toLowerCase()))
    .sort()
    .map((file) => join(there, file))
}

/** The folder gives the level, as in `feeds/malicious/x.txt`; a subfolder gives the category, as in `feeds/malicious/c2/x.txt`. */
export const feedsOf = (folder: string): FeedSettings[] =>
  filesOf(folder, 'feeds').map((path) => {
    const [level, category, ...rest] = dirname(path)
      .slice(join(folder, 'feeds').length + 1)
      .split(/[/\\]/)
    if ((level !== 'malicious' && level !== 'suspicious') || rest.length > 0)
      throw new Error(`${path} must stand in feeds/malicious/ or feeds/suspicious/, or one folder below`)
    return {
      name: basename(path, extname(path)),
      path,
      level,
      categories: category === undefined ? [] : [category],
    }
  })

export const openIntelligence = (
  folder: string,
  listedOf: ListedOf,
  { maxRows, emit }: { readonly maxRows: number; readonly emit: Emit },
): Intelligence => {
  const places = openPlaces(filesOf(folder, 'places'))
  const lists = openAddressLists(filesOf(folder, 'lists'))
  const load = <T>(part: Part, read: (row: DataRow) => T | undefined): T[] => {
    const loaded: T[] = []
    for (const file of filesOf(folder, part)) {
      let skipped = 0
      const before = loaded.length
      const take = (row: DataRow): boolean => {
        const item = read(row)
        if (item === undefined) skipped++
        else loaded.push(item)
        return loaded.length < maxRows
      }
      readRows(file, take, () => skipped++)
      emit({ event: 'index_loaded', file, rows: loaded.length - before, skipped, full: loaded.length >= maxRows })
    }
    return loaded
  }
  const banners = load('banners', (row) => bannerOf(row, places.find)).sort((a, b) =>
    a.scannedAt < b.scannedAt ? 1 : a.scannedAt > b.scannedAt ? -1 : 0,
  )
  const exploits = load('exploits', exploitOf)
  const registrations = load('registrations', registrationOf)
  const bannersByIp = groupBy(banners, ({ ip }) => [ip])
  const exploitsByCve = groupBy(exploits, ({ cveIds }) => cveIds)
  const registered = new Map(registrations)
  return {
    banners,
    exploits,
    reportFiles: filesOf(folder, 'reports'),
    exploitsOf: (cveId) => exploitsByCve.get(cveId) ?? [],
    placeOf: places.find,
    registeredOn: (host) =>
      registered.size === 0 ? undefined : (registered.get(registrableDomain(host) ?? host) ?? ''),
    aboutAddress: (ip, names) => {
      const listed = listedOf({ type: 'ip', value: ip })
      const place = places.find(ip)
      return {
        ip,
        listings: listed?.listings ?? [],
        listedAt: listed?.at ?? 0,
        lists: lists.find(ip),
        loadedLists: lists.loaded,
        ...(place === undefined ? {} : { place }),
        banners: newestOfPort(bannersByIp.get(ip) ?? []),
        names,
      }
    },
  }
}

const registrationOf = (row: DataRow): readonly [string, string] | undefined => {
  const name = parseHostname(textOf(row, 'domain') ?? '')
  const created = textOf(row, 'created')?.slice(0, 10)
  return name === undefined || created === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(created)
    ? undefined
    : [registrableDomain(name) ?? name, created]
}

const groupBy = <T>(items: readonly T[], keysOf: (item: T) => readonly string[]): Map<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const item of items)
    for (const key of keysOf(item)) {
      const group = groups.get(key)
      if (group) group.push(item)
      else groups.set(key, [item])
    }
  return groups
}

/** The index has historic scans of the same port; only the newest counts. */
const newestOfPort = (banners: readonly Banner[]): Banner[] => {
  const newest = new Map<string, Banner>()
  for (const banner of banners) {
    const key = `${banner.socket}/${banner.port}`
    if (!newest.has(key)) newest.set(key, banner)
  }
  return [...newest.values()]
}

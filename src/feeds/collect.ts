// Collects the entries that parsers find, rejects unusable ones, and keeps the rest in columns ready for indexing.
import type { AddressRange } from '../domain/address.js'
import { replaceControls } from '../domain/control-characters.js'
import { isNoteworthy, skipReasons, type SkipReason, type Skipped } from '../domain/skipped.js'
import { registrableDomain } from '../domain/public-suffix.js'
import { bytes, createColumn, createDetailColumns, noScore, shorts, words, type DetailColumns } from './columns.js'
import { prefixesOf, readEntry, type Entry } from './entry.js'
import type { Details, FeedSettings, Place, Sink } from './feed.js'
import type { FeedIndex } from './feed-index.js'
import { buildNameTable, type NameColumns } from './name-table.js'
import { buildRangeTable, type RangeColumns } from './range-table.js'
import { buildSiteTable, type SiteColumns } from './site-table.js'
import { bitsOf, tooBroad, tooBroadName } from './too-broad.js'

const maxEntries = 8_000_000
/** Further lists fall back to the feed's own categories, because these lists are the only part that is copied between threads. */
const maxCategoryLists = 4096
const maxCategories = 8
const maxCategoryLength = 64
const dayMs = 86_400_000

type Complaint = { readonly place: Place; readonly message: string }
type Example = Complaint & { readonly why: SkipReason }

export type Collector = Sink & {
  readonly index: (seed: number) => FeedIndex
  /** Entries taken, of all files. */
  readonly taken: () => number
  /** Counts by reason. Duplicates are only found when the index is built. */
  readonly skipped: () => Skipped
  /** The first examples of skipped entries, without those returned by earlier calls. */
  readonly newExamples: () => readonly Example[]
  /** Ids collected in an older version than one found later, with the newest version. The feed must then be read again. */
  readonly outdated: () => ReadonlyMap<string, number>
  /** Epoch milliseconds when the newest entry was seen or listed, if the list has dates. */
  readonly newestEntry: () => number | undefined
  /** Why the feed as a whole must be refused. */
  readonly refusal: () => Complaint | undefined
}

const maxExamples = 3

type Site = Extract<Entry, { readonly kind: 'site' }>

type Rules = Pick<FeedSettings, 'score' | 'minScore' | 'categories' | 'expiresDays'> & {
  /** Epoch milliseconds: the age of entries without a timestamp of their own. */
  readonly modified: () => number
  readonly now: number
  /** False when the input comes in pages. */
  readonly isWhole: boolean
  /** The newest version per id, from a first pass that found outdated ones. */
  readonly newest?: ReadonlyMap<string, number> | undefined
}

export const collect = (rules: Rules): Collector => {
  const four: RangeColumns = {
    width: 1,
    starts: createColumn(words),
    bits: createColumn(bytes),
    ports: createColumn(shorts),
    ...createDetailColumns(),
  }
  const six: RangeColumns = {
    width: 4,
    starts: createColumn(words),
    bits: createColumn(bytes),
    ports: createColumn(shorts),
    ...createDetailColumns(),
  }
  const names: NameColumns = { text: createColumn(bytes), offsets: createColumn(words), ...createDetailColumns() }
  const sites: SiteColumns = {
    text: createColumn(bytes),
    offsets: createColumn(words),
    hostLengths: createColumn(bytes),
    schemes: createColumn(bytes),
    ports: createColumn(shorts),
    ...createDetailColumns(),
  }
  const { minScore = 0 } = rules
  const lists = categoryLists(rules.categories)
  let nameBytes = 0
  let siteBytes = 0
  let taken = 0
  let newestEntry = 0
  const skipped: { [reason in SkipReason]?: number } = {}
  let examples: Example[] = []
  let refusal: Complaint | undefined
  const met = new Map<string, number>()
  const outdated = new Map<string, number>()

  /** The message is built lazily, because only the first few are shown. */
  const skip = (why: SkipReason, place: Place, message?: () => string): boolean => {
    const before = skipped[why] ?? 0
    skipped[why] = before + 1
    if (message && before < maxExamples) examples.push({ why, place, message: message() })
    return true
  }
  const describe = (columns: DetailColumns, type: 'ip' | 'domain', details: Details | undefined): void => {
    const { tlp, categories } = details ?? {}
    // First, so that the category limit never cuts off the TLP.
    const given = tlp === undefined ? categories : [tlp, ...(categories ?? [])]
    columns.categories.push(given ? lists.idOf(given) : 0)
    columns.scores.push(scoreOf(details?.score ?? rules.score))
    columns.since.push(secondsOf(sinceOf(details, rules.now)))
    columns.expires.push(secondsOf(expiryOf(details, type, rules)))
    const at = details?.seen ?? details?.firstSeen ?? details?.since ?? 0
    if (at > newestEntry && at <= rules.now) newestEntry = at
  }
  const addRange = (range: AddressRange, port: number, details: Details | undefined): void => {
    const columns = range.version === 4 ? four : six
    if (range.version === 4) four.starts.push(range.first)
    else for (const word of range.first) six.starts.push(word)
    columns.bits.push(bitsOf(range))
    columns.ports.push(port)
    describe(columns, 'ip', details)
  }
  const addName = (name: string, details: Details | undefined): void => {
    names.offsets.push(nameBytes)
    for (let i = 0; i < name.length; i++) names.text.push(name.charCodeAt(i))
    nameBytes += name.length
    describe(names, 'domain', details)
  }
  const addSite = (
    host: string,
    { path, scheme, port }: Pick<Site, 'path' | 'scheme' | 'port'>,
    details: Details | undefined,
  ): void => {
    sites.offsets.push(siteBytes)
    sites.schemes.push(scheme)
    sites.ports.push(port)
    sites.hostLengths.push(host.length)
    for (let i = 0; i < host.length; i++) sites.text.push(host.charCodeAt(i))
    for (let i = 0; i < path.length; i++) sites.text.push(path.charCodeAt(i))
    siteBytes += host.length + path.length
    describe(sites, 'domain', details)
  }

  return {
    add: (value, place, details) => {
      const entry = readEntry(value)
      if (entry.kind === 'other') return skip('not_looked_up', place, () => `${quoted(value)} is ${entry.what}`)
      if (entry.kind === 'unusable' || (entry.kind === 'single' && tooBroadName(entry.name) === undefined))
        return skip('unusable', place, () => `${quoted(value)} is no address, range, name or URL`)
      if (details?.score !== undefined && details.score < minScore) return skip('low_score', place)
      const broad = entry.kind === 'single' ? tooBroadName(entry.name) : tooBroad(entry)
      if (broad !== undefined || entry.kind === 'single')
        return skip('too_broad', place, () => `${quoted(value)} ${broad}`)
      const type = entry.kind === 'range' || entry.kind === 'span' ? 'ip' : 'domain'
      if ((expiryOf(details, type, rules) ?? Infinity) <= rules.now) return skip('expired', place)
      const ranges = entry.kind === 'range' ? [entry.range] : entry.kind === 'span' ? prefixesOf(entry.span) : []
      taken += Math.max(1, ranges.length)
      if (taken > maxEntries) {
        refusal = { place, message: `there are more than ${maxEntries} entries` }
        return false
      }
      const port = (entry.kind === 'range' && isSingle(entry.range) && (entry.port ?? details?.port)) || 0
      for (const range of ranges) addRange(range, port, details)
      if (entry.kind === 'site') addSite(entry.name, entry, details)
      // A host that is itself a public suffix by a wildcard rule is listed alone: names below it have other owners.
      else if (entry.kind === 'name' && registrableDomain(entry.name) === undefined)
        addSite(entry.name, wholeHost, details)
      else if (entry.kind === 'name') addName(entry.name, details)
      return true
    },
    skip: (place, why = 'unusable', text) => {
      const said = `is skipped (${why}): ${skipReasons[why]}`
      const message = (): string =>
        text === undefined ? 'holds no address, range, name or URL' : `${quoted(text)} ${said}`
      return skip(why, place, isNoteworthy(why) || why === 'not_looked_up' ? message : undefined)
    },
    isWhole: rules.isWhole,
    isNewest: (id, version) => {
      if (version < (rules.newest?.get(id) ?? 0)) return false
      const known = met.get(id)
      if (known === undefined) met.set(id, version)
      else if (version > known) outdated.set(id, Math.max(version, outdated.get(id) ?? 0))
      return known === undefined
    },
    outdated: () => outdated,
    taken: () => taken,
    skipped: () => ({ ...skipped }),
    newExamples: () => {
      const fresh = examples
      examples = []
      return fresh
    },
    newestEntry: () => (newestEntry === 0 ? undefined : newestEntry),
    refusal: () => refusal,
    index: (seed) => ({
      four: buildRangeTable(four),
      six: buildRangeTable(six),
      names: buildNameTable(names, seed),
      sites: buildSiteTable(sites, seed),
      categories: lists.all,
    }),
  }
}

const wholeHost = { path: '', scheme: 0, port: 0 } as const

const isSingle = (range: AddressRange): boolean => bitsOf(range) === (range.version === 4 ? 32 : 128)

const quoted = (value: string): string => JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)

const scoreOf = (score: number | undefined): number =>
  score === undefined || Number.isNaN(score) ? noScore : Math.round(Math.min(Math.max(score, 0), 100))

/** A first-seen time cannot be in the future; a start of validity can. */
const sinceOf = (details: Details | undefined, now: number): number | undefined =>
  details?.since ?? (details?.firstSeen !== undefined && details.firstSeen <= now ? details.firstSeen : undefined)

const expiryOf = (details: Details | undefined, type: 'ip' | 'domain', rules: Rules): number | undefined => {
  if (details?.expires !== undefined) return details.expires
  const { expiresDays } = rules
  const days = typeof expiresDays === 'object' ? expiresDays[type] : expiresDays
  return days === undefined ? undefined : (details?.seen ?? rules.modified()) + days * dayMs
}

const secondsOf = (time: number | undefined): number =>
  time === undefined ? 0 : Math.min(Math.max(Math.floor(time / 1000), 1), 0xffffffff)

/** Many entries share few lists, so each entry stores an id. List 0 is the feed's own. */
const categoryLists = (
  own: readonly string[],
): { all: (readonly string[])[]; idOf: (given: readonly string[]) => number } => {
  const all: (readonly string[])[] = [own]
  const ids = new Map<string, number>()
  return {
    all,
    idOf: (given) => {
      const key = given.length > 64 ? given.slice(0, 64).join('\n') : given.join('\n')
      const known = ids.get(key)
      if (known !== undefined) return known
      if (all.length === maxCategoryLists) return 0
      const list = [...new Set([...given.slice(0, 64).map(tidy), ...own])].filter((category) => category !== '')
      ids.set(key, all.length)
      return all.push(list.slice(0, maxCategories)) - 1
    },
  }
}

const tidy = (category: string): string =>
  replaceControls(category.slice(0, maxCategoryLength), () => ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()

// Takes what the parsers find, judges each entry, and keeps what may be listed in columns ready to be indexed.
import type { Range } from '../domain/address.js'
import { registrableDomain } from '../domain/public-suffix.js'
import { bytes, createColumn, createDetailColumns, noScore, words, type DetailColumns } from './columns.js'
import { bitsOf, dangerOf, dangerOfName } from './dangerous.js'
import { readEntry } from './entry.js'
import type { Details, FeedSettings, Place, Sink } from './feed.js'
import type { FeedIndex } from './feed-index.js'
import { buildNameTable, type NameColumns } from './name-table.js'
import { buildRangeTable, type RangeColumns } from './range-table.js'
import { buildSiteTable, type SiteColumns } from './site-table.js'
import { prefixesOf } from './span.js'

const maxEntries = 8_000_000
/** Past this an entry has the feed's own categories: lists of categories are the one thing that is copied between threads. */
const maxCategoryLists = 4096
const maxCategories = 8
const maxCategoryLength = 64
const dayMs = 86_400_000

export type Complaint = { readonly place: Place; readonly message: string }

export type Collector = Sink & {
  readonly index: (seed: number) => FeedIndex
  /** Entries taken, of all files. */
  readonly taken: () => number
  /** What was left out: lines that are no entry, and dangerous entries where those may be skipped. */
  readonly left: () => { readonly junk: number; readonly dangerous: number; readonly first?: Complaint }
  /** Why the feed as a whole must be refused. */
  readonly refusal: () => Complaint | undefined
}

type Rules = Pick<FeedSettings, 'score' | 'categories' | 'expiresDays' | 'onBadEntry'> & {
  readonly documentation: boolean
  /** Epoch milliseconds: the age of entries that do not tell their own. */
  readonly modified: () => number
  readonly now: number
}

export const collect = (rules: Rules): Collector => {
  const four: RangeColumns = {
    width: 1,
    starts: createColumn(words),
    bits: createColumn(bytes),
    ...createDetailColumns(),
  }
  const six: RangeColumns = {
    width: 4,
    starts: createColumn(words),
    bits: createColumn(bytes),
    ...createDetailColumns(),
  }
  const names: NameColumns = { text: createColumn(bytes), offsets: createColumn(words), ...createDetailColumns() }
  const sites: SiteColumns = {
    text: createColumn(bytes),
    offsets: createColumn(words),
    hostLengths: createColumn(bytes),
    ...createDetailColumns(),
  }
  const lists = categoryLists(rules.categories)
  let nameBytes = 0
  let siteBytes = 0
  let taken = 0
  let junk = 0
  let dangerous = 0
  let first: Complaint | undefined
  let refusal: Complaint | undefined

  const complain = (place: Place, message: string): void => {
    first ??= { place, message }
  }
  const describe = (columns: DetailColumns, details: Details | undefined): void => {
    columns.categories.push(details?.categories ? lists.idOf(details.categories) : 0)
    columns.scores.push(scoreOf(details?.score ?? rules.score))
    columns.since.push(details?.since === undefined || details.since <= rules.now ? 0 : secondsOf(details.since))
    columns.expires.push(secondsOf(expiryOf(details, rules)))
  }
  const addRange = (range: Range, details: Details | undefined): void => {
    const columns = range.version === 4 ? four : six
    if (range.version === 4) four.starts.push(range.first)
    else for (const word of range.first) six.starts.push(word)
    columns.bits.push(bitsOf(range))
    describe(columns, details)
  }
  const addName = (name: string, details: Details | undefined): void => {
    names.offsets.push(nameBytes)
    for (let i = 0; i < name.length; i++) names.text.push(name.charCodeAt(i))
    nameBytes += name.length
    describe(names, details)
  }
  const addSite = (host: string, path: string, details: Details | undefined): void => {
    sites.offsets.push(siteBytes)
    sites.hostLengths.push(host.length)
    for (let i = 0; i < host.length; i++) sites.text.push(host.charCodeAt(i))
    for (let i = 0; i < path.length; i++) sites.text.push(path.charCodeAt(i))
    siteBytes += host.length + path.length
    describe(sites, details)
  }
  const refuse = (place: Place, message: string): boolean => {
    if (rules.onBadEntry === 'skip') {
      dangerous++
      complain(place, message)
      return true
    }
    refusal = { place, message }
    return false
  }
  const addJunk = (place: Place, message: string): boolean => {
    junk++
    complain(place, message)
    return true
  }

  return {
    add: (value, place, details) => {
      const entry = readEntry(value)
      if (entry.kind === 'ignored') return true
      if (entry.kind === 'junk') return addJunk(place, `${quoted(value)} is no address, range or name`)
      if (entry.kind === 'single') {
        const danger = dangerOfName(entry.name)
        if (danger === undefined) return addJunk(place, `${quoted(value)} is no address, range or name`)
        return refuse(place, `${quoted(value)} ${danger}`)
      }
      const danger = dangerOf(entry, rules.documentation)
      if (danger !== undefined) return refuse(place, `${quoted(value)} ${danger}`)
      const ranges = entry.kind === 'range' ? [entry.range] : entry.kind === 'span' ? prefixesOf(entry.span) : []
      taken += Math.max(1, ranges.length)
      if (taken > maxEntries) {
        refusal = { place, message: `there are more than ${maxEntries} entries` }
        return false
      }
      for (const range of ranges) addRange(range, details)
      if (entry.kind === 'site') addSite(entry.name, entry.path, details)
      // What is below a host that a wildcard rule calls a suffix is somebody else's.
      else if (entry.kind === 'name' && registrableDomain(entry.name) === undefined) addSite(entry.name, '', details)
      else if (entry.kind === 'name') addName(entry.name, details)
      return true
    },
    junk: (place) => addJunk(place, 'holds no address, range or name'),
    taken: () => taken,
    left: () => ({ junk, dangerous, ...(first && { first }) }),
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

const quoted = (value: string): string => JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)

const scoreOf = (score: number | undefined): number =>
  score === undefined || Number.isNaN(score) ? noScore : Math.round(Math.min(Math.max(score, 0), 100))

const expiryOf = (details: Details | undefined, { expiresDays, modified }: Rules): number | undefined => {
  if (details?.expires !== undefined) return details.expires
  return expiresDays === undefined ? undefined : (details?.seen ?? modified()) + expiresDays * dayMs
}

const secondsOf = (time: number | undefined): number =>
  time === undefined ? 0 : Math.min(Math.max(Math.floor(time / 1000), 1), 0xffffffff)

/** Few lists serve many entries; the first is the feed's own. */
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
  category
    .slice(0, maxCategoryLength)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .toLowerCase()

// Renders the verdict about one indicator as text for a terminal or as JSON.
import { printable } from '../domain/control-characters.js'
import type { Finding, HostReport, Listing } from '../domain/finding.js'
import type { Flag } from '../domain/flag.js'
import type { Geo } from '../domain/geo.js'
import type { Indicator } from '../domain/indicator.js'
import type { Verdict } from '../domain/verdict.js'

const colours = { malicious: 31, suspicious: 33, clean: 32, unknown: 90 } as const

/** The answer of a source; undefined if it was not asked or did not answer. */
export type SourceSaid = { readonly id: string; readonly ask: string; readonly said: Finding | undefined }

type Shown = {
  readonly sources?: readonly SourceSaid[] | undefined
  readonly indicator: Indicator
  readonly verdict: Verdict
  readonly finding: Finding
  readonly geo?: Geo | undefined
}

export const renderCard = ({ indicator, verdict, finding, geo, sources = [] }: Shown, isColoured: boolean): string => {
  const paint = (code: number, text: string): string => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text)
  const level = verdict.reason === undefined ? verdict.level : `${verdict.level} (${verdict.reason})`
  const score = verdict.score === undefined ? '' : `, score ${verdict.score}`
  const { details = {} } = verdict
  const { country = details.country, as = details.as } = geo ?? {}
  const lines: [string, string][] = [
    ['because', verdict.because],
    ['flags', stated(verdict, true)],
    ['not', stated(verdict, false)],
    ['accusers', verdict.accusers === undefined ? '' : String(verdict.accusers)],
    ...(finding.status === 'known' ? listingLines((finding.facts.listings ?? []).filter(isOfFeed)) : []),
    ...sources.map(({ id, ask, said }): [string, string] => ['asked', `${id}: ${describeSaid(saidOf(said), ask)}`]),
    ...(finding.status === 'known' ? factLines(finding.facts.hosts ?? []) : []),
    ['country', country ?? ''],
    ['network', as ? networkText(as) : ''],
    ['owner', details.owner ?? ''],
    ['open', (details.openPorts ?? []).join(', ')],
    ['exposes', (details.exposes ?? []).join(', ').replaceAll('_', ' ')],
    ['cve', (details.vulnerabilities ?? []).join(', ')],
    ['source', verdict.source ?? ''],
    ['obtained', verdict.at === undefined ? '' : new Date(verdict.at).toISOString()],
    ['stale', verdict.stale === true ? 'yes' : ''],
  ]
  const body = lines
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `  ${title.padEnd(9)} ${printable(text)}\n`)
  return `${paint(1, printable(indicator.value))}  ${paint(colours[verdict.level], level + score)}\n${body.join('')}\n`
}

export const networkText = ({ number, name }: NonNullable<Geo['as']>): string =>
  name === undefined ? `AS${number}` : `AS${number} ${name}`

const stated = ({ flags }: Verdict, value: boolean): string =>
  (Object.keys(flags) as Flag[]).filter((flag) => flags[flag] === value).join(', ')

const listingLines = (listings: readonly Listing[]): [string, string][] =>
  listings.map((listing) => {
    const { feed, entry, level, score, expires } = listing
    const details = [
      level === 'flag' ? 'safeguarded' : level,
      ...(score === undefined ? [] : [`score ${score}`]),
      ...sinceWhen(listing),
      ...(expires === undefined ? [] : [`until ${dayOf(expires)}`]),
    ]
    return ['listed', `in ${feed} as ${entry}: ${details.join(', ')}`]
  })

/** Without a date in the list, shows the time of the copy in use. */
const sinceWhen = ({ since, copyAt }: Listing): readonly string[] => {
  if (since !== undefined) return [`since ${dayOf(since)} by its own date`]
  return copyAt === undefined ? [] : [`in the copy of ${minuteOf(copyAt)}, which has no dates`]
}

/** Listings of sources are left out, because each source has a line of its own. */
const isOfFeed = ({ at }: Listing): boolean => at === undefined

type Said = {
  readonly said: 'malicious' | 'suspicious' | 'clean' | 'nothing' | 'not_found' | 'no_answer'
  readonly score?: number
  readonly evidence?: string
  readonly categories?: readonly string[]
  readonly at?: string
}

const saidOf = (finding: Finding | undefined): Said => {
  if (finding === undefined) return { said: 'no_answer' }
  const at = finding.at === undefined ? {} : { at: new Date(finding.at).toISOString() }
  if (finding.status === 'unknown') return { said: 'not_found', ...at }
  const { listings: [listing] = [], clearedBy } = finding.facts
  if (!listing || listing.level === 'flag') return { said: clearedBy ? 'clean' : 'nothing', ...at }
  const { level, score, evidence, categories } = listing
  return {
    said: level,
    ...(score !== undefined && { score }),
    ...(evidence !== undefined && { evidence }),
    ...(categories.length > 0 && { categories }),
    ...at,
  }
}

const describeSaid = ({ said, score, evidence, categories = [], at }: Said, ask: string): string => {
  const words = {
    nothing: 'no opinion',
    not_found: 'knows nothing about it',
    no_answer: `not asked, or no answer (asked: ${ask})`,
  }
  const details = [
    ...(score === undefined ? [] : [`score ${score}`]),
    ...(evidence === undefined ? [] : [evidence]),
    ...categories,
    ...(at === undefined ? [] : [`obtained ${at}`]),
  ]
  const word = said in words ? words[said as keyof typeof words] : said
  return [word, ...details].join(', ')
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
const minuteOf = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

const factLines = (hosts: readonly HostReport[]): [string, string][] =>
  hosts
    .slice(0, 5)
    .map(({ host, rating, at }) => [
      'report',
      `${host}: ${rating ?? 'no rating'}${at === undefined ? '' : `, ${dayOf(at)}`}`,
    ])

export const renderJson = ({ indicator, verdict, finding, geo, sources = [] }: Shown): string => {
  const { level, reason, score, accusers, flags, because, source, at, stale, feed, entry } = verdict
  const { listings, ...facts } = finding.status === 'known' ? finding.facts : { listings: undefined }
  const shown = {
    type: indicator.type,
    value: indicator.value,
    verdict: level,
    reason,
    score,
    accusers,
    because,
    flags,
    ...geo,
    source,
    at: at === undefined ? undefined : new Date(at).toISOString(),
    stale,
    feed,
    entry,
    listed: listings?.map(listed),
    ...(sources.length > 0 && { sources: sources.map(({ id, said }) => ({ source: id, ...saidOf(said) })) }),
    facts: finding.status === 'known' ? facts : undefined,
  }
  return `${JSON.stringify(shown)}\n`
}

/** `since_by`: whether the date comes from the list itself or is that of the copy in use. */
const listed = ({ feed, entry, level, score, since, copyAt, expires }: Listing): object => {
  const at = since ?? copyAt
  return {
    feed,
    entry,
    level,
    score,
    ...(expires !== undefined && { expires: new Date(expires).toISOString() }),
    ...(at !== undefined && { since: new Date(at).toISOString(), since_by: since === undefined ? 'copy' : 'entry' }),
  }
}

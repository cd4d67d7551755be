// Domain reports as searchable rows: a summary of each report in the format of the provider.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { ratings, type Rating } from '../../domain/finding.js'
import { parseTimestamp } from '../../domain/timestamp.js'
import { parseTarget } from '../scan/target.js'
import { timeOrDate, type JsonObject } from '../answer.js'
import { containsText, equalsText, hasText, notBefore, type FieldFilter } from './search.js'

export type Report = {
  readonly id: number
  readonly url: string
  readonly host: string
  readonly title: string
  readonly time: string
  readonly rating?: Rating
  readonly addresses: readonly string[]
  readonly countries: readonly string[]
  readonly issues: readonly string[]
  readonly technologies: readonly string[]
  readonly jarm: string
}

const member = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (node, name) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, name)
        ? (node as Record<string, unknown>)[name]
        : undefined,
    value,
  )
const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 2_048) : '')
const rows = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value.slice(0, 1_000) : [])
const texts = (value: unknown, name: string): string[] => [
  ...new Set(
    rows(value)
      .map((row) => text(member(row, name)))
      .filter((item) => item !== ''),
  ),
]

/** Undefined when the report names no site. */
export const reportOf = (id: number, data: JsonObject): Report | undefined => {
  const main = member(data, 'main_domain_info')
  const url =
    text(member(main, 'changed_url')) || text(member(main, 'inserted_url')) || text(member(main, 'main_domain'))
  const target = parseTarget(url)
  if (!target) return undefined
  const word = text(member(main, 'domain_score', 'score')).toLowerCase()
  const rating = ratings.find((candidate) => candidate === word)
  return {
    id,
    url: target.url.href,
    host: target.host,
    title: text(member(main, 'title')),
    time: timeOrDate(text(member(data, 'report_time'))),
    ...(rating === undefined ? {} : { rating }),
    addresses: [
      ...new Set([...texts(member(data, 'mapped_ip'), 'ip'), ...texts(member(data, 'connected_ip_info'), 'ip')]),
    ],
    countries: texts(member(data, 'connected_ip_info'), 'country').map((country) => country.toUpperCase()),
    issues: issuesOf(member(data, 'summary')),
    technologies: texts(member(data, 'technologies'), 'name'),
    jarm: text(member(main, 'jarm')),
  }
}

const issuesOf = (summary: unknown): string[] => {
  const isPositive = (name: string): boolean => {
    const value = member(summary, name)
    return typeof value === 'number' && value > 0
  }
  const issues: [string, boolean][] = [
    ['newborn domain', text(member(summary, 'newborn_domain')) !== ''],
    ['fake ssl', member(summary, 'fake_ssl', 'invalid') === true],
    ['punycode', member(summary, 'punycode') === true],
    ['fake domain', member(summary, 'fake_domain') === true],
    ['phishing record', isPositive('phishing_record')],
    ['redirection to another domain', isPositive('redirection_diff_domain')],
    ['redirection to another country', isPositive('redirection_diff_country')],
    ['hidden iframe', isPositive('hidden_iframe')],
    ['obfuscated script', isPositive('js_obfuscated')],
    ['suspicious file', isPositive('suspicious_file')],
  ]
  return issues.filter(([, holds]) => holds).map(([issue]) => issue)
}

/** A saved answer of `domain/report/{id}`, with or without its envelope; the file name is the id. */
export const readReportFile = (file: string): { readonly report: Report; readonly data: JsonObject } => {
  const id = Number(basename(file, '.json'))
  if (!Number.isSafeInteger(id) || id < 0) throw new Error(`${file} must have the id of the report as its name`)
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} is not valid JSON`, { cause: error })
  }
  const data = (member(content, 'data') ?? content) as JsonObject
  const report = reportOf(id, data)
  if (!report) throw new Error(`${file} has no site in main_domain_info`)
  return { report, data }
}

export const reportFilters: ReadonlyMap<string, FieldFilter<Report>> = new Map([
  ['domain', (value: string) => (report: Report) => isAtOrBelow(report.host, value.toLowerCase())],
  ['url', containsText<Report>((report) => report.url)],
  ['title', containsText<Report>((report) => report.title)],
  ['score', equalsText<Report>((report) => report.rating)],
  ['ip', hasText<Report>((report) => report.addresses)],
  ['country', hasText<Report>((report) => report.countries)],
  ['issue', hasText<Report>((report) => report.issues)],
  ['technology', hasText<Report>((report) => report.technologies)],
  ['after', notBefore<Report>((report) => report.time)],
])

const isAtOrBelow = (host: string, name: string): boolean => host === name || host.endsWith(`.${name}`)

export const reportText = (report: Report): readonly string[] => [report.url, report.title]

export const isNewer = (a: Report, b: Report): number => (parseTimestamp(b.time) ?? 0) - (parseTimestamp(a.time) ?? 0)

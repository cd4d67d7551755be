// The domain operations, answered from local reports and scans.
import type { Listing } from '../../domain/finding.js'
import { parseHostname } from '../../domain/hostname.js'
import { listingRows } from './listing-rows.js'
import { refused, wrapped, type OperationAnswer, type JsonObject, failures, invalidParameter } from '../answer.js'
import type { FindRows } from '../local/find-rows.js'
import { parseQuery, type Query } from '../local/query.js'
import { reportFilters, reportText, type Report } from '../local/report-index.js'
import type { Reports } from '../local/reports.js'
import { compileQuery, pageSize } from '../local/search.js'
import type { ScanQueue } from '../scan/scan-queue.js'
import type { ScanStore } from '../scan/scan-store.js'
import { parseTarget } from '../scan/target.js'

export type DomainView = {
  readonly caller: string
  readonly reports: Reports
  readonly findRows: FindRows
  readonly store: ScanStore
  /** Absent if scans are disabled. */
  readonly queue: ScanQueue | undefined
}

export const domainReports = async (view: DomainView, text: string, offset: number): Promise<OperationAnswer> => {
  const query = parseQuery(hostsInPlaceOfUrls(text))
  if (!query) return refused(invalidParameter('query'))
  const search = compileQuery(query, reportFilters, reportText)
  const { invalidFilters } = search
  const found = await view.findRows(view.caller, view.reports.visibleTo(view.caller), search)
  const name = soleName(query)
  if (name === undefined) return reportsAnswer(found, offset, { invalidFilters })
  const paths = pathsOf(text)
  const listed = view.reports.ofListedName(name, paths)
  const listings = view.reports.listingsOf(name, paths)
  return reportsAnswer(listed ? [listed, ...found] : found, offset, { invalidFilters, listings })
}

type PersonalChoice = { readonly showPublic: boolean; readonly showPrivate: boolean }

export const domainReportsPersonal = (view: DomainView, choice: PersonalChoice, offset: number): OperationAnswer =>
  reportsAnswer(
    [
      ...(choice.showPublic ? view.reports.ownedBy(view.caller, { isPrivate: false }) : []),
      ...(choice.showPrivate ? view.reports.ownedBy(view.caller, { isPrivate: true }) : []),
    ],
    offset,
  )

export const domainReport = (view: DomainView, id: number): OperationAnswer => {
  const data = view.reports.read(id, view.caller)
  if (data) return wrapped(data, true)
  const scan = view.store.get(id)
  const isWaiting = scan?.owner === view.caller && (scan.state === 'waiting' || scan.state === 'running')
  return refused(isWaiting ? failures.notReady : failures.noSuchScan)
}

export const domainStatus = (view: DomainView, id: number): OperationAnswer => {
  const scan = view.store.get(id)
  if (scan && (!scan.isPrivate || scan.owner === view.caller))
    return wrapped({ scan_percentage: view.queue?.percentage(scan) ?? (scan.state === 'done' ? 100 : 0) }, true)
  return view.reports.read(id, view.caller) ? wrapped({ scan_percentage: 100 }, true) : refused(failures.noSuchScan)
}

export const domainScan = (view: DomainView, text: string, isPrivate: boolean): OperationAnswer => {
  if (!view.queue) return refused(failures.scanOff)
  const target = parseTarget(text)
  if (!target) return refused(failures.badTarget)
  const scan = view.queue.submit({ query: target.url.href, host: target.host, owner: view.caller, isPrivate })
  return scan ? wrapped({ query: scan.query, scan_id: scan.id }, true) : refused(failures.stillScanning)
}

/** Searches reports by host, because the URL may differ in scheme, `www` and path. */
const hostsInPlaceOfUrls = (text: string): string => {
  const trimmed = text.trim()
  return trimmed.includes('://') && !trimmed.includes(' ') ? (parseTarget(trimmed)?.host ?? trimmed) : trimmed
}

/** The paths of a URL in a question, to compare with listed URLs. */
const pathsOf = (text: string): readonly string[] | undefined => {
  const url = text.includes('://') ? parseTarget(text.trim())?.url : undefined
  return url && [url.pathname + url.search]
}

const soleName = ({ groups }: Query): string | undefined => {
  const term = groups.length === 1 && groups[0]?.length === 1 ? groups[0][0] : undefined
  return term === undefined || term.isNegated || (term.field !== undefined && term.field !== 'domain')
    ? undefined
    : parseHostname(term.value)
}

type Beside = { readonly invalidFilters?: readonly string[]; readonly listings?: readonly Listing[] }

const reportsAnswer = (
  found: readonly Report[],
  offset: number,
  { invalidFilters = [], listings = [] }: Beside = {},
): OperationAnswer =>
  wrapped(
    {
      count: found.length,
      reports: found.slice(offset, offset + pageSize).map(reportRow),
      listings: listingRows(listings),
      ...(invalidFilters.length === 0 ? {} : { invalid_filters: invalidFilters }),
    },
    found.length > 0,
  )

const reportRow = (report: Report): JsonObject => ({
  scan_id: report.id,
  url: report.url,
  title: report.title,
  score: report.rating && report.rating.charAt(0).toUpperCase() + report.rating.slice(1),
  reg_dtime: report.time,
  connected_ip_cnt: report.addresses.length,
  country_code: report.countries,
  issue: report.issues,
  technologies: report.technologies.map((name) => ({ tech_name: name, logo_url: '' })),
  view_cnt: 0,
  jarm: report.jarm,
})

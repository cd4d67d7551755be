// All reports that a client may read: bundled ones, those of local scans, and generated ones for listed names.
import { createBoundedCache } from '../../base/bounded-cache.js'
import { createHash } from 'node:crypto'
import type { Listing } from '../../domain/finding.js'
import { timeText, type JsonObject } from '../answer.js'
import type { Scan, ScanStore } from '../scan/scan-store.js'
import { ratingOf, domainScore } from './address-intelligence.js'
import { isNewer, readReportFile, reportOf, type Report } from './report-index.js'

type ListedNames = {
  readonly of: (
    host: string,
    paths?: readonly string[],
  ) => { readonly listings: readonly Listing[]; readonly at: number } | undefined
  readonly below: (domain: string) => readonly Listing[]
}

export type Reports = {
  /** Newest first. */
  readonly visibleTo: (caller: string) => readonly Report[]
  readonly ownedBy: (caller: string, which: { readonly isPrivate: boolean }) => readonly Report[]
  readonly read: (id: number, caller: string) => JsonObject | undefined
  /** A report generated from feed listings of a name; `paths`: the paths of the URL in question. */
  readonly ofListedName: (host: string, paths?: readonly string[]) => Report | undefined
  /** Listings of a name and of the hosts below it. */
  readonly listingsOf: (host: string, paths?: readonly string[]) => readonly Listing[]
  readonly seenOn: (address: string) => readonly { readonly name: string; readonly seenAt: string }[]
}

/** Ids of generated reports derive from the name and start far above all others. */
const firstListedId = 1_000_000_000_000_000
const maxListed = 10_000

export const openReports = (
  files: readonly string[],
  store: ScanStore,
  listed: ListedNames,
  /** Scans that a caller started elsewhere. */
  elsewhere: (caller: string, which: { readonly isPrivate: boolean }) => readonly Report[] = () => [],
): Reports => {
  const bundled = new Map(files.map(readReportFile).map(({ report, data }) => [report.id, { report, data }]))
  const scanned = new Map<number, Report>()
  const listedHosts = createBoundedCache<
    number,
    { readonly host: string; readonly paths: readonly string[] | undefined }
  >(maxListed / 2)

  const isVisible = (scan: Scan, caller: string): boolean => !scan.isPrivate || scan.owner === caller
  const reportOfScan = (scan: Scan): Report | undefined => {
    if (scan.state !== 'done') return undefined
    const known = scanned.get(scan.id)
    if (known) return known
    const data = store.readReport(scan.id)
    const report = data && reportOf(scan.id, data)
    if (report) scanned.set(scan.id, report)
    return report
  }
  const scansAsReports = (keep: (scan: Scan) => boolean): Report[] =>
    store
      .scans()
      .filter(keep)
      .map(reportOfScan)
      .filter((report) => report !== undefined)
  const listedData = (host: string, paths: readonly string[] | undefined): JsonObject | undefined => {
    const found = listed.of(host, paths)
    if (!found) return undefined
    const phishing = found.listings.filter(({ categories }) => categories.some((name) => /phish/i.test(name)))
    return {
      main_domain_info: {
        changed_url: `http://${host}/`,
        inserted_url: `http://${host}/`,
        main_domain: host,
        domain_score: domainScore(ratingOf(found.listings)),
        title: '',
      },
      report_time: timeText(found.at),
      summary: { phishing_record: phishing.length },
      technologies: [],
    }
  }
  /** Newest first. Every address lookup reads it, so it is rebuilt only when reports change. */
  let byAddress: { readonly version: number; readonly reports: ReadonlyMap<string, readonly Report[]> } | undefined
  const indexByAddress = (): ReadonlyMap<string, readonly Report[]> => {
    const reports = [...bundled.values()].map(({ report }) => report)
    const index = new Map<string, Report[]>()
    for (const report of [...reports, ...scansAsReports(({ isPrivate }) => !isPrivate)].sort(isNewer))
      for (const address of report.addresses) {
        const seen = index.get(address)
        if (seen) seen.push(report)
        else index.set(address, [report])
      }
    return index
  }
  return {
    visibleTo: (caller) =>
      [...[...bundled.values()].map(({ report }) => report), ...scansAsReports((scan) => isVisible(scan, caller))].sort(
        isNewer,
      ),
    ownedBy: (caller, which) =>
      [
        ...scansAsReports((scan) => scan.owner === caller && scan.isPrivate === which.isPrivate),
        ...elsewhere(caller, which),
      ].sort(isNewer),
    read: (id, caller) => {
      const known = listedHosts.get(id)
      if (known !== undefined) return listedData(known.host, known.paths)
      const scan = store.get(id)
      if (scan) return isVisible(scan, caller) && scan.state === 'done' ? store.readReport(id) : undefined
      return bundled.get(id)?.data
    },
    listingsOf: (host, paths) => [...(listed.of(host, paths)?.listings ?? []), ...listed.below(host)],
    ofListedName: (host, paths) => {
      const data = listedData(host, paths)
      if (!data) return undefined
      const name = host + (paths?.join('') ?? '')
      const id = firstListedId + createHash('sha256').update(name).digest().readUIntBE(0, 6)
      listedHosts.set(id, { host, paths })
      return reportOf(id, data)
    },
    seenOn: (address) => {
      if (byAddress?.version !== store.reportsVersion())
        byAddress = { version: store.reportsVersion(), reports: indexByAddress() }
      return (byAddress.reports.get(address) ?? []).map(({ host, time }) => ({ name: host, seenAt: time }))
    },
  }
}

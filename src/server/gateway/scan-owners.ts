// Records the owner of each scan at the provider, because all scans run under the key of the gateway.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { timeText } from '../answer.js'
import type { Report } from '../local/report-index.js'
import { parseTarget } from '../scan/target.js'

type OwnedScan = {
  readonly id: number
  readonly owner: string
  readonly isPrivate: boolean
  readonly query: string
  readonly at: number
}

export type ScanOwners = {
  readonly add: (scan: OwnedScan) => void
  /** Public scans, and scans not started here, are readable by all. */
  readonly mayRead: (id: number, caller: string) => boolean
  readonly reportsOf: (caller: string, which: { readonly isPrivate: boolean }) => readonly Report[]
}

/** One JSON object per line, written before the caller learns the id. */
export const openScanOwners = (file: string): ScanOwners => {
  const scans = new Map<number, OwnedScan>()
  if (existsSync(file))
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const scan = readLine(line)
      if (scan) scans.set(scan.id, scan)
    }
  return {
    add: (scan) => {
      appendFileSync(file, `${JSON.stringify(scan)}\n`, { mode: 0o600 })
      scans.set(scan.id, scan)
    },
    mayRead: (id, caller) => {
      const scan = scans.get(id)
      return scan === undefined || !scan.isPrivate || scan.owner === caller
    },
    reportsOf: (caller, { isPrivate }) =>
      [...scans.values()]
        .filter((scan) => scan.owner === caller && scan.isPrivate === isPrivate)
        .map((scan) => ({
          id: scan.id,
          url: scan.query,
          host: parseTarget(scan.query)?.host ?? '',
          title: '',
          time: timeText(scan.at),
          addresses: [],
          countries: [],
          issues: [],
          technologies: [],
          jarm: '',
        })),
  }
}

const readLine = (line: string): OwnedScan | undefined => {
  try {
    const scan = JSON.parse(line) as Partial<OwnedScan> | null
    const isWhole = Number.isSafeInteger(scan?.id) && typeof scan?.owner === 'string' && typeof scan.query === 'string'
    return isWhole ? (scan as OwnedScan) : undefined
  } catch {
    return undefined // an empty or torn line
  }
}

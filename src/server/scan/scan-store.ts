// Scans that this server makes, on disk: each is written down before its id is given to anybody, so that no crash can lose or repeat one.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../answer.js'

const scanStates = ['waiting', 'running', 'done', 'failed', 'no_such_domain'] as const
type ScanState = (typeof scanStates)[number]

export type Scan = {
  readonly id: number
  readonly query: string
  readonly host: string
  /** The name of the key that asked. */
  readonly owner: string
  readonly isPrivate: boolean
  readonly state: ScanState
  readonly at: number
  /** How often it was begun; a scan that took the process down twice is not tried a third time. */
  readonly attempts: number
}

export type ScanStore = {
  readonly scans: () => readonly Scan[]
  /** Goes up whenever a report comes or goes. */
  readonly reportsVersion: () => number
  readonly get: (id: number) => Scan | undefined
  readonly create: (scan: Omit<Scan, 'id' | 'state' | 'attempts'>) => Scan
  readonly update: (scan: Scan, report?: JsonObject) => void
  readonly readReport: (id: number) => JsonObject | undefined
}

/** Far above the provider's ids, so that a gateway can see whose a scan is. */
export const firstScanId = 20_000_000_001
const maxKept = 10_000

export const openScanStore = (folder: string): ScanStore => {
  mkdirSync(folder, { recursive: true })
  const scans = new Map<number, Scan>()
  for (const name of readdirSync(folder).sort()) {
    const scan = /^\d{1,15}\.json$/.test(name) ? readScan(join(folder, name)) : undefined
    if (scan) scans.set(scan.id, scan)
  }
  let version = 0
  let nextId = Math.max(firstScanId, ...[...scans.keys()].map((id) => id + 1))
  const scanFile = (id: number): string => join(folder, `${id}.json`)
  const reportFile = (id: number): string => join(folder, `${id}.report.json`)

  const forgetOldest = (): void => {
    for (const [id, { state }] of scans) {
      if (scans.size <= maxKept) return
      if (state === 'waiting' || state === 'running') continue
      scans.delete(id)
      version++
      rmSync(scanFile(id), { force: true })
      rmSync(reportFile(id), { force: true })
    }
  }
  return {
    scans: () => [...scans.values()],
    reportsVersion: () => version,
    get: (id) => scans.get(id),
    create: (details) => {
      const scan: Scan = { ...details, id: nextId++, state: 'waiting', attempts: 0 }
      writeDurably(scanFile(scan.id), JSON.stringify(scan))
      scans.set(scan.id, scan)
      forgetOldest()
      return scan
    },
    update: (scan, report) => {
      if (report || scan.state === 'done') version++
      // The report first: a scan that says "done" always has one.
      if (report) writeDurably(reportFile(scan.id), JSON.stringify(report))
      writeDurably(scanFile(scan.id), JSON.stringify(scan))
      scans.set(scan.id, scan)
    },
    readReport: (id) => {
      try {
        return JSON.parse(readFileSync(reportFile(id), 'utf8')) as JsonObject
      } catch {
        return undefined // gone or damaged: there is no such report
      }
    },
  }
}

const readScan = (file: string): Scan | undefined => {
  try {
    const scan = JSON.parse(readFileSync(file, 'utf8')) as Partial<Scan> | null
    return Number.isSafeInteger(scan?.id) && scanStates.some((state) => state === scan?.state)
      ? (scan as Scan)
      : undefined
  } catch {
    return undefined // a file that nobody finished writing was never promised to anybody
  }
}

const writeDurably = (file: string, text: string): void => {
  const fresh = `${file}.new`
  const descriptor = openSync(fresh, 'w', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(fresh, file)
}

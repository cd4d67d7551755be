// Stores the scans of this server on disk. Each is written before its id is returned, so that a crash cannot lose or repeat one.
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
  /** The name of the key of the client. */
  readonly owner: string
  readonly isPrivate: boolean
  readonly state: ScanState
  readonly at: number
  /** The number of starts; a scan that crashed the process twice is not tried again. */
  readonly attempts: number
}

export type ScanStore = {
  readonly scans: () => readonly Scan[]
  /** Increases whenever reports change. */
  readonly reportsVersion: () => number
  readonly get: (id: number) => Scan | undefined
  readonly create: (scan: Omit<Scan, 'id' | 'state' | 'attempts'>) => Scan
  readonly update: (scan: Scan, report?: JsonObject) => void
  readonly readReport: (id: number) => JsonObject | undefined
}

/** Far above the ids of the provider, so that a gateway can tell local scans from remote ones. */
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
      // The report is written first, so that a scan in state "done" always has one.
      if (report) writeDurably(reportFile(scan.id), JSON.stringify(report))
      writeDurably(scanFile(scan.id), JSON.stringify(scan))
      scans.set(scan.id, scan)
    },
    readReport: (id) => {
      try {
        return JSON.parse(readFileSync(reportFile(id), 'utf8')) as JsonObject
      } catch {
        return undefined // missing or damaged
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
    return undefined // an unfinished file, whose id was never returned to a client
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

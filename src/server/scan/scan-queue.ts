// Runs scans one after the other, restarts interrupted ones, and reports their progress.
import type { Scanner } from './scan.js'
import type { Scan, ScanStore } from './scan-store.js'

export type ScanQueue = {
  /** Undefined while an earlier scan of the same owner is unfinished. */
  readonly submit: (scan: Omit<Scan, 'id' | 'state' | 'attempts' | 'at'>) => Scan | undefined
  /** 0 to 99 while it runs, 100 when done, negative after a failure. */
  readonly percentage: (scan: Scan) => number
  /** Resolves when no scan is running; waiting scans stay on disk. */
  readonly close: () => Promise<void>
}

type ScanQueueOptions = { readonly atOnce: number; readonly now: () => number }

const maxAttempts = 2
const failedPercentage = -1
const noSuchDomainPercentage = -2

export const createScanQueue = (store: ScanStore, scanner: Scanner, { atOnce, now }: ScanQueueOptions): ScanQueue => {
  const progress = new Map<number, number>()
  const running = new Map<number, Promise<void>>()
  const stop = new AbortController()

  const run = async (scan: Scan): Promise<void> => {
    const begun: Scan = { ...scan, state: 'running', attempts: scan.attempts + 1 }
    store.update(begun)
    progress.set(scan.id, 5)
    const outcome = await scanner(scan.query, (value) => void progress.set(scan.id, value), stop.signal)
    // Interrupted: it stays `running` on disk and restarts with the next process.
    if (stop.signal.aborted) return
    if (outcome.outcome === 'done') store.update({ ...begun, state: 'done' }, outcome.report)
    else store.update({ ...begun, state: outcome.outcome })
  }
  const fill = (): void => {
    if (stop.signal.aborted) return
    for (const scan of store.scans()) {
      if (running.size >= atOnce) return
      if (!isOpen(scan) || running.has(scan.id)) continue
      const inFlight = run(scan)
        .catch(() => store.update({ ...scan, state: 'failed', attempts: scan.attempts + 1 }))
        .finally(() => {
          running.delete(scan.id)
          progress.delete(scan.id)
          fill()
        })
      running.set(scan.id, inFlight)
    }
  }
  for (const scan of store.scans())
    if (isOpen(scan) && scan.attempts >= maxAttempts) store.update({ ...scan, state: 'failed' })
  fill()

  return {
    submit: (details) => {
      if (store.scans().some((scan) => scan.owner === details.owner && isOpen(scan))) return undefined
      const scan = store.create({ ...details, at: now() })
      fill()
      return scan
    },
    percentage: ({ id, state }) => {
      switch (state) {
        case 'waiting':
        case 'running':
          return progress.get(id) ?? 0
        case 'done':
          return 100
        case 'failed':
          return failedPercentage
        case 'no_such_domain':
          return noSuchDomainPercentage
      }
    },
    close: async () => {
      stop.abort()
      await Promise.all(running.values())
    },
  }
}

const isOpen = ({ state }: Scan): boolean => state === 'waiting' || state === 'running'

// Scans a domain at the provider, shows progress, and returns the finding.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Finding } from '../../domain/finding.js'
import type { Client } from '../../provider/client.js'
import { createStartedScans } from '../../provider/started-scans.js'
import { createStepScan } from '../../provider/scan.js'
import type { Emit } from '../../telemetry/event.js'
import type { Io } from '../../terminal/command.js'
import { createProgress } from '../../terminal/progress.js'

type ScanOptions = {
  readonly visibility: 'public' | 'private'
  readonly folder: string
  readonly pollMs: number
  readonly giveUpMs: number
  readonly againAfterMs: number
  readonly emit: Emit
}

const stepMs = 250

/** An interrupted scan continues at the provider; the next call finds it by its stored id. */
export const scanDomain = async (name: string, client: Client, options: ScanOptions, io: Io): Promise<Finding> => {
  const progress = createProgress(io.stderr, { label: `scan ${name}`, total: 100 })
  let percent = 0
  const step = createStepScan(
    { client, now: Date.now, emit: options.emit },
    options,
    createStartedScans(options.folder),
    (reached) => {
      percent = reached
    },
  )
  const started = Date.now()
  const stopped = (): boolean => io.signal.aborted
  try {
    for (;;) {
      const finding = await step(name, (send) => send())
      if (finding.status === 'known' || finding.reason !== 'pending') return finding
      if (stopped() || Date.now() - started > options.giveUpMs) return finding
      const until = Date.now() + (finding.retryAfterMs ?? options.pollMs)
      while (Date.now() < until && !stopped()) {
        progress.update(percent, `waiting ${Math.ceil((until - Date.now()) / 1000)}s`)
        await sleep(Math.min(stepMs, Math.max(1, until - Date.now())))
      }
    }
  } finally {
    progress.end()
  }
}

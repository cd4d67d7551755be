// A memory that survives: filled from its folder at the start, written to it before a finding is released.
import type { Clock } from '../domain/clock.js'
import type { Tell } from '../telemetry/event.js'
import { FolderInUse } from './folder-lock.js'
import type { Ledger } from './budget.js'
import { openLedger } from './ledger.js'
import { openJournal, type Journal } from './journal.js'
import type { Memory } from './memory.js'

export type KeptMemory = {
  readonly append?: Journal['append']
  readonly ledger?: Ledger
  readonly close: () => Promise<void>
}

type Options = {
  readonly path?: string
  /** A folder that was asked for by name must be usable; the usual one may be somebody else's just now. */
  readonly isNamed: boolean
  readonly maxBytes: number
  readonly clock: Clock
  readonly tell: Tell
}

export const openKeptMemory = async (
  memory: Memory,
  { path, isNamed, maxBytes, clock, tell }: Options,
): Promise<KeptMemory | { readonly problem: string }> => {
  if (path === undefined) return { close: () => Promise.resolve() }
  try {
    const journal = await openJournal(
      { path, maxBytes },
      { restore: (indicator, finding) => memory.restore(indicator, finding, clock.now()), tell },
    )
    const ledger = await openBeside(journal, path, tell)
    const close = async (): Promise<void> => {
      ledger.close()
      await journal.close()
    }
    return { append: journal.append, ledger, close }
  } catch (error) {
    const message = error instanceof Error ? error.message : 'cannot be used'
    if (isNamed) return { problem: error instanceof FolderInUse ? message : `cannot be used: ${message}` }
    tell({ event: 'memory_not_kept', path, message })
    return { close: () => Promise.resolve() }
  }
}

/** A ledger that cannot be opened lets go of the folder again. */
const openBeside = async (journal: Journal, path: string, tell: Tell): Promise<ReturnType<typeof openLedger>> => {
  try {
    return openLedger(path, tell)
  } catch (error) {
    await journal.close()
    throw error
  }
}

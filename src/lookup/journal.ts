// The journal: what was paid for, on disk, so that a restart pays for nothing twice.
import type { Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'

export type JournalSettings = {
  /** A folder; created when absent, safe to delete while nobody uses it. */
  readonly path: string
  readonly maxBytes: number
}

export type Journal = {
  /** Resolves when the operating system has the record: from then on only the loss of the machine loses it. Never rejects. */
  readonly append: (indicator: Indicator, finding: Finding) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Takes the folder for this process, reads back what is there, oldest first, and goes on after it.
 * Throws a `JournalInUse` when another live process owns it.
 */
export declare const openJournal: (
  settings: JournalSettings,
  options: { readonly restore: (indicator: Indicator, finding: Finding) => void },
) => Promise<Journal>

// A persistent memory: filled from its folder at startup, and written to it before a finding is released.
import type { Clock } from '../../base/clock.js'
import { isDiskFull } from '../../base/is-disk-full.js'
import { messageOf } from '../../base/message-of.js'
import type { Emit } from '../../telemetry/event.js'
import { FolderInUse } from './folder-lock.js'
import type { Ledger } from '../admission/budget.js'
import type { QuestionType } from '../question.js'
import { openLedger, readLedger } from './ledger.js'
import { openJournal, type Journal, readJournal, type Restore } from './journal.js'
import type { Memory } from './memory.js'

export type KeptMemory<Question> = {
  readonly append?: Journal<Question>['append']
  readonly ledger?: Ledger
  readonly close: () => Promise<void>
}

type KeptMemoryOptions = {
  readonly path?: string | undefined
  /** A folder set by name is never shared silently; the default folder may be in use by another process. */
  readonly isNamed: boolean
  /** Calls are limited per hour or day, which must be counted across restarts. */
  readonly isBudgeted: boolean
  /** Only reads the folder of another owner and writes nothing. */
  readonly isReader?: boolean
  readonly maxBytes: number
  readonly clock: Clock
  readonly emit: Emit
}

/**
 * A folder that cannot be written costs money after a restart, which prevents startup only if a budget depends on it. A full disk never
 * does: the ledger is overwritten in place, so spending is still recorded.
 */
export const openKeptMemory = async <Question>(
  memory: Memory<Question>,
  type: QuestionType<Question>,
  { path, isNamed, isBudgeted, isReader = false, maxBytes, clock, emit }: KeptMemoryOptions,
): Promise<KeptMemory<Question> | { readonly problem: string }> => {
  if (path === undefined) return { close: () => Promise.resolve() }
  const restore: Restore<Question> = (question, finding) => memory.restore(question, finding, clock.now())
  if (isReader) return readKept(path, type, restore, emit)
  try {
    const journal = await openJournal({ path, maxBytes }, type, { restore, emit })
    const ledger = await openBeside(journal, path, emit)
    const close = async (): Promise<void> => {
      ledger.close()
      await journal.close()
    }
    return { append: journal.append, ledger, close }
  } catch (error) {
    const message = messageOf(error)
    if (error instanceof FolderInUse && isNamed) return { problem: message }
    if (isDiskFull(error)) return openOnFullDisk(await readKept(path, type, restore, emit), path, message, emit)
    if (!(error instanceof FolderInUse) && isBudgeted)
      return { problem: `cannot be used, and admit.perHour and admit.perDay are counted there: ${message}` }
    const kept = await readKept(path, type, restore, emit)
    emit({ event: 'memory_not_persisted', path, message })
    return kept
  }
}

/** Without an existing ledger a full disk has no space for one, and spending is counted in memory only. */
const openOnFullDisk = <Question>(
  kept: KeptMemory<Question>,
  path: string,
  message: string,
  emit: Emit,
): KeptMemory<Question> => {
  emit({ event: 'memory_not_persisted', path, message })
  try {
    const ledger = openLedger(path, emit)
    return {
      ledger,
      close: () => {
        ledger.close()
        return Promise.resolve()
      },
    }
  } catch {
    return kept // the warning above covers this
  }
}

/** Uses the records that can be read; without any, the memory starts empty. */
const readKept = async <Question>(
  path: string,
  type: QuestionType<Question>,
  restore: Restore<Question>,
  emit: Emit,
): Promise<KeptMemory<Question>> => {
  const before = readLedger(path)
  const ledger: Ledger = { ...(before && { before }), write: () => undefined }
  const counts = await readJournal(path, type, restore).catch(() => undefined)
  if (counts) emit({ event: 'memory_restored', path, ...counts })
  return { ledger, close: () => Promise.resolve() }
}

/** Releases the folder if the ledger cannot be opened. */
const openBeside = async (
  journal: { readonly close: () => Promise<void> },
  path: string,
  emit: Emit,
): Promise<ReturnType<typeof openLedger>> => {
  try {
    return openLedger(path, emit)
  } catch (error) {
    await journal.close()
    throw error
  }
}

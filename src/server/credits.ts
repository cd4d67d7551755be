// Counts the credits of each key in the current month (UTC). One line per call on disk makes the count crash-safe.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDiskFull } from '../base/is-disk-full.js'
import { messageOf } from '../base/message-of.js'
import type { Emit } from '../telemetry/event.js'

export type Credits = {
  readonly of: (name: string) => number
  readonly add: (name: string) => void
  readonly close: () => void
}

/** `file` has lines of `month name count`; opening it adds them up and compacts the file. */
export const openCredits = (file: string, now: () => number, emit: Emit): Credits => {
  mkdirSync(dirname(file), { recursive: true })
  let month = monthOf(now())
  let counts = readCounts(file, month)
  let isFailing = false
  const failed = (error: unknown): void => {
    if (!isFailing) emit({ event: 'memory_write_failed', path: file, message: messageOf(error), lost: 1 })
    isFailing = true
  }
  try {
    writeShort(file, month, counts)
  } catch (error) {
    if (!isDiskFull(error)) throw error
    failed(error)
  }
  /** Opening is retried, because a full disk may refuse a new file. */
  let descriptor: number | undefined
  const turnPage = (): void => {
    if (monthOf(now()) === month) return
    month = monthOf(now())
    counts = new Map()
  }
  return {
    of: (name) => {
      turnPage()
      return counts.get(name) ?? 0
    },
    add: (name) => {
      turnPage()
      counts.set(name, (counts.get(name) ?? 0) + 1)
      try {
        descriptor ??= openSync(file, 'a', 0o600)
        writeSync(descriptor, `${month} ${name} 1\n`)
        if (isFailing) emit({ event: 'memory_write_resumed', path: file })
        isFailing = false
      } catch (error) {
        // A failing disk loses a credit after a restart, but does not fail the answer.
        failed(error)
      }
    },
    close: () => {
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}

const writeShort = (file: string, month: string, counts: ReadonlyMap<string, number>): void => {
  const fresh = `${file}.new`
  writeFileSync(fresh, [...counts].map(([name, count]) => `${month} ${name} ${count}\n`).join(''), { mode: 0o600 })
  renameSync(fresh, file)
}

const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7)

const readCounts = (file: string, month: string): Map<string, number> => {
  const counts = new Map<string, number>()
  if (!existsSync(file)) return counts
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [when, name, count] = line.split(' ')
    // A line truncated by a crash is skipped; it loses one credit.
    if (when !== month || name === undefined || count === undefined || !/^\d{1,12}$/.test(count)) continue
    counts.set(name, (counts.get(name) ?? 0) + Number(count))
  }
  return counts
}

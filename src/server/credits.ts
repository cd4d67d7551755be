// Credits used by each key in the current calendar month (UTC), kept on disk, one line per call, so that a crash forgets none.
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

/** `file` holds lines of `month name count`; they are summed and written short whenever the file is opened. */
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
  /** Opened again until it can be: a full disk may take no new file. */
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
        // A disk that fails forgets a credit after a restart; it does not fail the answer now.
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
    // A line that a crash cut short is one credit of the past.
    if (when !== month || name === undefined || count === undefined || !/^\d{1,12}$/.test(count)) continue
    counts.set(name, (counts.get(name) ?? 0) + Number(count))
  }
  return counts
}

// The active silences: reloads the file when it changes and counts the suppressed alerts.
import { readFile, stat } from 'node:fs/promises'
import type { AnyObject } from '../../base/json-object.js'
import type { Clock } from '../../base/clock.js'
import { messageOf } from '../../base/message-of.js'
import { reloadWhenChanged } from '../../base/reload-when-changed.js'
import { describeProblem } from '../../config/problem.js'
import type { Emit } from '../../telemetry/event.js'
import { compileMatch, type Matches } from './matchers.js'
import { readSilenceFile, type Silence } from './silence-file.js'

export type Silences = {
  /** The first active silence that matches. */
  readonly find: (alert: AnyObject) => Silence | undefined
  /** Call for every alert that a silence suppresses or marks. */
  readonly count: (silence: Silence) => void
  readonly held: () => readonly { readonly silence: Silence; readonly alerts: number; readonly isInForce: boolean }[]
  readonly close: () => Promise<void>
}

type SilencesOptions = { readonly clock: Clock; readonly emit: Emit; readonly pollMs?: number }

/** Poll interval; a changed file is loaded after it was stable for this long. */
const lookMs = 1_000

/** An empty `file` means no silences. */
export const openSilences = async (
  file: string,
  { clock, emit, pollMs = lookMs }: SilencesOptions,
): Promise<Silences> => {
  let inUse: readonly { readonly silence: Silence; readonly matches: Matches }[] = []
  const counts = new Map<string, number>()
  const use = (silences: readonly Silence[]): void => {
    inUse = silences.map((silence) => ({ silence, matches: compileMatch(silence.match) }))
    for (const id of counts.keys()) if (!silences.some((silence) => silence.id === id)) counts.delete(id)
    emit({ event: 'silences_read', file, silences: silences.length })
  }
  const signature = async (): Promise<string> => {
    try {
      const { mtimeMs, size, ino } = await stat(file)
      return `${mtimeMs} ${size} ${ino}`
    } catch (error) {
      return messageOf(error)
    }
  }
  const read = async (): Promise<{ readonly signature: string; readonly use: () => void }> => {
    const before = await signature()
    const refuse = (message: string) => ({
      signature: before,
      use: () => emit({ event: 'silences_refused', file, message }),
    })
    try {
      const found = readSilenceFile({ name: file, text: await readFile(file, 'utf8') })
      if ('silences' in found) return { signature: before, use: () => use(found.silences) }
      return refuse(found.problems.map(describeProblem).join('; '))
    } catch (error) {
      return refuse(`cannot be read: ${messageOf(error)}`)
    }
  }
  const isInForce = ({ from, until }: Silence): boolean => {
    const now = clock.now()
    return now < Date.parse(until) && (from === undefined || now >= Date.parse(from))
  }
  const reloads = await (async () => {
    if (file === '') return undefined
    const first = await read()
    first.use()
    return reloadWhenChanged(first.signature, { clock, pollMs, signature, read })
  })()
  return {
    find: (alert) => inUse.find(({ silence, matches }) => isInForce(silence) && matches(alert))?.silence,
    count: ({ id, by, reason }) => {
      const alerts = (counts.get(id) ?? 0) + 1
      counts.set(id, alerts)
      if (alerts === 1) emit({ event: 'silence_applied', silence: id, by, why: reason })
    },
    held: () =>
      inUse.map(({ silence }) => ({
        silence,
        alerts: counts.get(silence.id) ?? 0,
        isInForce: isInForce(silence),
      })),
    close: async () => reloads?.close(),
  }
}

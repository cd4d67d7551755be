// Shows progress: a bar on a terminal, else a line every ten seconds.
import type { Io } from './command.js'

type Progress = {
  /** `done` of `total`, in any unit; `note` is appended. */
  readonly update: (done: number, note?: string) => void
  /** Clears the bar until the next update, so that other output has the line. */
  readonly clear: () => void
  /** Clears the bar; nothing is drawn afterwards. */
  readonly end: () => void
}

type ProgressOptions = {
  readonly label: string
  /** Absent if unknown. */
  readonly total?: number
  readonly clock?: () => number
}

const drawEveryMs = 100
const printEveryMs = 10_000
const barWidth = 24

export const createProgress = (stream: Io['stderr'], { label, total, clock = Date.now }: ProgressOptions): Progress => {
  const isTerminal = stream.isTTY === true
  const everyMs = isTerminal ? drawEveryMs : printEveryMs
  const started = clock()
  let last = isTerminal ? Number.NEGATIVE_INFINITY : started
  let drawn = false
  const describe = (done: number, note: string): string => {
    const share = total === undefined || total <= 0 ? undefined : Math.min(1, done / total)
    const parts = [label]
    if (share !== undefined && isTerminal) parts.push(bar(share))
    if (share !== undefined) parts.push(`${Math.floor(share * 100)}%`)
    if (note) parts.push(note)
    if (share !== undefined && share > 0.01 && share < 1)
      parts.push(`${duration(((clock() - started) * (1 - share)) / share)} left`)
    return parts.join(' ')
  }
  const clear = (): void => {
    if (drawn) stream.write('\r\u001b[2K')
    drawn = false
  }
  return {
    update(done, note = '') {
      if (clock() - last < everyMs) return
      last = clock()
      const text = describe(done, note)
      if (isTerminal) {
        stream.write(`\r\u001b[2K${text.slice(0, (stream.columns || 80) - 1)}`)
        drawn = true
      } else stream.write(`${text}\n`)
    },
    clear,
    end() {
      clear()
      last = Number.POSITIVE_INFINITY
    },
  }
}

const bar = (share: number): string => {
  const full = Math.round(share * barWidth)
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`
}

export const duration = (ms: number): string => {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`
}

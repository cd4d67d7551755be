// Reads lines of all connections in slices: per turn of the event loop a key gets a fixed number of lines, shared by its connections.
import type { Duplex } from 'node:stream'
import { createLineSplitter, maxQuestionLength } from './protocol.js'

/** A line takes about a tenth of a millisecond, so one key delays others by a few milliseconds at most. */
const linesPerTurn = 32

type Reading = {
  readonly stream: Duplex
  readonly take: (line: string) => void
  lines: readonly string[]
  next: number
}

/** The remaining lines of a key in this turn, and its connections with unread lines. */
type Turn = { left: number; readonly waiting: Set<Reading> }

type ReadInTurns = (key: string, stream: Duplex, take: (line: string) => void) => void

export const createReadInTurns = (): ReadInTurns => {
  const turns = new Map<string, Turn>()
  let isScheduled = false

  /** False while lines are left over. */
  const read = (turn: Turn, reading: Reading): boolean => {
    const { stream, lines, take } = reading
    for (; reading.next < lines.length && !stream.destroyed; reading.next++) {
      if (turn.left === 0) return false
      turn.left--
      take(lines[reading.next] ?? '')
    }
    return true
  }
  const nextTurn = (): void => {
    isScheduled = false
    for (const [key, turn] of turns) {
      if (turn.waiting.size === 0) {
        turns.delete(key)
        continue
      }
      turn.left = linesPerTurn
      for (const reading of [...turn.waiting]) {
        turn.waiting.delete(reading)
        if (read(turn, reading)) reading.stream.resume()
        // Other connections of the key come first in the next turn.
        else turn.waiting.add(reading)
        if (turn.left === 0) break
      }
    }
    if (turns.size > 0) schedule()
  }
  const schedule = (): void => {
    if (!isScheduled) setImmediate(nextTurn)
    isScheduled = true
  }
  const turnOf = (key: string): Turn => {
    const known = turns.get(key)
    if (known) return known
    const turn: Turn = { left: linesPerTurn, waiting: new Set() }
    turns.set(key, turn)
    return turn
  }

  return (key, stream, take) => {
    const split = createLineSplitter(maxQuestionLength)
    stream.on('data', (bytes: Buffer) => {
      const lines = split(bytes)
      if (!lines) {
        stream.destroy()
        return
      }
      const reading: Reading = { stream, take, lines, next: 0 }
      const turn = turnOf(key)
      schedule()
      if (read(turn, reading)) return
      stream.pause()
      turn.waiting.add(reading)
    })
  }
}

// The connection to a gateway that takes questions in bulk: opened where it is offered, and again when it was lost.
import type { Duplex } from 'node:stream'
import type { Clock } from '../base/clock.js'
import type { Emit } from '../telemetry/event.js'
import { createLineWriter, readAnswerLines } from './protocol.js'

export type ConnectionOptions = {
  readonly connect: () => Promise<Duplex>
  /** A connection that was lost is given up after so long. */
  readonly giveUpMs: number
  /** Where there is none to be had, it is tried again after so long; absent: a minute. */
  readonly againAfterMs?: number
  /** Whether another gateway can be asked where this one falls silent. */
  readonly isOneOfSeveral?: () => boolean
  readonly clock: Clock
  readonly emit: Emit
}

type BulkConnection = {
  /** `none` until it was opened, and after it was given up; `lost` while a connection that was there is tried again. */
  readonly state: () => 'none' | 'open' | 'lost'
  /** Resolves when there is one, or when there is none to be had for now. */
  readonly open: () => Promise<void>
  readonly write: (line: string) => void
  readonly close: () => void
}

type ConnectionEvents = {
  readonly opened: () => void
  readonly received: (line: string) => void
  readonly givenUp: () => void
}

/** The gateway says something at least every second. */
const usualSilentMs = 15_000
const shortSilentMs = 3_000
const firstRetryMs = 50
const maxRetryMs = 1_000
/** Something between here and the gateway may not let such a connection through; it is not asked all the time. */
const usualAgainAfterMs = 60_000

export const createBulkConnection = (
  { connect, giveUpMs, againAfterMs = usualAgainAfterMs, isOneOfSeveral, clock, emit }: ConnectionOptions,
  events: ConnectionEvents,
): BulkConnection => {
  let stream: Duplex | undefined
  let write: ((line: string) => void) | undefined
  let opening: Promise<void> | undefined
  let isClosed = false
  let lostAt: number | undefined
  let notBefore = 0

  const open = (): Promise<void> => {
    if (isClosed || stream || clock.now() < notBefore) return Promise.resolve()
    return (opening ??= tryToOpen().finally(() => (opening = undefined)))
  }
  const tryToOpen = async (): Promise<void> => {
    for (let waitMs = firstRetryMs; !isClosed; waitMs = Math.min(waitMs * 2, maxRetryMs)) {
      const opened = await connect().catch(() => undefined) // why does not matter: there is none
      if (opened) {
        use(opened)
        return
      }
      if (lostAt === undefined || clock.now() - lostAt >= giveUpMs) {
        notBefore = clock.now() + againAfterMs
        if (lostAt !== undefined) events.givenUp()
        lostAt = undefined
        return
      }
      await new Promise<void>((resolve) => clock.after(waitMs, resolve))
    }
  }
  const use = (opened: Duplex): void => {
    if (isClosed) {
      opened.destroy()
      return
    }
    stream = opened
    write = createLineWriter(opened)
    const silentMs = isOneOfSeveral?.() === true ? shortSilentMs : usualSilentMs
    let heardAt = clock.now()
    const watch = setInterval(() => {
      // Looked at once more after what has arrived meanwhile: it may be this process that was busy.
      if (clock.now() - heardAt > silentMs) setImmediate(() => clock.now() - heardAt > silentMs && opened.destroy())
    }, silentMs / 3).unref()
    readAnswerLines(opened, (line) => {
      heardAt = clock.now()
      events.received(line)
    })
    opened.on('error', () => undefined) // 'close' follows
    opened.once('close', () => {
      clearInterval(watch)
      stream = write = undefined
      if (isClosed) return
      lostAt = clock.now()
      emit({ event: 'lookups_paused', state: 'paused', reason: 'unavailable', forMs: giveUpMs })
      void open()
    })
    if (lostAt !== undefined) emit({ event: 'lookups_resumed' })
    lostAt = undefined
    events.opened()
  }
  return {
    state: () => (stream ? 'open' : lostAt === undefined ? 'none' : 'lost'),
    open,
    write: (line) => write?.(line),
    close: () => {
      isClosed = true
      stream?.destroy()
    },
  }
}

// The client connection for bulk lookups at a gateway: opened when offered, and reopened when lost.
import type { Duplex } from 'node:stream'
import type { Clock } from '../base/clock.js'
import type { Emit } from '../telemetry/event.js'
import { createLineWriter, readAnswerLines } from './protocol.js'

export type ConnectionOptions = {
  readonly connect: () => Promise<Duplex>
  /** The time limit for restoring a lost connection. */
  readonly giveUpMs: number
  /** The delay between attempts to connect; absent: a minute. */
  readonly againAfterMs?: number
  /** Whether another gateway can take over if this one stops answering. */
  readonly isOneOfSeveral?: () => boolean
  readonly clock: Clock
  readonly emit: Emit
}

type BulkConnection = {
  /** `none` before it is opened and after it is given up; `lost` while a lost connection is being restored. */
  readonly state: () => 'none' | 'open' | 'lost'
  /** Resolves when connected, or when the attempt has failed. */
  readonly open: () => Promise<void>
  readonly write: (line: string) => void
  readonly close: () => void
}

type ConnectionEvents = {
  readonly opened: () => void
  readonly received: (line: string) => void
  readonly givenUp: () => void
}

/** A longer silence means a dead connection: the gateway sends its state every second. */
const usualSilentMs = 15_000
const shortSilentMs = 3_000
const firstRetryMs = 50
const maxRetryMs = 1_000
/** Slow retries, because an intermediary may block such connections for good. */
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
      const opened = await connect().catch(() => undefined) // any failure means no connection
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
      // Checked again after pending input is read, because this process itself may have been busy.
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

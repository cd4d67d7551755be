// Exit code and message of a command that was interrupted by a signal.
import { once } from 'node:events'
import { constants } from 'node:os'
import { exitCodes, type Io } from './command.js'

/** Returns 130 after SIGINT, 143 after SIGTERM, as shells expect; 0 without a signal or if only the output was closed. */
export const reportStop = (count: number, { signal, stderr }: Io, what = 'event'): number => {
  if (signal.reason !== 'SIGINT' && signal.reason !== 'SIGTERM') return exitCodes.ok
  stderr.write(`threatweave: stopped after ${count} ${count === 1 ? what : `${what}s`}\n`)
  return signal.reason === 'SIGTERM' ? 128 + constants.signals.SIGTERM : 128 + constants.signals.SIGINT
}

/** The result of `work`, or undefined if the signal comes first. */
export const unlessStopped = async <Outcome>(
  work: Promise<Outcome>,
  signal: AbortSignal,
): Promise<Outcome | undefined> => {
  const over = new AbortController()
  const stopped = once(signal, 'abort', { signal: over.signal }).then(
    () => undefined,
    () => undefined,
  )
  try {
    return signal.aborted ? undefined : await Promise.race([work, stopped])
  } finally {
    over.abort()
  }
}

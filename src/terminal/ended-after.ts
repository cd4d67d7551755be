// How a command over files and standard input ends when it was told to stop: it says how far it came, and the shell sees the signal.
import { once } from 'node:events'
import { constants } from 'node:os'
import { exitCodes, type Io } from './command.js'

/** 130 after SIGINT, 143 after SIGTERM, as a shell expects; 0 where nobody asked, or only because the output is closed. */
export const endedAfter = (count: number, { signal, stderr }: Io, what = 'event'): number => {
  if (signal.reason !== 'SIGINT' && signal.reason !== 'SIGTERM') return exitCodes.ok
  stderr.write(`threatweave: stopped after ${count} ${count === 1 ? what : `${what}s`}\n`)
  return signal.reason === 'SIGTERM' ? 128 + constants.signals.SIGTERM : 128 + constants.signals.SIGINT
}

/** The outcome of `work`, or nothing where the signal comes first. */
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

// Reads files again when they have changed and stood still since the last look at them.
import type { Clock } from './clock.js'

type Reloading = {
  readonly clock: Clock
  /** How often the files are looked at; a change counts once it has stood still for as long. 0: never. */
  readonly pollMs: number
  /** What changes when the files do. */
  readonly signature: () => Promise<string>
  /** Reads the files; `use` takes what came of it, good or bad, and is not called any more once closed. */
  readonly read: () => Promise<{ readonly signature: string; readonly use: () => void }>
}

type Reloads = {
  /** Reads the files again, changed or not. */
  readonly reload: () => Promise<void>
  /** Stops watching; resolves when reads in progress have ended. */
  readonly close: () => Promise<void>
}

/** `first` is the signature of what is in use. */
export const reloadWhenChanged = (first: string, { clock, pollMs, signature, read }: Reloading): Reloads => {
  let tried = first
  let changing = ''
  let isClosed = false
  let cancel = (): void => undefined
  let queue: Promise<void> = Promise.resolve()

  const reload = async (): Promise<void> => {
    const next = await read()
    if (isClosed) return
    tried = next.signature
    next.use()
  }
  const reloadIfChanged = async (): Promise<void> => {
    const now = await signature()
    if (now === tried) return
    if (now === changing) await reload()
    else changing = now
  }
  const enqueue = (work: () => Promise<void>): Promise<void> =>
    (queue = queue.then(() => (isClosed ? undefined : work())))
  const watch = (): void => {
    if (isClosed || pollMs === 0) return
    cancel = clock.after(pollMs, () => void enqueue(reloadIfChanged).then(watch))
  }

  watch()
  return {
    reload: () => enqueue(reload),
    close: () => {
      isClosed = true
      cancel()
      return queue
    },
  }
}

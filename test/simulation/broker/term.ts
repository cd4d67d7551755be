// One broker's term as a coordinator: its timers, and its writes, which take effect once they are replicated.
import { below, between, type Process, type Random, type Scheduled, type World } from '../world.js'
import { errors } from '../wire.js'
import type { Took } from './paths.js'

export type Term = {
  readonly world: World
  readonly random: Random
  readonly took: Took
  /** Skipped if the term has ended. */
  readonly after: (ms: number, run: () => void) => Scheduled
  /** Calls `apply` when the write is replicated, then `done`. If the term ends first, the write may or may not be kept. */
  readonly write: (apply: () => void, done: (error: number) => void) => void
  readonly isOver: () => boolean
  readonly end: () => void
}

type Write = { readonly apply: () => void; readonly done: (error: number) => void }

export type WriteTime = { readonly leastMs: number; readonly mostMs: number }

export const beginTerm = (world: World, owner: Process, random: Random, took: Took, time: WriteTime): Term => {
  const writes: Write[] = []
  let lastUs = 0
  let isOver = false
  const after = (ms: number, run: () => void): Scheduled =>
    world.after(
      ms,
      () => {
        if (!isOver) run()
      },
      owner,
    )
  const commit = (): void => {
    const write = writes.shift()
    if (!write) return
    write.apply()
    write.done(errors.NONE)
  }
  return {
    world,
    random,
    took,
    after,
    write: (apply, done) => {
      writes.push({ apply, done })
      lastUs = Math.max(lastUs + 1, world.us + Math.round(1000 * between(random, time.leastMs, time.mostMs)))
      after((lastUs - world.us) / 1000, commit)
    },
    isOver: () => isOver,
    end: () => {
      isOver = true
      // A log loses its tail, never records in the middle.
      const kept = below(random, writes.length + 1)
      for (const [nth, { apply, done }] of writes.splice(0).entries()) {
        took(nth < kept ? 'coordinator kept a write whose answer was lost' : 'coordinator lost a write')
        if (nth < kept) apply()
        done(errors.NOT_COORDINATOR)
      }
    },
  }
}

// Runs a function in a world of its own, and always closes that world.
import { createWorld, type World, type WorldOptions } from './world.js'

export const inWorld = async <Result>(
  seed: number,
  options: WorldOptions,
  run: (world: World) => Promise<Result>,
): Promise<Result> => {
  const world = createWorld(seed, options)
  try {
    return await run(world)
  } finally {
    world.close()
  }
}

/** The trace of a world: as a hash, as lines, and in numbers. */
export type Trace = {
  readonly digest: string
  readonly timeline: readonly string[]
  readonly events: number
  readonly virtualMs: number
}

export const traceOf = (world: World): Trace => ({
  digest: world.digest(),
  timeline: world.timeline(),
  events: world.events,
  virtualMs: world.ms,
})

// Where what was paid for is kept: the folder of the settings, or one of the user's own for each service that is asked.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from './schema.js'

export type MemoryFolder = {
  readonly path?: string
  /** Named in the settings, so that it must not be another process's. */ readonly isNamed: boolean
}

export const memoryFolder = (
  { memory, intel }: Config,
  env: Readonly<Record<string, string | undefined>>,
): MemoryFolder => {
  if (memory.path === 'none') return { isNamed: false }
  if (memory.path !== '') return { path: memory.path, isNamed: true }
  const home = env.XDG_STATE_HOME ?? (env.HOME ? join(env.HOME, '.local', 'state') : undefined)
  if (home === undefined || home === '') return { isNamed: false }
  // Facts of one service must not answer for another.
  const service = createHash('sha256').update(intel.service.baseUrl).digest('hex').slice(0, 12)
  return { path: join(home, 'threatweave', `memory-${service}`), isNamed: false }
}

// Where what was paid for and what was fetched is kept: the folder of the settings, or one of the user's own.
import { createHash } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Config } from './schema.js'

type MemoryFolder = {
  readonly path?: string
  /** Named in the settings, so that it must not be another process's. */ readonly isNamed: boolean
}

export const memoryFolder = (
  { memory, intel }: Config,
  env: Readonly<Record<string, string | undefined>>,
): MemoryFolder => {
  if (memory.path === 'none') return { isNamed: false }
  if (memory.path !== '') return { path: memory.path, isNamed: true }
  const home = stateHome(env)
  if (home === undefined) return { isNamed: false }
  // Facts of one service must not answer for another.
  const service = createHash('sha256').update(intel.service.baseUrl).digest('hex').slice(0, 12)
  return { path: join(home, 'threatweave', `memory-${service}`), isNamed: false }
}

/** Where copies of fetched feeds are kept: one folder for all processes of this user, so that each list is fetched once. */
export const feedsFolder = ({ memory }: Config, env: Readonly<Record<string, string | undefined>>): string => {
  if (memory.path !== '' && memory.path !== 'none') return join(memory.path, 'feeds')
  const home = stateHome(env)
  return home === undefined ? join(tmpdir(), `threatweave-feeds-${userInfo().uid}`) : join(home, 'threatweave', 'feeds')
}

const stateHome = (env: Readonly<Record<string, string | undefined>>): string | undefined =>
  env.XDG_STATE_HOME || (env.HOME ? join(env.HOME, '.local', 'state') : undefined)

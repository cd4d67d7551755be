// Chooses the folders for the memory and for fetched feeds: the one in the settings, or one in the home of the user.
import { createHash } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Config } from './schema.js'

type MemoryFolder = {
  readonly path?: string
  /** Set by the user, so it is an error if another process has it open. */ readonly isNamed: boolean
}

export const memoryFolder = (
  { memory, intel }: Config,
  env: Readonly<Record<string, string | undefined>>,
): MemoryFolder => {
  if (memory.path === 'none') return { isNamed: false }
  if (memory.path !== '') return { path: memory.path, isNamed: true }
  const home = stateHome(env)
  if (home === undefined) return { isNamed: false }
  // Findings from one service must not be used for another.
  const service = createHash('sha256').update(intel.service.baseUrl).digest('hex').slice(0, 12)
  return { path: join(home, 'threatweave', `memory-${service}`), isNamed: false }
}

/** The folder for copies of fetched feeds, shared by all processes of this user, so that each list is fetched once. */
export const feedsFolder = ({ memory }: Config, env: Readonly<Record<string, string | undefined>>): string => {
  if (memory.path !== '' && memory.path !== 'none') return join(memory.path, 'feeds')
  const home = stateHome(env)
  return home === undefined ? join(tmpdir(), `threatweave-feeds-${userInfo().uid}`) : join(home, 'threatweave', 'feeds')
}

const stateHome = (env: Readonly<Record<string, string | undefined>>): string | undefined =>
  env.XDG_STATE_HOME || (env.HOME ? join(env.HOME, '.local', 'state') : undefined)

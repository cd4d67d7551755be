// The configuration of the demo, from the environment that its parts are started with.
import { readFileSync } from 'node:fs'
import { load } from '../../config/load.js'
import { ConfigurationError } from '../../config/problem.js'
import type { Config } from '../../config/schema.js'

export const configOf = (env: Record<string, string>): Config => {
  const loaded = load({ env, readFile: (path) => readFileSync(path, 'utf8') })
  if ('problems' in loaded) throw new ConfigurationError(loaded.problems)
  return loaded.config
}

// Loads the configuration of a command: --config or THREATWEAVE_CONFIG, overridden by the environment. Refuses with every problem at once.
import { asUtf8 } from '../base/utf16.js'
import { readFileSync } from 'node:fs'
import { load, type Accepted } from './load.js'
import { ConfigurationError, type Problem, type Refused } from './problem.js'
import type { Config } from './schema.js'

/** Command-line options. */
export type ConfigArguments = { readonly values: Readonly<Record<string, unknown>> }
export type ConfigIo = { readonly env: Readonly<Record<string, string | undefined>> }

/** The option of every command that reads the configuration. */
export const configOption = { config: { type: 'string', short: 'c', takes: 'file' } } as const

export const configFileOf = (args: ConfigArguments, io: ConfigIo): string | undefined =>
  typeof args.values.config === 'string' ? args.values.config : io.env.THREATWEAVE_CONFIG

/** The configuration, or its problems with the valid remainder if there is one. */
export const readConfig = (
  args: ConfigArguments,
  io: ConfigIo,
  settings: Accepted,
): { readonly config?: Config | undefined; readonly problems: readonly Problem[] } => {
  const name = configFileOf(args, io)
  const loaded = load(
    {
      file: name === undefined || name === '' ? undefined : { name, text: readConfigFile(name) },
      env: io.env,
      readFile: (path) => readFileSync(path, 'utf8'),
    },
    settings,
  )
  return 'problems' in loaded ? { config: loaded.rest, problems: loaded.problems } : { ...loaded, problems: [] }
}

const readConfigFile = (name: string): string => {
  try {
    return readFileSync(name, 'utf8')
  } catch (error) {
    const cause = error instanceof Error ? error.message : 'unreadable'
    throw new ConfigurationError([{ setting: name, message: `cannot be read: ${cause}` }])
  }
}

/** Returns the opened object, or throws a refusal with every problem. */
export const accepted = <Opened extends object>(opened: Opened | { readonly problems: readonly Problem[] }): Opened => {
  if ('problems' in opened) throw new ConfigurationError(opened.problems)
  return opened
}

/** The opposite of `accepted`: a refusal that was thrown, as a value. */
export const attempt = async <Opened extends object>(open: () => Promise<Opened>): Promise<Opened | Refused> => {
  try {
    return await open()
  } catch (error) {
    if (error instanceof ConfigurationError) return { problems: error.problems }
    throw error
  }
}

export const readText = (path: string): string => asUtf8(readFileSync(path)).toString('utf8')

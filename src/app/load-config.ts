// Loads a command's configuration with the settings of the core and of all parts.
import { accepting, load } from '../config/load.js'
import { readConfig, type ConfigArguments, type ConfigIo } from '../config/load-config.js'
import { ConfigurationError } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { parts } from './parts.js'

/** Compiled on first use. */
export const allSettings = accepting(parts.flatMap(({ settings = [] }) => settings))

export const loadConfig = (args: ConfigArguments, io: ConfigIo): Config => {
  const loaded = readAnyConfig(args, io)
  if (loaded.problems.length > 0 || !loaded.config) throw new ConfigurationError(loaded.problems)
  return loaded.config
}

/** Returns all problems, and the configuration without the faulty settings if that is known. */
export const readAnyConfig = (args: ConfigArguments, io: ConfigIo): ReturnType<typeof readConfig> =>
  readConfig(args, io, allSettings)

/** Like `load`, with the settings of all parts. */
export const loadAny = (sources: Parameters<typeof load>[0]): ReturnType<typeof load> => load(sources, allSettings)

// Finds secret files that every user of the machine can read.
import { statSync } from 'node:fs'
import { environmentName } from './environment-name.js'
import { settingsOf } from './environment.js'
import type { Problem } from './problem.js'
import type { configSchema, Config } from './schema.js'

const readableByOthers = 0o004

/** Leaves out file names: a user may have pasted the key itself there, and it must not end up in a log. */
export const exposedFiles = (
  { feeds, intel }: Config,
  env: Readonly<Record<string, string | undefined>>,
  schema: typeof configSchema,
): readonly Problem[] => {
  const secrets = settingsOf(schema)
    .filter(({ secret }) => secret)
    .map(({ path }) => ({ setting: path.join('.'), name: `${environmentName(path)}_FILE` }))
    .map(({ setting, name }) => ({ setting, file: env[name], what: `${name} names` }))
  const headers = feeds.flatMap((feed, at) =>
    (['headersFile', 'apiKeyFile', 'clientKeyFile'] as const).map((name) => ({
      setting: `feeds.${at}.${name}`,
      file: feed[name],
      what: 'names',
    })),
  )
  const sources = intel.sources.map(({ apiKeyFile: file }, at) => ({
    setting: `intel.sources.${at}.apiKeyFile`,
    file,
    what: 'names',
  }))
  return [...secrets, ...headers, ...sources].flatMap(({ setting, file, what }) => exposed(setting, file, what))
}

/** A problem if the secret file is readable by all; `what` is the subject of the message. */
export const exposed = (setting: string, file: string | undefined, what: string): readonly Problem[] =>
  isExposed(file)
    ? [{ setting, message: `${what} a file that every user of this machine can read; fix it with chmod o-rwx` }]
    : []

const isExposed = (file = ''): boolean => {
  if (file === '' || process.platform === 'win32') return false
  const found = statSync(file, { throwIfNoEntry: false })
  return found !== undefined && (found.mode & readableByOthers) !== 0
}

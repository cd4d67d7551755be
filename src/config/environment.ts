// Reads settings from environment variables, which override the file.
import { parse } from 'yaml'
import { messageOf } from '../base/message-of.js'
import { movedSettings, movedTo } from './moved-settings.js'
import { didYouMean } from './did-you-mean.js'
import { environmentName, prefix, workerNumberVariable, workerVariable } from './environment-name.js'
import type { Problem } from './problem.js'

type Setting = { readonly path: readonly string[]; readonly schema: SchemaNode; readonly secret: boolean }

type SchemaNode = {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly secret?: boolean
  /** The default, in words, if it depends on other settings. */
  readonly derived?: string
}

/** Variables for the command line itself, which are not settings. */
const reserved = new Set(['THREATWEAVE_CONFIG', workerVariable, workerNumberVariable])

/** The leaves of the schema: every setting without settings below it. */
export const settingsOf = (schema: SchemaNode, path: readonly string[] = []): Setting[] =>
  schema.properties
    ? Object.entries(schema.properties).flatMap(([name, child]) => settingsOf(child, [...path, name]))
    : [{ path, schema, secret: schema.secret === true }]

/** The settings in the environment as a nested object, with their problems. */
export const readEnvironment = (
  schema: SchemaNode,
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): { values: Record<string, unknown>; origins: Map<string, string>; problems: Problem[] } => {
  const values: Record<string, unknown> = {}
  const origins = new Map<string, string>()
  const problems: Problem[] = []
  const settings = new Map<string, { setting: Setting; fromFile: boolean }>()
  for (const setting of settingsOf(schema)) {
    const name = environmentName(setting.path)
    settings.set(name, { setting, fromFile: false })
    if (setting.secret) settings.set(`${name}_FILE`, { setting, fromFile: true })
  }
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(prefix) || reserved.has(name) || text === undefined) continue
    const found = settings.get(name)
    // An empty value switches off a topic with a derived name; for any other setting it counts as unset.
    if (text === '' && found?.setting.schema.derived === undefined) continue
    if (!found) {
      const former = movedSettings.find((path) => environmentName(path) === name)?.join('.') ?? ''
      const unknown = `is not the name of a setting${didYouMean(name, settings.keys())}`
      problems.push({ setting: name, message: movedTo(former) ?? unknown })
      continue
    }
    const where = found.setting.path.join('.')
    if (origins.has(where)) {
      problems.push({
        setting: where,
        message: `is given twice, by ${origins.get(where) ?? ''} and by ${name}; keep one`,
      })
      continue
    }
    origins.set(where, name)
    try {
      const raw = found.fromFile ? readFile(text).replace(/\r?\n$/, '') : text
      if (found.fromFile && raw === '') problems.push({ setting: where, message: `${name} names a file that is empty` })
      place(values, found.setting.path, valueOf(raw, found.setting.schema.type))
    } catch (error) {
      problems.push({
        setting: where,
        message: found.fromFile ? unreadable(name, error) : `${name} cannot be read: ${messageOf(error)}`,
      })
    }
  }
  return { values, origins, problems }
}

/** Leaves out the file name: a user may have pasted the secret itself there, and it must not end up in a log. */
const unreadable = (name: string, error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
  return code === 'ENOENT'
    ? `${name} names a file that does not exist`
    : `${name} names a file that cannot be read: ${code}`
}

/** Strings are taken verbatim, lists may be separated by commas, and everything else is YAML. */
const valueOf = (raw: string, type: string | undefined): unknown => {
  if (type === 'string') return raw
  if (type === 'array' && !raw.trimStart().startsWith('['))
    return raw
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
  return parse(raw, { maxAliasCount: 0 })
}

const place = (target: Record<string, unknown>, path: readonly string[], value: unknown): void => {
  let node = target
  for (const part of path.slice(0, -1)) node = (node[part] ??= {}) as Record<string, unknown>
  node[path.at(-1) ?? ''] = value
}

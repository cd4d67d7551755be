// Merges file, environment and secret files into one frozen Config, or returns every problem at once.
import { isObject } from '../base/json-object.js'
import { readEnvironment, settingsOf } from './environment.js'
import { withAdded, type AddedSettings } from './added-settings.js'
import { completed, configSchema, type Config } from './schema.js'
import { movedTo } from './moved-settings.js'
import { distinctProblems, type Problem } from './problem.js'
import { createValidator, explain, pathOf, type SchemaError } from './validate.js'
import { readYamlFile, type NamedText } from './yaml-file.js'

type Sources = {
  readonly file?: NamedText | undefined
  /** Settings given as an object by an embedding program; they override the file. */
  readonly values?: Readonly<Record<string, unknown>> | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
}
type Loaded =
  | { readonly config: Config }
  | {
      readonly problems: readonly Problem[]
      /** The configuration without the invalid settings, so that later checks can report their problems too. */
      readonly rest?: Config | undefined
    }

/** The settings that a configuration may have. */
export type Accepted = {
  readonly schema: typeof configSchema
  readonly validate: (values: unknown) => readonly SchemaError[]
}

/** Those of the core, and these. */
export const accepting = (added: readonly AddedSettings[]): Accepted => {
  const schema = withAdded(configSchema, added) as typeof configSchema
  return { schema, validate: createValidator(schema) }
}

const ofCore = accepting([])

/** A file with more errors is not a configuration, and suggestions for each would take long. */
const maxExplained = 100

export const load = (
  { file, values: embedded = {}, env, readFile }: Sources,
  { schema, validate }: Accepted = ofCore,
): Loaded => {
  const read = file ? readYamlFile(file) : undefined
  if (read?.isBroken === true) return { problems: distinctProblems(read.problems) }
  const given = readEnvironment(schema, env, readFile)
  const problems: Problem[] = [...given.problems, ...(read?.problems ?? [])]
  const values = merge(merge(read?.content ?? {}, structuredClone(embedded)), given.values)
  const errors = validate(values)
  for (const error of errors.slice(0, maxExplained)) {
    const setting = pathOf(error).join('.')
    const message = movedTo(setting)
    const problem = message === undefined ? explain(error, (name) => elsewhere(schema, name)) : { setting, message }
    if (!problem) continue
    const where = given.origins.get(problem.setting) ?? read?.placeOf(problem.setting)
    problems.push(where === undefined ? problem : { ...problem, where })
  }
  if (errors.length > maxExplained)
    problems.push({ setting: 'configuration', message: `has ${errors.length - maxExplained} more problems` })
  if (problems.length > 0) return { problems: distinctProblems(problems), rest: withoutWrong(values, errors, validate) }
  return { config: completed(values as Parameters<typeof completed>[0]) }
}

/** Suggests the full path of a setting that was written in the wrong place. */
const elsewhere = (schema: typeof configSchema, name: string): string => {
  const found = settingsOf(schema).find(({ path }) => path.at(-1) === name)
  return found ? `; did you mean ${found.path.join('.')}?` : ''
}

/** Removes invalid settings until the remainder is valid; a list with an invalid entry is removed as a whole. */
const withoutWrong = (
  values: Record<string, unknown>,
  errors: readonly SchemaError[],
  validate: Accepted['validate'],
): Config | undefined => {
  if (errors.length === 0) return completed(values as Parameters<typeof completed>[0])
  let isSmaller = false
  for (const error of errors) isSmaller = remove(values, pathOf(error)) || isSmaller
  return isSmaller ? withoutWrong(values, validate(values), validate) : undefined
}

const remove = (values: Record<string, unknown>, path: readonly string[]): boolean => {
  let holder: object = {}
  let parent: object = values
  for (const name of path.slice(0, -1)) {
    const child: unknown = Object.hasOwn(parent, name) ? (parent as Record<string, unknown>)[name] : undefined
    if (typeof child !== 'object' || child === null) return false
    holder = parent
    parent = child
  }
  const [from, name] = Array.isArray(parent) ? [holder, path.at(-2)] : [parent, path.at(-1)]
  return name !== undefined && Object.hasOwn(from, name) && Reflect.deleteProperty(from, name)
}

const merge = (base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> => {
  const merged = { ...base }
  for (const [name, value] of Object.entries(over)) {
    const below = merged[name]
    merged[name] = isObject(below) && isObject(value) ? merge(below, value) : value
  }
  return merged
}

// File + environment + secret files → one frozen Config, or every problem at once.
import { Ajv, type ErrorObject } from 'ajv'
import { LineCounter, isNode, parseDocument, type Document } from 'yaml'
import { isCidr } from '../domain/address.js'
import { isSuffix } from '../domain/hostname.js'
import { didYouMean } from './did-you-mean.js'
import { readEnvironment, settingsOf } from './environment.js'
import type { Problem } from './problem.js'
import { configSchema, type Config } from './schema.js'

export type Sources = {
  readonly file?: { readonly name: string; readonly text: string } | undefined
  /** Settings given as an object, by whoever embeds the program; they go over the file. */
  readonly values?: Readonly<Record<string, unknown>> | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: (path: string) => string
}
export type Loaded =
  | { readonly config: Config }
  | {
      readonly problems: readonly Problem[]
      /** The configuration without the settings that are wrong, so that what else is wrong can be told as well. */
      readonly rest?: Config | undefined
    }

const ajv = new Ajv({ allErrors: true, useDefaults: true, strict: false, verbose: true })
ajv.addFormat('cidr', isCidr)
ajv.addFormat('suffix', isSuffix)
ajv.addFormat('url', (text: string) => URL.canParse(text))
ajv.addFormat('regex', (text: string) => {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return false
  }
})
const validate = ajv.compile(configSchema)

export const load = ({ file, values: embedded = {}, env, readFile }: Sources): Loaded => {
  const problems: Problem[] = []
  const lines = new LineCounter()
  const document = file ? parseDocument(file.text, { lineCounter: lines }) : undefined
  for (const error of document?.errors ?? [])
    problems.push({ setting: file?.name ?? '', message: `is not valid YAML: ${firstLine(error.message)}` })
  if (problems.length > 0) return { problems: unique(problems) }

  const given = readEnvironment(configSchema, env, readFile)
  problems.push(...given.problems)
  const base = contentOf(document, file?.name ?? '', problems)
  const values = merge(merge(base, structuredClone(embedded)), given.values)
  const isRight = validate(values)
  const errors = validate.errors ?? []
  if (!isRight) {
    const where = (path: string): string | undefined =>
      given.origins.get(path) ?? (document && file ? lineOf(document, lines, file.name, path) : undefined)
    for (const error of errors) {
      const problem = explain(error)
      if (problem) problems.push(withPlace(problem, where(problem.setting)))
    }
  }
  if (problems.length > 0) return { problems: unique(problems), rest: withoutWrong(values, errors) }
  return { config: freeze(values) as Config }
}

/** Takes out what is wrong until the rest is right; a list of which an entry is wrong goes as a whole. */
const withoutWrong = (values: Record<string, unknown>, errors: readonly ErrorObject[]): Config | undefined => {
  if (errors.length === 0) return freeze(values) as Config
  let isSmaller = false
  for (const { instancePath, keyword, params } of errors) {
    const path = instancePath.split('/').slice(1).map(unescapePointer)
    if (keyword === 'additionalProperties') path.push(String((params as Record<string, unknown>).additionalProperty))
    isSmaller = remove(values, path) || isSmaller
  }
  if (!isSmaller) return undefined
  return withoutWrong(values, validate(values) ? [] : [...(validate.errors ?? [])])
}

const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

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

/** The parser shows the place below it, behind a colon. */
const firstLine = (message: string): string => (message.split('\n')[0] ?? '').replace(/:$/, '')

const contentOf = (document: Document | undefined, name: string, problems: Problem[]): Record<string, unknown> => {
  if (!document) return {}
  let content: unknown
  try {
    content = document.toJS({ maxAliasCount: 50 }) as unknown
  } catch (error) {
    problems.push({
      setting: name,
      message: `cannot be read: ${error instanceof Error ? error.message : 'unreadable'}`,
    })
  }
  if (content === null || content === undefined) return {}
  if (isObject(content)) return content
  problems.push({ setting: name, message: 'must hold settings as `name: value` lines' })
  return {}
}

const explain = (error: ErrorObject): Problem | undefined => {
  const setting = error.instancePath.slice(1).replaceAll('/', '.')
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const siblings = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
      const meant = didYouMean(name, siblings) || elsewhere(name)
      return { setting: setting ? `${setting}.${name}` : name, message: `is not a setting${meant}` }
    }
    case 'const':
      return undefined // one branch of a choice; the choice itself reports
    case 'anyOf': {
      const branches = (error.schema as { const?: unknown }[]).map((branch) => branch.const)
      if (branches.every((branch) => branch !== undefined))
        return { setting, message: `must be one of ${branches.map(String).join(', ')}` }
      return { setting, message: 'has a value of the wrong kind' }
    }
    case 'enum':
      return { setting, message: `must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}` }
    case 'format':
      return { setting, message: formatMessages[String(params.format)] ?? `must be a valid ${String(params.format)}` }
    case 'pattern': {
      const { form, description } = error.parentSchema as { form?: string; description?: string }
      if (form !== undefined) return { setting, message: `must be ${form}` }
      return { setting, message: `must match ${String(params.pattern)}${description ? `: ${description}` : ''}` }
    }
    case 'type':
      return {
        setting: setting || 'configuration',
        message: typeMessages[String(params.type)] ?? 'is of the wrong kind',
      }
    default:
      return { setting: setting || 'configuration', message: error.message ?? 'is wrong' }
  }
}

/** Where a setting of this name has its place, if only the place was wrong; the whole path is told. */
const elsewhere = (name: string): string => {
  const found = settingsOf(configSchema).find(({ path }) => path.at(-1) === name)
  return found ? `; did you mean ${found.path.join('.')}?` : ''
}

const formatMessages: Readonly<Record<string, string>> = {
  cidr: 'must be an address or a range such as 198.51.100.0/24 or 2001:db8::/32',
  suffix: 'must be a domain name such as corp.example.com',
  regex: 'must be a regular expression',
  url: 'must be a URL such as https://intel.example.com',
}

const typeMessages: Readonly<Record<string, string>> = {
  array: 'must be a list, such as [one, two]',
  boolean: 'must be true or false',
  integer: 'must be a whole number',
  number: 'must be a number',
  object: 'must hold settings as `name: value` lines',
  string: 'must be text',
}

const withPlace = (problem: Problem, where: string | undefined): Problem => (where ? { ...problem, where } : problem)

const lineOf = (document: Document, lines: LineCounter, name: string, path: string): string | undefined => {
  const parts = path.split('.')
  for (let length = parts.length; length > 0; length--) {
    const node = document.getIn(parts.slice(0, length), true)
    if (isNode(node) && node.range) return `${name}:${lines.linePos(node.range[0]).line}`
  }
  return undefined
}

const unique = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((problem) => [`${problem.setting} ${problem.message}`, problem])).values(),
]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const merge = (base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> => {
  const merged = { ...base }
  for (const [name, value] of Object.entries(over)) {
    const below = merged[name]
    merged[name] = isObject(below) && isObject(value) ? merge(below, value) : value
  }
  return merged
}

const freeze = (value: unknown): unknown => {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze)
    Object.freeze(value)
  }
  return value
}

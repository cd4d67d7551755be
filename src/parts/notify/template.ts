// Request templates: YAML whose {paths} are replaced with alert fields. Alert text is only inserted, never parsed as a template.
import { isObject, type AnyObject } from '../../base/json-object.js'
import { printable } from '../../domain/control-characters.js'

export type Scope = {
  readonly alert: AnyObject
  /** Values that are not part of the alert: {sink.level}, {sink.secret} and so on. */
  readonly sink: AnyObject
  readonly item?: unknown
}

type TextRules = {
  /** Replacements for characters that the receiver would read as markup. */
  readonly escape: Readonly<Record<string, string>>
  /** The maximum length of one inserted value. */
  readonly clip: number
}

/** Returns undefined if the template is a single path whose value is missing. */
export type Render = (scope: Scope, rules: TextRules) => unknown

type TemplateProblem = { readonly at: string; readonly message: string }

const maxDepth = 16
const maxItems = 100
const pathPattern = /^@?[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_@-]+)*$/

/** Appends to `problems`; `at` is the path within the file. */
export const compileTemplate = (template: unknown, at: string, problems: TemplateProblem[], depth = 0): Render => {
  const wrong = (message: string): Render => {
    problems.push({ at, message })
    return () => undefined
  }
  if (depth > maxDepth) return wrong(`is nested deeper than ${maxDepth}`)
  if (typeof template === 'string') return compileText(template, wrong)
  if (Array.isArray(template)) {
    const entries = template.map((entry, nth) => compileTemplate(entry, `${at}.${nth}`, problems, depth + 1))
    return (scope, rules) => entries.map((entry) => entry(scope, rules)).filter((entry) => entry !== undefined)
  }
  if (!isObject(template)) return () => template
  if ('$value' in template) return compileValue(template, wrong)
  if ('$each' in template) {
    const { $each: path, $as: shape, ...rest } = template
    if (typeof path !== 'string' || !pathPattern.test(path) || shape === undefined || Object.keys(rest).length > 0)
      return wrong('must be { $each: PATH, $as: TEMPLATE }')
    const each = compileTemplate(shape, `${at}.$as`, problems, depth + 1)
    return (scope, rules) => {
      const list = valueAt(scope, path)
      if (!Array.isArray(list)) return undefined
      return list
        .slice(0, maxItems)
        .map((item: unknown) => each({ ...scope, item }, rules))
        .filter((entry) => entry !== undefined)
    }
  }
  const members = Object.entries(template).map(
    ([name, member]) => [name, compileTemplate(member, `${at}.${name}`, problems, depth + 1)] as const,
  )
  return (scope, rules) =>
    Object.fromEntries(
      members.flatMap(([name, member]) => {
        const value = member(scope, rules)
        return value === undefined ? [] : [[name, value]]
      }),
    )
}

const compileValue = (template: AnyObject, wrong: (message: string) => Render): Render => {
  const { $value: path, ...rest } = template
  if (typeof path !== 'string' || !pathPattern.test(path) || Object.keys(rest).length > 0)
    return wrong('must be { $value: PATH }')
  return (scope) => valueAt(scope, path)
}

type Piece = string | { readonly path: string; readonly otherwise: string | undefined }

const compileText = (text: string, wrong: (message: string) => Render): Render => {
  const pieces: Piece[] = []
  let from = 0
  for (const found of text.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g)) {
    pieces.push(text.slice(from, found.index))
    from = found.index + found[0].length
    if (found[0] === '{{' || found[0] === '}}') pieces.push(found[0].charAt(0))
    else {
      const [path = '', ...otherwise] = (found[1] ?? '').split('|')
      if (!pathPattern.test(path)) return wrong(`has ${found[0]}, which is no {path}; write {{ for a brace`)
      pieces.push({ path, otherwise: otherwise.length === 0 ? undefined : otherwise.join('|') })
    }
  }
  pieces.push(text.slice(from))
  const used = pieces.filter((piece) => piece !== '')
  const isOneValue = used.length === 1 && typeof used[0] === 'object' && used[0].otherwise === undefined
  return (scope, rules) => {
    const texts = used.map((piece) => (typeof piece === 'string' ? piece : insert(piece, scope, rules)))
    return isOneValue ? texts[0] : texts.map((each) => each ?? '').join('')
  }
}

const insert = (
  { path, otherwise }: Exclude<Piece, string>,
  scope: Scope,
  { escape, clip }: TextRules,
): string | undefined => {
  const text = textOf(valueAt(scope, path)) ?? otherwise
  // Values from the sink file are trusted, so they are not escaped.
  if (text === undefined || path.startsWith('sink.')) return text
  const shown = printable(text.length > clip ? `${text.slice(0, clip - 1)}…` : text)
  return Array.from(shown, (character) => (Object.hasOwn(escape, character) ? escape[character] : character)).join('')
}

const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value === '' ? undefined : value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!Array.isArray(value)) return undefined
  const texts = value.slice(0, maxItems).flatMap((each: unknown) => (Array.isArray(each) ? [] : (textOf(each) ?? [])))
  return texts.length === 0 ? undefined : texts.join(', ')
}

const valueAt = (scope: Scope, path: string): unknown => {
  if (path === 'alert') return scope.alert
  const [root = '', ...rest] = path.split('.')
  if (root === 'sink') return memberAt(scope.sink, rest)
  if (root === 'item') return memberAt(scope.item, rest)
  return memberAt(scope.alert, [root, ...rest])
}

/** Reads own properties only, so a path never reaches the prototype. */
export const memberAt = (value: unknown, names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  )

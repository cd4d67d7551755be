// The detection part of a rule: named selections and the condition over them.
import { parseCondition } from './condition.js'
import { both, type Expression } from './expression.js'
import type { Fields } from './fields.js'
import { compileItem } from './item.js'
import type { Scalar } from './scalar.js'

export type YamlPath = readonly (string | number)[]
export type Complain = (path: YamlPath, message: string) => void

type Context = { readonly fields: Fields; readonly wrong: Complain; readonly odd: Complain }

/** Returns undefined after reporting a problem. */
export const compileDetection = (detection: unknown, context: Context): Expression | undefined => {
  const { wrong, odd } = context
  if (!isMap(detection)) {
    wrong(['detection'], 'detection must contain selections and a condition')
    return undefined
  }
  if ('timeframe' in detection)
    wrong(['detection', 'timeframe'], 'timeframe is not supported; each event is tested on its own')
  const selections = new Map<string, Expression>()
  let isWhole = true
  for (const [name, content] of Object.entries(detection)) {
    if (name === 'condition' || name === 'timeframe') continue
    const selection = compileSelection(content, ['detection', name], context)
    if (selection) selections.set(name, selection)
    else isWhole = false
  }
  if (!isWhole) return undefined
  const { condition } = detection
  const conditions: unknown[] = Array.isArray(condition) ? condition : [condition]
  const parts: Expression[] = []
  const used = new Set<string>()
  conditions.forEach((text, place) => {
    const path: YamlPath = ['detection', 'condition', ...(Array.isArray(condition) ? [place] : [])]
    if (typeof text !== 'string') {
      wrong(path, 'condition must be text such as `selection and not filter`')
      return
    }
    const parsed = parseCondition(text, selections)
    if ('wrong' in parsed) wrong(path, parsed.wrong)
    else {
      parts.push(parsed.expression)
      for (const name of parsed.used) used.add(name)
    }
  })
  if (parts.length === 0 || parts.length < conditions.length) return undefined
  for (const name of selections.keys())
    if (!used.has(name))
      odd(['detection', name], `the condition does not mention the selection ${JSON.stringify(name)}`)
  return both('or', parts)
}

/** A map matches if all its lines match, a list if any element matches. */
const compileSelection = (content: unknown, path: YamlPath, context: Context): Expression | undefined => {
  if (isMap(content)) return compileMap(content, path, context)
  const list: unknown[] = Array.isArray(content) ? content : [content]
  if (list.length === 0) {
    context.wrong(path, 'the selection is empty')
    return undefined
  }
  const parts = list.map((one, place) => {
    const inner = Array.isArray(content) ? [...path, place] : path
    return isMap(one) ? compileMap(one, inner, context) : compileLine('', one, inner, context)
  })
  return parts.every((part) => part !== undefined) ? both('or', parts) : undefined
}

const compileMap = (
  content: Readonly<Record<string, unknown>>,
  path: YamlPath,
  context: Context,
): Expression | undefined => {
  const lines = Object.entries(content)
  if (lines.length === 0) {
    context.wrong(path, 'the selection is empty')
    return undefined
  }
  const parts = lines.map(([key, value]) => compileLine(key, value, [...path, key], context))
  return parts.every((part) => part !== undefined) ? both('and', parts) : undefined
}

const compileLine = (
  key: string,
  value: unknown,
  path: YamlPath,
  { fields, wrong }: Context,
): Expression | undefined => {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  const bad = values.findIndex((one) => !isScalar(one))
  if (bad >= 0) {
    wrong(Array.isArray(value) ? [...path, bad] : path, 'a value must be text, a number, true, false or null')
    return undefined
  }
  const item = compileItem(key, values as Scalar[], fields)
  if (!('wrong' in item)) return item
  wrong(path, key === '' ? item.wrong : `${key}: ${item.wrong}`)
  return undefined
}

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

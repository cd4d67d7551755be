// Reads a YAML file of settings: content, problems, and line numbers.
import { isObject } from '../base/json-object.js'
import { LineCounter, isNode, isScalar, parseDocument, visit, type Document } from 'yaml'
import type { Problem } from './problem.js'

export type NamedText = { readonly name: string; readonly text: string }

type YamlFile = {
  readonly content: Record<string, unknown>
  readonly problems: readonly Problem[]
  /** The file is not YAML, so its settings cannot be checked. */
  readonly isBroken: boolean
  /** `threatweave.yaml:7`; undefined if no part of the path is in the file. */
  readonly placeOf: (path: string) => string | undefined
}

/** Parsing blocks the event loop, and with it signals, so the size is limited. */
const maxLength = 262_144

export const readYamlFile = ({ name, text }: NamedText): YamlFile => {
  if (text.length > maxLength) {
    const problems = [{ setting: name, message: `is larger than ${maxLength} bytes` }]
    return { content: {}, problems, isBroken: true, placeOf: () => undefined }
  }
  const lines = new LineCounter()
  // The parser's own check of unique keys is quadratic and takes seconds for thousands of keys.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false })
  const placeOf = (path: string): string | undefined => {
    const parts = path.split('.')
    for (let length = parts.length; length > 0; length--) {
      const node = document.getIn(parts.slice(0, length), true)
      if (isNode(node) && node.range) return `${name}:${lines.linePos(node.range[0]).line}`
    }
    return undefined
  }
  const wrong = [...repeatedKeys(document, lines), ...document.errors.map(({ message }) => message)]
  const errors = wrong.map((message) => `is not valid YAML: ${firstLine(message)}`)
  const read = errors.length > 0 ? { value: {}, problems: errors } : contentOf(document)
  return {
    content: read.value,
    problems: read.problems.map((message) => ({ setting: name, message })),
    isBroken: errors.length > 0,
    placeOf,
  }
}

const repeatedKeys = (document: Document, lines: LineCounter): readonly string[] => {
  const repeated: string[] = []
  visit(document, {
    Map: (_, { items }) => {
      const met = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        const { line, col } = lines.linePos(key.range?.[0] ?? 0)
        if (met.has(key.value)) repeated.push(`Map keys must be unique at line ${line}, column ${col}`)
        met.add(key.value)
      }
    },
  })
  return repeated
}

/** Drops the source excerpt that the parser appends after a colon. */
const firstLine = (message: string): string => (message.split('\n')[0] ?? '').replace(/:$/, '')

type Content = { readonly value: Record<string, unknown>; readonly problems: readonly string[] }

const contentOf = (document: Document): Content => {
  let content: unknown
  try {
    content = document.toJS({ maxAliasCount: 50 }) as unknown
  } catch (error) {
    return { value: {}, problems: [`cannot be read: ${error instanceof Error ? error.message : 'unreadable'}`] }
  }
  if (isObject(content)) return { value: content, problems: [] }
  const isEmpty = content === null || content === undefined
  return { value: {}, problems: isEmpty ? [] : ['must hold settings as `name: value` lines'] }
}

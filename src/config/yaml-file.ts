// Reads a YAML file of settings: its content, what is wrong with it, and on which line each part is.
import { isObject } from '../base/json-object.js'
import { LineCounter, isNode, parseDocument, type Document } from 'yaml'
import type { Problem } from './problem.js'

export type NamedText = { readonly name: string; readonly text: string }

type YamlFile = {
  readonly content: Record<string, unknown>
  readonly problems: readonly Problem[]
  /** It is no YAML at all, so that nothing can be said about what it means. */
  readonly isBroken: boolean
  /** `threatweave.yaml:7`; nothing where no part of the path is in the file. */
  readonly placeOf: (path: string) => string | undefined
}

export const readYamlFile = ({ name, text }: NamedText): YamlFile => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const placeOf = (path: string): string | undefined => {
    const parts = path.split('.')
    for (let length = parts.length; length > 0; length--) {
      const node = document.getIn(parts.slice(0, length), true)
      if (isNode(node) && node.range) return `${name}:${lines.linePos(node.range[0]).line}`
    }
    return undefined
  }
  const errors = document.errors.map(({ message }) => `is not valid YAML: ${firstLine(message)}`)
  const read = errors.length > 0 ? { value: {}, problems: errors } : contentOf(document)
  return {
    content: read.value,
    problems: read.problems.map((message) => ({ setting: name, message })),
    isBroken: errors.length > 0,
    placeOf,
  }
}

/** The parser shows the place below it, behind a colon. */
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

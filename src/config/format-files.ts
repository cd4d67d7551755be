// Reads log format files into YAML documents with line numbers, and reports unreadable ones.
import type { FormatDocument, FileProblem } from '../domain/problem.js'
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isNode, LineCounter, parseAllDocuments, type Document } from 'yaml'

const maxFileBytes = 262_144
const maxDepth = 40

/** Takes files, and folders that are searched recursively for .yml and .yaml; duplicates are read once. */
export const readFormatFiles = (
  paths: readonly string[],
): { readonly documents: readonly FormatDocument[]; readonly problems: readonly FileProblem[] } => {
  const documents: FormatDocument[] = []
  const problems: FileProblem[] = []
  const seen = new Set<string>()
  for (const path of paths)
    try {
      for (const file of filesBelow(path)) {
        const real = realpathSync(file)
        if (!seen.has(real)) readFile(file, documents, problems)
        seen.add(real)
      }
    } catch (error) {
      problems.push({ file: path, message: `cannot be read: ${error instanceof Error ? error.message : 'unreadable'}` })
    }
  return { documents, problems }
}

const filesBelow = (path: string): readonly string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.ya?ml$/i.test(name))
        .toSorted()
        .map((name) => join(path, name))
    : [path]

const readFile = (file: string, documents: FormatDocument[], problems: FileProblem[]): void => {
  const text = readFileSync(file, 'utf8')
  // The parser recurses per level; brackets and indentation give an upper bound of the depth.
  const deepest = Math.max(
    ...text.split('\n').map((line) => (/^[\s?:-]*/.exec(line)?.[0].length ?? 0) + line.split(/[[{]/).length),
  )
  if (text.length > maxFileBytes || deepest > maxDepth) {
    problems.push({
      file,
      message: text.length > maxFileBytes ? `is larger than ${maxFileBytes} bytes` : 'is nested too deep',
    })
    return
  }
  const lines = new LineCounter()
  for (const document of [
    ...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' }),
  ] as Document[]) {
    const lineAt = (offset: number): number => lines.linePos(offset).line
    for (const error of document.errors.slice(0, 3))
      problems.push({ file, line: lineAt(error.pos[0]), message: error.message.split('\n')[0] ?? 'is no YAML' })
    if (document.errors.length > 0 || document.contents === null) continue
    documents.push({
      file,
      value: document.toJS({ maxAliasCount: 0 }) as unknown,
      lineOf: (path) => {
        for (let length = path.length; length >= 0; length--) {
          const node: unknown = document.getIn(path.slice(0, length), true)
          if (isNode(node) && node.range) return lineAt(node.range[0])
        }
        return 1
      },
    })
  }
}

// Inserts a deliberate mistake into the source. Matches tokens, so files, line breaks and indentation do not matter.
import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Mistake } from './mistakes.js'

type Source = { readonly file: string; readonly text: string }
type Target = { readonly file: string; readonly start: number; readonly end: number }

const root = resolve(import.meta.dirname, '../..')

export const readSources = (): readonly Source[] =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ file: join('src', name), text: readFileSync(join(root, 'src', name), 'utf8') }))

const tokensOf = (text: string): readonly string[] => text.match(/[\w$]+|[^\s\w$]/g) ?? []

const isWord = (token: string | undefined): boolean => /^[\w$]/.test(token ?? '')

/** Allows any white space between tokens, and a trailing comma before a closing bracket. */
const patternOf = (tokens: readonly string[]): RegExp => {
  const parts = tokens.map((token, nth) => {
    const before = tokens[nth - 1]
    const gap = nth === 0 ? '' : isWord(before) && isWord(token) ? '\\s+' : '\\s*'
    const comma = nth > 0 && before !== ',' && /[)\]}]/.test(token) ? '(?:,\\s*)?' : ''
    return `${gap}${comma}${token.replace(/[^\w]/, '\\$&')}`
  })
  return new RegExp(`${isWord(tokens[0]) ? '(?<![\\w$])' : ''}${parts.join('')}${isWord(tokens.at(-1)) ? '(?![\\w$])' : ''}`, 'g') // prettier-ignore
}

const placesOf = (sources: readonly Source[], tokens: readonly string[]): readonly Target[] => {
  const pattern = patternOf(tokens)
  return sources.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map((match) => ({ file, start: match.index, end: match.index + match[0].length })),
  )
}

export const findTarget = (sources: readonly Source[], find: string): Target => {
  const tokens = tokensOf(find)
  const [target, ...others] = placesOf(sources, tokens)
  if (target && others.length === 0) return target
  const lineOf = ({ file, start }: Target): string => {
    const text = sources.find((source) => source.file === file)?.text ?? ''
    return `${file}:${text.slice(0, start).split('\n').length}`
  }
  if (target) throw new Error(`stands in more than one place: ${[target, ...others].map(lineOf).join(', ')}: ${find}`)
  for (let length = tokens.length - 1; length > tokens.length / 2; length--) {
    const places = placesOf(sources, tokens.slice(0, length))
    if (places.length > 0)
      throw new Error(`is in no file: ${find}\n  differs at ${tokens[length]}: ${places.map(lineOf).join(', ')}`)
  }
  throw new Error(`is in no file: ${find}`)
}

/** Returns the new content of each changed file. */
export const makeMistake = (sources: readonly Source[], { edits }: Mistake): Readonly<Record<string, string>> => {
  const changes = edits
    .map(({ find, replace }) => ({ ...findTarget(sources, find), replace }))
    // From the end to the start, so that earlier positions stay valid.
    .toSorted((one, other) => other.start - one.start)
  const changed: Record<string, string> = {}
  for (const { file, start, end, replace } of changes) {
    const text = changed[file] ?? sources.find((source) => source.file === file)?.text ?? ''
    changed[file] = text.slice(0, start) + replace + text.slice(end)
  }
  return changed
}

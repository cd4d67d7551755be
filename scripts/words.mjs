// Counts the words of the documentation per page, without code blocks and generated tables.
import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(import.meta.dirname, '..')

/** Written by `npm run generate`. */
const generated = new Set(['docs/configuration.md'])

const withoutGenerated = (text) => text.replace(/<!-- (\w+): [^\n]*-->\n[^]*?<!-- end of \1 -->/g, '')
const withoutCode = (text) => text.replace(/^ *(```|~~~)[^]*?^ *\1/gm, '')
const withoutTargets = (text) => text.replace(/\]\([^)]*\)/g, ']').replace(/<!--[^]*?-->/g, '')

/** Words have a letter or a digit; link targets do not count. */
export const wordsOf = (text) =>
  withoutTargets(withoutCode(withoutGenerated(text)))
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** Page in docs → number of words. */
export const wordsPerPage = () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .filter((page) => !generated.has(page))
  return Object.fromEntries(pages.toSorted().map((page) => [page, wordsOf(readFileSync(join(root, page), 'utf8'))]))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const counted = wordsPerPage()
  const total = Object.values(counted).reduce((sum, words) => sum + words, 0)
  const beside = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map((page) => [
    page,
    wordsOf(readFileSync(join(root, page), 'utf8')),
  ])
  const lines = [...Object.entries(counted), ['docs in all', total], ...beside].map(
    ([page, words]) => `${String(words).padStart(6)} ${page}`,
  )
  process.stdout.write(`${lines.join('\n')}\n`)
}

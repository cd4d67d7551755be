// Checks every internal link and anchor of every Markdown file of the repository.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const isOurs = (path: string): boolean => !/(?:^|\/)(?:node_modules|dist|release|coverage|\.git)\//.test(path)
const pages = readdirSync(root, { withFileTypes: true })
  .filter(({ name }) => !['node_modules', 'dist', 'release', 'coverage', '.git'].includes(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' }).map((name) => join(entry.name, name))
      : [entry.name],
  )
  .filter((path) => path.endsWith('.md') && isOurs(path))
  .toSorted()

const withoutCode = (text: string): string => text.replace(/^ *(```|~~~)[^]*?^ *\1/gm, '')

/** As GitHub makes them: small letters, no punctuation, hyphens for spaces, and a number behind a repeated one. */
const anchorsOf = (text: string): Set<string> => {
  const anchors = new Set<string>()
  const seen = new Map<string, number>()
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6} +(.+)$/gm)) {
    const anchor = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    const repeats = seen.get(anchor) ?? 0
    seen.set(anchor, repeats + 1)
    anchors.add(repeats === 0 ? anchor : `${anchor}-${repeats}`)
  }
  for (const [, id = ''] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
  return anchors
}

const linksIn = (text: string): string[] =>
  [
    ...withoutCode(text)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/(?:\]\(|<img [^>]*src="|^\[[^\]]+\]: )<?([^)\s">]+)/gm),
  ].map(([, link = '']) => link)

/** The links of a page that lead nowhere. `read` is undefined where there is no file. */
const deadLinks = (page: string, text: string, read: (path: string) => string | undefined): string[] =>
  linksIn(text).filter((link) => {
    if (/^(?:https?|mailto):/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : normalize(join(dirname(page), path))
    const found = target === page ? text : read(target)
    return found === undefined || (anchor !== undefined && !anchorsOf(found).has(anchor))
  })

const readHere = (path: string): string | undefined => {
  const full = join(root, path)
  if (!existsSync(full)) return undefined
  return path.endsWith('.md') ? readFileSync(full, 'utf8') : ''
}

describe('links', () => {
  it('are looked for in every folder', () => {
    expect(pages).toEqual(
      expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/kafka.md', 'src/kafka/patched-kafkajs/README.md']),
    )
  })

  it('are dead without their file or heading, also in a page that links to itself', () => {
    const text = '# A page\n[a](#a-page) [b](#b) [c](c.md) [d](d.md#d) ![e](e.png)\n```\n[f](f.md)\n```\n`[g](g.md)`\n'
    const there = new Map([['docs/d.md', '# E\n']])
    expect(deadLinks('docs/a.md', text, (path) => there.get(path))).toEqual(['#b', 'c.md', 'd.md#d', 'e.png'])
  })

  it.each(pages)('of %s lead somewhere', (page) => {
    expect(deadLinks(page, readHere(page) ?? '', readHere)).toEqual([])
  })
})

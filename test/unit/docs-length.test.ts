// Holds the length of the documentation and of the page for contributors.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { wordsOf, wordsPerPage } from '../../scripts/words.mjs'

const root = resolve(import.meta.dirname, '../..')

describe('the documentation', () => {
  it('is counted without code, generated tables and the targets of links', () => {
    const text = `# A title
Three [linked words](page.md) | – | here.
\`\`\`sh
not counted
\`\`\`
<!-- rules: written by a script -->
| not | counted |
<!-- end of rules -->
`
    expect(wordsOf(text)).toBe(6)
  })

  it('has at most 25,000 words, so that it can be read in an evening (scripts/words.mjs prints them per page)', () => {
    const counted = wordsPerPage()
    expect(counted['docs/kafka.md']).toBeGreaterThan(1000)
    expect(Object.values(counted).reduce((sum, words) => sum + words, 0)).toBeLessThanOrEqual(25_000)
  })
})

describe('CONTRIBUTING.md', () => {
  const lines = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').trimEnd().split('\n')

  it('fits on two screens, with lines of at most 160 characters', () => {
    expect(lines.length).toBeGreaterThan(50)
    expect(lines.length).toBeLessThanOrEqual(120)
    expect(lines.filter((line) => line.length > 160)).toEqual([])
  })
})

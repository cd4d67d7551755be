// Checks the documentation against the program: generated reference, links, tests, reasons, settings and paths.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configurationReference } from '../../scripts/configuration.mjs'
import { environmentName } from '../../src/config/environment-name.js'
import { settingsOf } from '../../src/config/environment.js'
import { configSchema } from '../../src/config/schema.js'
import { reasons } from '../../src/domain/reason.js'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const pages = [...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`), 'SECURITY.md']
const settings = settingsOf(configSchema).map(({ path }) => path)

describe('docs/configuration.md', () => {
  it('is up to date (after a change: npm run generate)', () => {
    expect(read('docs/configuration.md')).toBe(configurationReference())
  })

  it('has every setting', () => {
    const text = read('docs/configuration.md')
    for (const path of settings) expect(text).toContain(`\`${path.join('.')}\``)
  })
})

describe('docs/operations.md', () => {
  it('explains every reason once', () => {
    const explained = [...read('docs/operations.md').matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1])
    expect(explained).toEqual([...reasons])
  })
})

describe('CONTRIBUTING.md', () => {
  it('names only files and folders that exist', () => {
    const named = [...read('CONTRIBUTING.md').matchAll(/`((?:src|test|docs|scripts|formats|schemas)\/[\w/.-]*)`/g)].map(
      (match) => match[1]!,
    )
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('names only files that exist where it leaves their folder out', () => {
    const files = ['src', 'test'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }),
    )
    const named = [...read('CONTRIBUTING.md').matchAll(/`([\w-]+(?:\/[\w-]+)*\.ts)`/g)].map((match) => match[1]!)
    expect(named.length).toBeGreaterThan(30)
    const isThere = (name: string): boolean => files.some((file) => file === name || file.endsWith(`/${name}`))
    expect(named.filter((name) => !isThere(name) && !existsSync(join(root, name)))).toEqual([])
  })
})

describe.each(pages)('%s', (page) => {
  const text = read(page)
  it('has no dead links', () => {
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!)
    const dead = links.filter((link) => !/^https?:/.test(link) && !existsSync(join(root, dirname(page), link)))
    expect(dead).toEqual([])
  })

  it('names only existing tests, settings and variables', () => {
    const tests = [...text.matchAll(/`(test\/[\w/.-]+\.test\.ts)`/g)].map((match) => match[1]!)
    expect(tests.filter((file) => !existsSync(join(root, file)))).toEqual([])
    const variables = new Set([
      'THREATWEAVE_CONFIG',
      ...settings.flatMap((path) => [environmentName(path), `${environmentName(path)}_FILE`]),
    ])
    const named = [...text.matchAll(/\bTHREATWEAVE_[A-Z_]*[A-Z]\b/g)].map((match) => match[0])
    expect(named.filter((name) => !variables.has(name))).toEqual([])
  })
})

describe('docs/threat-model.md', () => {
  it('names a test for every threat', () => {
    const rows = read('docs/threat-model.md')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| threat') && !line.startsWith('| ---'))
    expect(rows.length).toBeGreaterThan(25)
    expect(rows.filter((row) => !/`test\/[^`]+`[^|]*\|$/.test(row))).toEqual([])
  })
})

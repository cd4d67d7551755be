// Checks the documentation against the program: generated reference, tests, reasons, settings and paths.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { chooseMatches } from '../../src/alerts/choose-matches.js'
import { loadRules } from '../../src/alerts/load-rules.js'
import { whyNoAlert } from '../../src/alerts/why-no-alert.js'
import { describeFormats } from '../../src/app/describe-formats.js'
import { withFormatsTable } from '../../scripts/formats.mjs'
import { openJudge, withRulesTable } from '../../scripts/rules-table.mjs'
import { configurationReference } from '../../scripts/configuration.mjs'
import { isObject } from '../../src/base/json-object.js'
import { environmentName } from '../../src/config/environment-name.js'
import { settingsOf } from '../../src/config/environment.js'
import { allSettings } from '../../src/app/load-config.js'
import { reasons } from '../../src/domain/reason.js'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const markdownIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
const pages = [
  ...['docs', 'examples', 'helm'].flatMap(markdownIn),
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
]
const settings = settingsOf(allSettings.schema).map(({ path }) => path)

/** Every setting and every section of settings; those below a section without fixed names are anybody's. */
const known = new Set<string>()
const addKnown = (schema: TSchema, path: string): void => {
  known.add(path)
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, TSchema>
    items?: TSchema
    anyOf?: TSchema[]
  }
  for (const [name, inner] of Object.entries(properties)) addKnown(inner, path === '' ? name : `${path}.${name}`)
  for (const inner of [...(items ? [items] : []), ...anyOf]) addKnown(inner, path)
}
addKnown(allSettings.schema, '')
const sections = new Set(Object.keys(allSettings.schema.properties))
/** Files and fields of events whose first word is that of a section. */
const notSettings = new Set(['admit.ts', 'alerts.yaml', 'log.source.address'])

/** Of a YAML example that is a configuration, the paths of its settings. */
const pathsInYaml = (text: string): string[] => {
  const [value, ...others] = parseAllDocuments(text).map((document) => document.toJS() as unknown)
  if (others.length > 0 || !isObject(value) || !Object.keys(value).every((name) => sections.has(name))) return []
  const pathsOf = (inner: unknown, path: string): string[] => {
    if (Array.isArray(inner)) return inner.flatMap((one) => pathsOf(one, path))
    if (!isObject(inner)) return [path]
    return Object.entries(inner).flatMap(([name, one]) => pathsOf(one, path === '' ? name : `${path}.${name}`))
  }
  return pathsOf(value, '')
}

describe('docs/configuration.md', () => {
  it('is up to date (after a change: npm run generate)', () => {
    expect(read('docs/configuration.md')).toBe(configurationReference())
  })

  it('has every setting', () => {
    const text = read('docs/configuration.md')
    for (const path of settings) expect(text).toContain(`\`${path.join('.')}\``)
  })
})

describe('docs/formats.md', () => {
  it('has the table of formats up to date (after a change: npm run build && npm run generate)', () => {
    const text = read('docs/formats.md')
    expect(withFormatsTable(text, describeFormats([]))).toBe(text)
    expect(text).toContain('| `cisco-asa` |')
  })
})

describe('docs/alerts.md', () => {
  it('has the table of what the bundled rules raise up to date (after a change: npm run build && npm run generate)', async () => {
    const text = read('docs/alerts.md')
    const judge = await openJudge({ loadRules, chooseMatches, whyNoAlert })
    expect(withRulesTable(text, judge)).toBe(text)
    expect(text).toContain('**high** login_from_malicious')
  })

  it('has no kind of event that the bundled rules leave to a filter, or that none of them covers', () => {
    expect(read('docs/alerts.md')).not.toMatch(/\| – (?:rule_filtered|no_rule) \|/)
  })
})

describe('docs/operations.md', () => {
  it('explains every reason once', () => {
    const explained = [...read('docs/operations.md').matchAll(/^\| `((?!threatweave_)[a-z_]+)` \|/gm)].map(
      (match) => match[1],
    )
    expect(explained).toEqual([...reasons])
  })
})

describe('docs/comparison.md', () => {
  const sections = read('docs/comparison.md').split(/^## /m)

  it('has a source for every claim about another program', () => {
    const claims = sections
      .filter((section) => section.includes('| | | source |'))
      .flatMap((section) => section.match(/^\| [A-Z].*\|$/gm) ?? [])
    expect(claims.length).toBeGreaterThan(30)
    expect(claims.filter((claim) => !claim.includes('](') && !claim.includes('does not apply'))).toEqual([])
  })

  it('has a section for every row of the table in the README', () => {
    const rows = [...read('README.md').matchAll(/^\| ([a-zA-Z][^|]+) \|/gm)].map((match) => match[1]!)
    const titles = sections.map((section) => section.split('\n')[0]!.toLowerCase())
    const wordOf = (row: string): string => row.toLowerCase().split(/[;, ]/)[0]!
    expect(rows.length).toBeGreaterThan(8)
    expect(rows.filter((row) => !titles.some((title) => title.includes(wordOf(row))))).toEqual([])
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
  it('names only settings that exist, in sentences and in examples', () => {
    const dotted = [...text.matchAll(/`([a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+)(?:[:=][^`]*)?`/g)].map(
      (match) => match[1]!,
    )
    const named = dotted.filter((name) => sections.has(name.split('.')[0]!) && !notSettings.has(name))
    const examples = [...text.matchAll(/^ *```yaml\n([\s\S]*?)^ *```/gm)].flatMap((match) => pathsInYaml(match[1]!))
    // Below it are names of topics.
    const isSetting = (name: string): boolean => known.has(name) || name.startsWith('kafka.input.format.')
    expect([...named, ...examples].filter((name) => !isSetting(name))).toEqual([])
  })

  it('names only existing tests and variables', () => {
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
      .filter((line, nth, all) => line.startsWith('| ') && !`${line}${all[nth + 1] ?? ''}`.includes('| ---'))
    expect(rows.length).toBeGreaterThan(70)
    expect(rows.filter((row) => !/`test\/[^`]+`[^|]*\|$/.test(row))).toEqual([])
  })

  it('has a row for every topic of the settings that is read', () => {
    const text = read('docs/threat-model.md')
    const topics = [
      'input.topics',
      'output.topic',
      'deadLetterTopic',
      'sightingsTopic',
      'verdictsTopic',
      'gatewaysTopic',
    ]
    expect(topics.filter((name) => !text.includes(`| \`kafka.${name}\``))).toEqual([])
  })
})

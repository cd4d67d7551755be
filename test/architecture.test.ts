// Checks the imports of src/: allowed folders, libraries, circles, first lines.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = resolve(import.meta.dirname, '../src')

/** folder → the folders it may import from. `app` and the entry files know everyone. */
const mayKnow: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  http: [],
  terminal: ['domain'],
  input: ['domain', 'terminal'],
  telemetry: ['domain'],
  config: ['domain'],
  pipeline: ['domain'],
  lookup: ['domain', 'telemetry'],
  provider: ['domain', 'telemetry'],
  feeds: ['domain', 'telemetry'],
  alerts: ['domain', 'telemetry'],
  server: ['domain', 'feeds', 'http', 'lookup', 'provider', 'telemetry'],
  kafka: ['domain', 'pipeline', 'telemetry'],
  delivery: ['domain', 'kafka', 'pipeline', 'telemetry'],
  'follow-up': ['delivery', 'domain', 'kafka', 'pipeline', 'telemetry'],
  replay: ['delivery', 'domain', 'kafka', 'pipeline', 'telemetry'],
  ops: ['domain', 'http', 'telemetry'],
  demo: ['kafka', 'telemetry'],
  app: [
    'alerts',
    'config',
    'delivery',
    'domain',
    'feeds',
    'follow-up',
    'input',
    'kafka',
    'lookup',
    'ops',
    'pipeline',
    'provider',
    'replay',
    'server',
    'telemetry',
    'terminal',
  ],
  commands: [
    'alerts',
    'app',
    'config',
    'delivery',
    'demo',
    'domain',
    'feeds',
    'follow-up',
    'input',
    'kafka',
    'lookup',
    'ops',
    'pipeline',
    'provider',
    'replay',
    'server',
    'telemetry',
    'terminal',
  ],
}

/** library → the files or folders that may import it. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  kafkajs: ['kafka/'],
  fzstd: ['kafka/wire/zstd.ts'],
  undici: ['provider/'],
  'lru-cache': ['lookup/memory/'],
  'p-limit': ['lookup/admission/call-sender.ts'],
  pino: ['telemetry/logger.ts'],
  'prom-client': ['telemetry/define-metrics.ts'],
  tldts: ['domain/public-suffix.ts'],
  yaml: ['config/', 'alerts/', 'commands/check.ts'],
  ajv: ['config/validate.ts'],
  '@sinclair/typebox': ['config/'],
  fastify: ['server/', 'ops/', 'http/'],
  re2js: ['alerts/sigma/regex.ts', 'feeds/list-file.ts'],
  maxmind: ['server/local/places.ts'],
}

type Import = { file: string; specifier: string }

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const imports: Import[] = files.flatMap((file) =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*)'([^']+)'/g)].map(
    (match) => ({
      file,
      specifier: match[1]!,
    }),
  ),
)
const folder = (path: string): string => (path.includes('/') ? path.split('/')[0]! : path.replace(/\.[jt]s$/, ''))
const target = ({ file, specifier }: Import): string => relative(src, resolve(src, dirname(file), specifier))

describe('architecture', () => {
  it('has a row for every folder', () => {
    const folders = new Set(files.filter((file) => file.includes('/')).map(folder))
    expect([...folders].filter((name) => !(name in mayKnow))).toEqual([])
  })

  it('allows a folder to import only the folders of its row', () => {
    const wrong = imports
      .filter(({ file, specifier }) => specifier.startsWith('.') && file.includes('/'))
      .filter((entry) => folder(entry.file) !== folder(target(entry)))
      .filter((entry) => !mayKnow[folder(entry.file)]!.includes(folder(target(entry))))
      .map(({ file, specifier }) => `${file} imports ${specifier}`)
    expect(wrong).toEqual([])
  })

  it('has no circle of imports, not even of types', () => {
    const knows = new Map<string, string[]>()
    for (const entry of imports.filter(({ specifier }) => specifier.startsWith('.')))
      knows.set(entry.file, [...(knows.get(entry.file) ?? []), target(entry).replace(/\.js$/, '.ts')])
    const reachable = (from: string): Set<string> => {
      const reached = new Set<string>()
      const open = [from]
      for (let file = open.pop(); file !== undefined; file = open.pop())
        for (const next of knows.get(file) ?? [])
          if (!reached.has(next)) {
            reached.add(next)
            open.push(next)
          }
      return reached
    }
    expect(knows.size).toBeGreaterThan(100)
    const circular = [...knows.keys()].filter((file) => reachable(file).has(file))
    expect(circular).toEqual([])
  })

  it('keeps each library in its one place', () => {
    const wrong = imports
      .filter(({ specifier }) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
      .filter(({ file, specifier }) => {
        const name = specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/')
        return !(libraries[name] ?? []).some((place) => file.startsWith(place))
      })
      .map(({ file, specifier }) => `${file} imports ${specifier}`)
    expect(wrong).toEqual([])
  })

  it('starts every file with one sentence that says what it is for', () => {
    const silent = files.filter(
      (file) => !/^(#!.*\n)?\/\/ \S.*[.:;]?$/m.test(readFileSync(join(src, file), 'utf8').slice(0, 300)),
    )
    expect(silent).toEqual([])
  })
})

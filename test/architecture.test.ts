// Checks the imports of src/: allowed folders, libraries, circles, exports without a user, first lines.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = resolve(import.meta.dirname, '../src')

const everyoneBut = (...folders: readonly string[]): readonly string[] =>
  readdirSync(src).filter((name) => !name.endsWith('.ts') && !folders.includes(name))

/** folder → the folders it may import from. `app` and the entry files know everyone. */
const mayKnow: Readonly<Record<string, readonly string[]>> = {
  base: [],
  domain: ['base'],
  http: ['base'],
  terminal: ['base', 'domain'],
  input: ['base', 'domain', 'terminal'],
  telemetry: ['base', 'domain'],
  config: ['base', 'domain'],
  pipeline: ['base', 'domain'],
  lookup: ['base', 'domain', 'telemetry'],
  bulk: ['base', 'domain', 'election', 'lookup', 'telemetry'],
  provider: ['base', 'bulk', 'domain', 'telemetry'],
  feeds: ['base', 'domain', 'telemetry'],
  geo: ['base', 'domain', 'feeds', 'telemetry'],
  alerts: ['base', 'domain', 'telemetry'],
  verdicts: ['base', 'domain', 'kafka', 'telemetry'],
  election: ['base', 'domain', 'kafka', 'lookup', 'telemetry'],
  server: ['base', 'bulk', 'domain', 'election', 'feeds', 'geo', 'http', 'lookup', 'provider', 'telemetry'],
  login: ['base', 'domain', 'kafka', 'provider', 'telemetry'],
  kafka: ['base', 'domain', 'pipeline', 'telemetry'],
  delivery: ['base', 'domain', 'kafka', 'pipeline', 'telemetry'],
  'follow-up': ['alerts', 'base', 'delivery', 'domain', 'kafka', 'pipeline', 'telemetry'],
  replay: ['base', 'delivery', 'domain', 'kafka', 'pipeline', 'telemetry'],
  ops: ['base', 'domain', 'http', 'telemetry'],
  parts: everyoneBut('parts', 'commands'),
  app: everyoneBut('app', 'commands', 'http'),
  commands: everyoneBut('commands', 'http'),
}

/** library → the files or folders that may import it. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  kafkajs: ['kafka/'],
  fzstd: ['kafka/wire/zstd.ts'],
  undici: ['provider/'],
  'lru-cache': ['lookup/memory/'],
  'p-limit': ['lookup/admission/call-sender.ts', 'delivery/opening.ts'],
  pino: ['telemetry/logger.ts'],
  'prom-client': ['telemetry/define-metrics.ts'],
  tldts: ['domain/public-suffix.ts'],
  yaml: ['config/', 'alerts/', 'commands/check.ts'],
  ajv: ['config/validate.ts'],
  '@sinclair/typebox': ['config/', 'parts/'],
  fastify: ['server/', 'ops/', 'http/'],
  re2js: ['alerts/sigma/regex.ts', 'feeds/list-file.ts'],
  maxmind: ['geo/places.ts'],
}

/** What the outside uses: the program, the library. */
const entries = ['cli.ts', 'index.ts', 'enricher.ts']

/** Exported for their unit tests alone, which could not see them otherwise: codecs, records of our topics, states without a broker. */
const forTestsAlone = new Set([
  'app/run-alone.ts Runtime',
  'app/runner.ts RunnerOptions',
  'app/runner.ts Ended',
  'app/runner.ts Runner',
  'commands/replay/replay-alone.ts Replayed',
  'delivery/set-positions.ts Positions',
  'delivery/tasks.ts Tasks',
  'delivery/task-states.ts TaskEvent',
  'delivery/task-states.ts TaskState',
  'follow-up/count-record.ts countValue',
  'follow-up/count-record.ts offsetValue',
  'follow-up/count-record.ts accusedValue',
  'follow-up/day-table.ts maxPeers',
  'follow-up/pending.ts PendingNotes',
  'follow-up/retro.ts RetroAlerts',
  'follow-up/retro.ts RetroOptions',
  'follow-up/retro.ts maxRetroAlerts',
  'follow-up/retro.ts newlyMalicious',
  'kafka/broker-watch.ts watchBrokers',
  'kafka/failure.ts KafkaFailure',
  'kafka/patched-kafkajs/decode-messages.ts FetchDecoder',
  'kafka/patched-kafkajs/send-messages.ts ProducerParts',
  'kafka/patched-kafkajs/send-messages.ts Sending',
  'kafka/starting-offsets.ts startingOffsets',
  'kafka/topic-identity.ts topicIdentity',
  'kafka/topic-reader.ts Fetch',
  'kafka/wire/codecs.ts maxUnpackedBytes',
  'kafka/wire/encode-batch.ts BatchHead',
  'kafka/wire/stable-offsets.ts encodeStableOffsets',
  'kafka/wire/stable-offsets.ts decodeStableOffsets',
  'kafka/wire/topic-ids.ts encodeTopicIds',
  'kafka/wire/topic-ids.ts decodeTopicIds',
])

/** Files below the top level of a folder that are a front all the same. */
const isFrontBelow = new Set([
  'alerts/sigma/rule.js',
  'kafka/wire/record.js',
  'pipeline/batch/cut-batch.js',
  'pipeline/batch/open-by-topic.js',
  'pipeline/batch/open-record.js',
])

type Import = {
  file: string
  specifier: string
  /** By `import()`, when it is needed. */
  isLater: boolean
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const imports: Import[] = files.flatMap((file) =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*)'([^'\s]+)'/g)].map(
    (match) => ({
      file,
      specifier: match[1]!,
      isLater: match[0].includes('('),
    }),
  ),
)
const folder = (path: string): string => (path.includes('/') ? path.split('/')[0]! : path.replace(/\.[jt]s$/, ''))
const target = ({ file, specifier }: Pick<Import, 'file' | 'specifier'>): string =>
  relative(src, resolve(src, dirname(file), specifier))

/** The names of `a, type B, c as d`, as they are called where they come from. */
const namesIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((each) => /^\s*(?:type\s+)?([\w$]+)/.exec(each)?.[1])
    .filter((name) => name !== undefined)

const exportsIn = (text: string): readonly string[] => [
  ...[...text.matchAll(/^export (?:async )?(?:const|let|function\*?|class|type|interface) ([\w$]+)/gm)].map(
    (match) => match[1]!,
  ),
  ...[...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap((match) => namesIn(match[1]!)),
]

describe('architecture', () => {
  it('has a row for every folder', () => {
    const folders = new Set(files.filter((file) => file.includes('/')).map(folder))
    expect([...folders].filter((name) => !(name in mayKnow))).toEqual([])
  })

  it("takes Node's http from one place, because an import of it loads all of fetch", () => {
    const importing = files.filter((file) =>
      /^import (?!type )[^']*'node:http'$/m.test(readFileSync(join(src, file), 'utf8')),
    )
    expect(importing).toEqual([])
  })

  it('allows a folder to import only the folders of its row', () => {
    const wrong = imports
      .filter(({ file, specifier }) => specifier.startsWith('.') && file.includes('/'))
      .filter((entry) => folder(entry.file) !== folder(target(entry)))
      .filter((entry) => !mayKnow[folder(entry.file)]!.includes(folder(target(entry))))
      .map(({ file, specifier }) => `${file} imports ${specifier}`)
    expect(wrong).toEqual([])
  })

  const partOf = (path: string): string | undefined => /^parts\/([^/]+)/.exec(path)?.[1]
  const between = imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map((entry) => ({ ...entry, part: partOf(entry.file), to: target(entry) }))

  it('lets no file of the core but app/parts.ts import a part', () => {
    const wrong = between
      .filter(({ file, part, to }) => part === undefined && partOf(to) !== undefined && file !== 'app/parts.ts')
      .map(({ file, specifier }) => `${file} imports ${specifier}`)
    expect(wrong).toEqual([])
    const listed = between.filter(({ file }) => file === 'app/parts.ts').map(({ to }) => to)
    expect(listed.filter((to) => !/^(?:app\/part|parts\/[^/]+\/part)\.js$/.test(to))).toEqual([])
    const folders = files.flatMap((file) => partOf(file) ?? [])
    expect(folders.filter((name) => !listed.includes(`parts/${name}/part.js`))).toEqual([])
  })

  it('lets a part import only itself and fronts of the core: the files at the top level of a folder', () => {
    const isFront = (to: string): boolean => /^[^/]+\/[^/]+$/.test(to) && to !== 'app/parts.js'
    const wrong = between
      .filter(({ part, to }) => part !== undefined && partOf(to) !== part)
      .filter(({ to }) => !isFront(to) && !isFrontBelow.has(to))
      .map(({ file, specifier }) => `${file} imports ${specifier}`)
    expect(wrong).toEqual([])
  })

  it('loads with a part.ts only its settings; the rest is loaded when it is used', () => {
    const wrong = between
      .filter(({ file, isLater }) => /^parts\/[^/]+\/part\.ts$/.test(file) && !isLater)
      .filter(({ part, to }) => !/^(?:app\/part|domain\/[^/]+)\.js$/.test(to) && to !== `parts/${part}/settings.js`)
      .map(({ file, specifier }) => `${file} imports ${specifier}`)
    expect(wrong).toEqual([])
  })

  it('has no circle of imports, not even of types', () => {
    const knows = new Map<string, string[]>()
    // A part is listed in app/parts.ts and loads the rest of itself when it is used, with the core below it.
    const isLoadedByPart = ({ file, isLater }: Import): boolean => isLater && /^parts\/[^/]+\/part\.ts$/.test(file)
    for (const entry of imports.filter((one) => one.specifier.startsWith('.') && !isLoadedByPart(one)))
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

  it('has no circle of folders below the composition, so that each can be known before those that use it', () => {
    const composing = new Set(['app', 'commands', 'parts', 'cli', 'index', 'enricher'])
    const knows = new Map<string, Set<string>>()
    for (const entry of imports.filter(({ specifier }) => specifier.startsWith('.'))) {
      const [from, to] = [folder(entry.file), folder(target(entry))]
      if (from !== to && !composing.has(from)) knows.set(from, (knows.get(from) ?? new Set()).add(to))
    }
    const reachable = (from: string): Set<string> => {
      const reached = new Set<string>()
      const open = [from]
      for (let name = open.pop(); name !== undefined; name = open.pop())
        for (const next of knows.get(name) ?? [])
          if (!reached.has(next)) {
            reached.add(next)
            open.push(next)
          }
      return reached
    }
    expect(knows.size).toBeGreaterThan(10)
    expect([...knows.keys()].filter((name) => reachable(name).has(name))).toEqual([])
  })

  it('exports only what another file of src uses; a test alone is not a user', () => {
    const used = new Set<string>()
    for (const file of files) {
      const text = readFileSync(join(src, file), 'utf8')
      const use = (specifier: string, names: readonly string[]): void => {
        const from = target({ file, specifier }).replace(/\.js$/, '.ts')
        for (const name of names) used.add(`${from} ${name}`)
      }
      for (const [, names, specifier] of text.matchAll(/\b(?:im|ex)port\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'([^']+)'/g))
        use(specifier!, namesIn(names!))
      // Loaded when needed: `(await import('./file.js')).name`.
      for (const [, specifier, name] of text.matchAll(/\(await import\('([^']+)'\)\)\.([\w$]+)/g))
        use(specifier!, [name!])
      for (const [, specifier, names] of text.matchAll(/\bimport\('([^']+)'\)\.then\(\(\{([^}]*)\}\)/g))
        use(specifier!, namesIn(names!))
    }
    const unused = files
      .filter((file) => !entries.includes(file))
      .flatMap((file) => exportsIn(readFileSync(join(src, file), 'utf8')).map((name) => `${file} ${name}`))
      .filter((each) => !used.has(each) && !forTestsAlone.has(each))
    expect(used.size).toBeGreaterThan(500)
    expect(unused).toEqual([])
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

  it('knows an input partition by its name only in the tasks and in kafka/: others have what belongs to one', () => {
    const named = files
      .filter((file) => /^(?:delivery|follow-up|replay)\//.test(file) && file !== 'delivery/tasks.ts')
      .filter((file) => {
        const text = readFileSync(join(src, file), 'utf8')
        return /[(,]\s*partition: string\b|\bnameOf\b[^;]*from '\.\.\/kafka\/fetched\.js'/.test(text)
      })
    expect(named).toEqual([])
  })

  it.each([
    ['begins a transaction', /\.transaction\(\)/, ['kafka/producers.ts']],
    ['sends the offsets of a transaction', /\.sendOffsets\(/, ['delivery/partition-transactions.ts']],
    [
      'commits a transaction',
      /\btransaction\.commit\(\)/,
      // And the election among gateways, which has no partition.
      ['delivery/partition-transactions.ts', 'election/join-election.ts'],
    ],
    [
      'claims a partition',
      /\bawait claimTransactions\(/,
      ['delivery/partition-transactions.ts', 'election/join-election.ts'],
    ],
    [
      'sets a position',
      /\.seek\(/,
      // At a claim; the consumer is told in one place.
      ['delivery/read-position.ts', 'kafka/consume.ts'],
    ],
  ])('%s in one place', (_, call, expected) => {
    const calls = files
      .filter((file) => !file.startsWith('parts/'))
      .flatMap((file) =>
        readFileSync(join(src, file), 'utf8')
          .split('\n')
          .filter((line) => call.test(line.replace('context.seek(', '')))
          .map(() => file),
      )
    expect(calls.toSorted()).toEqual(expected)
  })

  it('starts every file with one sentence that says what it is for', () => {
    const silent = files.filter(
      (file) => !/^(#!.*\n)?\/\/ \S.*[.:;]?$/m.test(readFileSync(join(src, file), 'utf8').slice(0, 300)),
    )
    expect(silent).toEqual([])
  })
})

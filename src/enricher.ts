// The public library: enriches one event at a time, or a stream of lines.
import { readFileSync } from 'node:fs'
import { Transform, type TransformCallback } from 'node:stream'
import { openApp, type App, type AppOptions } from './app/open-app.js'
import { openParts } from './base/scope.js'
import { loadAny } from './app/load-config.js'
import { accepted, attempt } from './config/load-config.js'
import { ConfigurationError, describeProblem, type Problem } from './config/problem.js'
import type { Config } from './config/schema.js'
import type { Annotation } from './domain/annotation.js'
import { feedProblems } from './feeds/status.js'
import { allOf, outputsOf, type EventOut } from './pipeline/pipeline.js'
import { createLineSplitter } from './input/split-lines.js'
import { ignoreTelemetry, type Emit } from './telemetry/event.js'

export type EnricherOptions = {
  /** Settings as in the YAML file, for example `{ feeds: [{ name: 'mine', path: 'feed.txt' }] }`. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** A YAML file, read before `settings`. */
  readonly configFile?: string
  /** The source of THREATWEAVE_… and proxy variables; not read by default. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** `complete` waits for every answer, `live` at most one deadline. */
  readonly mode?: 'live' | 'complete'
  /** Called with every log event. */
  readonly onTelemetry?: Emit
}

export type Enriched = {
  /** The event with its annotation and all other bytes unchanged. A batch that is split becomes one line per member. */
  readonly bytes: Buffer
  readonly annotation: Annotation
}

export type Enricher = {
  /** Enriches one event, JSON or text. Rejects after `close`. */
  readonly enrich: (event: Buffer | string, origin?: string) => Promise<Enriched>
  readonly close: () => Promise<void>
}

/** Rejects with every problem if the settings are wrong or a feed cannot be loaded. */
export const createEnricher = async (options: EnricherOptions = {}): Promise<Enricher> => {
  const app = await open(options, 'complete')
  let count = 0
  let isClosed = false
  return {
    enrich: async (event, origin = `event:${++count}`) => {
      if (isClosed) throw new Error('threatweave: the enricher is closed')
      if (typeof event !== 'string' && !Buffer.isBuffer(event))
        throw new TypeError(
          'threatweave: an event must be a string or a Buffer; pass an object as JSON.stringify(object)',
        )
      const [out] = await allOf(app.pipeline, [{ bytes: toBuffer(event), origin }])
      if (!out) throw new Error('the pipeline lost an event')
      return { bytes: out.parts ? linesOf([out]) : out.bytes(), annotation: out.annotation }
    },
    close: async () => {
      if (isClosed) return
      isClosed = true
      await app.close()
    },
  }
}

/** Log lines in, annotated lines out, in order and with backpressure. */
export const enrichTransform = (options: EnricherOptions = {}): Transform => {
  let app: App | undefined
  const splitter = createLineSplitter()
  let count = 0
  const enrichLines = (lines: readonly Buffer[], done: TransformCallback): void => {
    if (!app || lines.length === 0) {
      done()
      return
    }
    const chunk = lines.map((bytes) => ({ bytes, origin: `line:${++count}` }))
    Promise.resolve(allOf(app.pipeline, chunk)).then(
      (out) => done(null, linesOf(out)),
      (error: unknown) => done(error instanceof Error ? error : new Error('the pipeline failed')),
    )
  }
  return new Transform({
    construct: (done) => {
      open(options, 'live').then(
        (opened) => {
          app = opened
          done()
        },
        (error: unknown) => done(error instanceof Error ? error : new Error('the settings are wrong')),
      )
    },
    transform: (chunk: Buffer, _, done) => enrichLines(splitter.push(chunk), done),
    flush: (done) => enrichLines(splitter.end(), done),
    destroy: (error, done) => {
      if (app) app.close().then(() => done(error), done)
      else done(error)
    },
  })
}

const newline = Buffer.from('\n')

const linesOf = (events: readonly EventOut[]): Buffer =>
  Buffer.concat(outputsOf(events).flatMap((one) => [one.bytes(), newline]))

const toBuffer = (event: Buffer | string): Buffer => (typeof event === 'string' ? Buffer.from(event) : event)

const known = new Set(['settings', 'configFile', 'env', 'mode', 'onTelemetry'])

const refusal = (problems: readonly Problem[]): Error =>
  new Error(`threatweave: ${problems.map(describeProblem).join('; ')}`)

const open = async (options: EnricherOptions, mode: 'live' | 'complete'): Promise<App> => {
  const strange = Object.keys(options).find((name) => !known.has(name))
  if (strange !== undefined)
    throw new Error(`threatweave: ${JSON.stringify(strange)} is not an option; put settings into \`settings\``)
  const { configFile: name, env = {}, onTelemetry: emit = ignoreTelemetry } = options
  const readFile = (path: string): string => readFileSync(path, 'utf8')
  const loaded = loadAny({
    file: name === undefined ? undefined : { name, text: readFile(name) },
    values: options.settings,
    env,
    readFile,
  })
  const opened =
    'problems' in loaded
      ? loaded
      : await attempt(() => openWithFeeds(loaded.config, { mode: options.mode ?? mode, env, emit }))
  if ('problems' in opened) throw refusal(opened.problems)
  return opened
}

const openWithFeeds = (config: Config, options: AppOptions): Promise<App> =>
  openParts(async (scope) => {
    const app = scope.use(accepted<App>(await openApp(config, options)))
    const problems = feedProblems(app.feeds.status())
    if (problems.length > 0) throw new ConfigurationError(problems)
    return app
  })

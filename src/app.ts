// Composition root: the only file that builds concrete parts and wires them.
import { readFileSync } from 'node:fs'
import type { Problem } from './config/problem.js'
import type { Config } from './config/schema.js'
import { systemClock, type Clock } from './domain/clock.js'
import type { Decide, GateOptions } from './domain/decision.js'
import { judge } from './domain/judge.js'
import type { Lookup } from './domain/lookup.js'
import { openFeeds, type Feeds } from './intel/feeds/open-feeds.js'
import { loadGate } from './intel/load-gate.js'
import { feeds } from './lookup/feeds.js'
import { createDecide, gate } from './lookup/gate.js'
import { nobody } from './lookup/nobody.js'
import { stack } from './lookup/stack.js'
import { createAnnotate } from './pipeline/annotate.js'
import { decode } from './pipeline/decode.js'
import { directionOf } from './pipeline/direction.js'
import { createEnrich } from './pipeline/enrich.js'
import { createExtract, type Extract } from './pipeline/extract.js'
import { createPipeline, type Pipeline } from './pipeline/pipeline.js'
import { tellNobody, type Tell } from './telemetry/event.js'

/** The half that asks nobody: what an event shows and what may be asked about it. */
export type Reading = {
  readonly decode: (bytes: Buffer) => ReturnType<typeof decode>
  readonly extract: Extract
  readonly decide: Decide
  readonly gate: GateOptions
}

export type App = Reading & {
  readonly pipeline: Pipeline
  readonly lookup: Lookup
  readonly feeds: Feeds
  /** Calls sent to the lookup service; absent where none is configured. */
  readonly spent: () => { readonly calls: number } | undefined
  readonly close: () => Promise<void>
}

export type Surroundings = {
  readonly tell?: Tell
  readonly clock?: Clock
  /** `auto` of the settings is resolved by whoever knows where the events come from. */
  readonly mode: 'live' | 'complete'
  readonly urgency?: 'live' | 'replay'
  /** For the proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Asked once before the first call that costs something. */
  readonly approve?: () => Promise<boolean>
}

const readText = (path: string): string => readFileSync(path, 'utf8')

export const openReading = (config: Config): Reading | { readonly problems: readonly Problem[] } => {
  const loaded = loadGate(config.gate, config.intel.domain.ask, readText)
  if ('problems' in loaded) return loaded
  return {
    decode: (bytes) => decode(bytes, config.extract),
    extract: createExtract(config.extract),
    decide: createDecide(loaded.options),
    gate: loaded.options,
  }
}

export const openApp = async (
  config: Config,
  { tell = tellNobody, clock = systemClock, mode, urgency = 'live' }: Surroundings,
): Promise<App | { readonly problems: readonly Problem[] }> => {
  const reading = openReading(config)
  if ('problems' in reading) return reading
  const local = await openFeeds(config.feeds, { tell, clock, documentation: config.gate.documentation })
  const table = { ...config.intel.table, maxAgeDays: config.intel.domain.maxAgeDays }
  const lookup = stack(gate(reading.decide), feeds(local.match))(nobody)
  const enrich = createEnrich({
    lookup,
    decide: reading.decide,
    judge: (finding, sighting) => judge(finding, sighting, table, clock.now()),
    clock,
    mode,
    deadlineMs: config.enrich.deadlineMs,
    urgency,
  })
  const pipeline = createPipeline({
    ...reading,
    enrich,
    direction: (sightings) => directionOf(sightings, reading.gate.ownRanges),
    annotate: createAnnotate(config.output),
  })
  return { ...reading, pipeline, lookup, feeds: local, spent: () => undefined, close: () => local.close() }
}

// Builds the pipeline of `run` with a memory that has every indicator of the events.
import { load } from '../dist/config/load.js'
import { systemClock } from '../dist/base/clock.js'
import { judge, judgeCounting, worstLevel } from '../dist/domain/judge.js'
import { shippedTable } from '../dist/domain/judgement-table.js'
import { openFeeds } from '../dist/feeds/open-feeds.js'
import { feeds } from '../dist/lookup/feeds.js'
import { gate } from '../dist/lookup/gate.js'
import { joinSources } from '../dist/lookup/join-sources.js'
import { createMemory } from '../dist/lookup/memory/memory.js'
import { createLookup } from '../dist/lookup/stack.js'
import { indicators } from '../dist/lookup/question.js'
import { limits, lookupSettingsOf } from '../dist/app/limits.js'
import { openReader } from '../dist/app/open-app.js'
import { createAnnotate } from '../dist/pipeline/annotate/annotate.js'
import { createEnrich } from '../dist/pipeline/enrich/enrich.js'
import { createInFlight } from '../dist/pipeline/enrich/in-flight.js'
import { createPipeline } from '../dist/pipeline/pipeline.js'
import { createWaits } from '../dist/pipeline/enrich/wait.js'
import { findingOf, sourceFindingOf } from './verdicts.mjs'

const addressOf = (n) => `${45 + (n >> 14)}.${(n >> 7) & 127}.${n & 127}.77`

/** Varies the public addresses of the events until there are enough distinct indicators. */
const vary = (events, reading, wanted) => {
  const met = new Map()
  const varied = []
  const ask = (bytes) => {
    for (const sighting of reading.extract(reading.decode(bytes)).sightings) {
      const decision = reading.decide(sighting)
      if (decision.decision === 'lookup') met.set(`${decision.ask.type}:${decision.ask.value}`, decision.ask)
    }
  }
  for (let n = 0; met.size < wanted && varied.length < 200_000;)
    for (const bytes of events) {
      let text = bytes.toString('utf8')
      for (const sighting of reading.extract(reading.decode(bytes)).sightings)
        if (sighting.type === 'ip' && reading.decide(sighting).decision === 'lookup')
          text = text.replaceAll(sighting.value, addressOf(n++ % 65_536))
      const one = Buffer.from(text)
      ask(one)
      varied.push(one)
      if (met.size >= wanted) break
    }
  return { events: varied, indicators: [...met.values()] }
}

const settingsOf = (config) =>
  lookupSettingsOf(config, limits, { maxEntries: config.memory.maxEntries, forOutages: true })

/** A source with all its answers in memory. */
const openWarmSource = ({ id, ask }, varied, config, clock) => {
  const classify = (finding, about) => worstLevel(finding, about, shippedTable, clock.now())
  const memory = createMemory(settingsOf(config).memory, indicators.keyOf, classify)
  for (const indicator of varied.indicators) memory.set(indicator, sourceFindingOf(id, indicator))
  const source = () => ({ status: 'unknown', reason: 'unavailable' })
  const parts = { type: indicators, outer: [], source, clock, random: Math.random, emit: () => undefined }
  return { id, ask, takes: () => true, lookup: createLookup(settingsOf(config), parts, memory).lookup }
}

/** Varies `events`. `asked` counts the lookups that reached the source, which should be none; `sources` are additional sources. */
export const openWarmPipeline = async (events, wanted = 10_000, sources = []) => {
  const { config } = load({ env: {}, readFile: () => '' })
  const clock = systemClock
  const now = () => clock.now()
  const emit = () => undefined
  const reading = openReader(config)
  const varied = vary(events, reading, wanted)
  const local = await openFeeds(config.feeds, { emit, clock })
  const classify = (finding, about) => worstLevel(finding, about, shippedTable, now())
  const memory = createMemory(settingsOf(config).memory, indicators.keyOf, classify)
  for (const indicator of varied.indicators) memory.set(indicator, findingOf(indicator))
  let asked = 0
  const source = (indicator) => {
    asked++
    return Promise.resolve(findingOf(indicator))
  }
  const { lookup, admission } = createLookup(
    settingsOf(config),
    {
      type: indicators,
      outer: [
        gate(reading.decide),
        feeds(local.match),
        ...(sources.length > 0
          ? [
              joinSources(
                sources.map((one) => openWarmSource(one, varied, config, clock)),
                { classify, hasMain: true },
              ),
            ]
          : []),
      ],
      source,
      clock,
      random: Math.random,
      emit,
    },
    memory,
  )
  const inFlight = createInFlight(clock)
  const enrich = createEnrich({
    lookup,
    decide: reading.decide,
    judge: (finding, sighting, at) => (sources.length > 0 ? judgeCounting : judge)(finding, sighting, shippedTable, at),
    clock,
    inFlight,
  })
  const pipeline = createPipeline({
    ...reading,
    enrich,
    annotate: createAnnotate({ ...config.output, hasId: true, ownRanges: reading.gate.ownRanges }),
    clock,
    wait: createWaits({ ...config.enrich, clock, provider: admission.state, quietMs: inFlight.quietMs }).live,
  })
  return { ...varied, pipeline, asked: () => asked, close: () => local.close() }
}

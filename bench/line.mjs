// The line beside parsing the same events, adding the same annotation and serialising them again: without its lookups, then whole with a warm memory.
import { systemClock } from '../dist/domain/clock.js'
import { unknownOf } from '../dist/domain/finding.js'
import { judge } from '../dist/domain/judge.js'
import { shippedTable } from '../dist/domain/judgement-table.js'
import { createRangeSet } from '../dist/domain/range-set.js'
import { createDecide } from '../dist/lookup/gate.js'
import { createAnnotate } from '../dist/pipeline/annotate.js'
import { concludeInWriting } from '../dist/pipeline/conclude.js'
import { decode } from '../dist/pipeline/decode.js'
import { directionOf } from '../dist/pipeline/direction.js'
import { createEnrich } from '../dist/pipeline/enrich.js'
import { createExtract } from '../dist/pipeline/extract.js'
import { createPipeline } from '../dist/pipeline/pipeline.js'
import { measure, ratio } from './measure.mjs'
import { samples } from './samples.mjs'
import { findingOf } from './verdicts.mjs'
import { openWarmLine } from './warm.mjs'

const limits = { maxEventBytes: 1_048_576 }
const extract = createExtract({ fields: {}, maxIndicators: 64, maxDepth: 64 })
const decide = createDecide()
const annotate = createAnnotate({ key: 'threatweave', onExisting: 'replace', layers: [] })
const ownRanges = createRangeSet([])

// Lookups are measured below: here every indicator that may be asked about has its finding at hand, of every kind.
const findings = new Map()
const findingAtHand = ({ value }, { decision }) => {
  if (decision.decision !== 'lookup') return unknownOf(decision.reason)
  const known = findings.get(value)
  if (known) return known
  const finding = findingOf(decision.ask)
  findings.set(value, finding)
  return finding
}

const read = (bytes) => decode(bytes, limits, extract.scan)
const direction = (sightings) => directionOf(sightings, ownRanges)
const enrich = createEnrich({
  lookup: findingAtHand,
  decide,
  judge: (finding, sighting, at) => judge(finding, sighting, shippedTable, at),
  clock: systemClock,
  mode: 'live',
  deadlineMs: 0,
})
const origin = 'firewall/3/1042'
const concluded = ({ reading }, extraction, rows) =>
  concludeInWriting({ extraction, rows, direction: direction(extraction.sightings), origin, reading })
const placed = (event, { annotation, writing }) => annotate.place(event, annotation, writing)

/** The line as it always runs, a chunk of events at a time, but with every finding at hand. */
const line = createPipeline({
  decode: read,
  extract,
  enrich,
  direction,
  annotate,
})
const chunkSize = 100
const chunksOf = (inputs) =>
  Array.from({ length: Math.ceil(inputs.length / chunkSize) }, (_, n) =>
    inputs.slice(n * chunkSize, (n + 1) * chunkSize),
  )
const lengthOf = (outputs) => ({ length: outputs.reduce((sum, { length }) => sum + length, 0) })

const µs = (number) => `${number.toFixed(2).padStart(7)} µs`
const show = (name, number) => console.log(`  ${name.padEnd(60)}${µs(number)}`)
const mean = (list, number) => Math.round(list.reduce((sum, one) => sum + number(one), 0) / list.length)
const describe = (inputs, what) => {
  const added = mean(inputs, ({ text }) => text.length)
  const size = mean(inputs, ({ bytes }) => bytes.length)
  console.log(`  ${inputs.length} ${what}, ${size} bytes and an annotation of ${added} on average`)
}

/** Each input carries what the steps before would have made of it, so that every step can be measured alone. */
const prepare = (bytes) => {
  const event = read(bytes)
  const extraction = extract(event)
  const [rows] = enrich([extraction], false)
  const conclusion = concluded(event, extraction, rows)
  return {
    bytes,
    event,
    extraction,
    rows,
    conclusion,
    text: conclusion.writing.join(''),
    annotation: conclusion.annotation(),
  }
}

const steps = {
  'decode and extract': ({ bytes }) => extract(read(bytes)).sightings,
  'decide and judge': ({ extraction }) => enrich([extraction], false),
  conclude: ({ event, extraction, rows }) => concluded(event, extraction, rows).writing,
  annotate: ({ event, conclusion }) => placed(event, conclusion),
}
const through = (pipeline) => (chunk) =>
  lengthOf(
    pipeline(
      chunk.map(({ bytes }) => ({ bytes, origin })),
      false,
    ).map((one) => one.bytes()),
  )
const floor = {
  // The annotation is at hand, as an object: only attaching and serialising it is counted.
  reserialise: (chunk) =>
    lengthOf(
      chunk.map(({ bytes, annotation }) => {
        const value = JSON.parse(bytes.toString('utf8'))
        value.threatweave = annotation
        return Buffer.from(JSON.stringify(value))
      }),
    ),
  'parse only': (chunk) => lengthOf(chunk.map(({ bytes }) => Object.keys(JSON.parse(bytes.toString('utf8'))))),
}

const showFloor = (measured, name) => {
  show('JSON.parse + the same annotation, at hand + JSON.stringify', measured.reserialise.us)
  show('JSON.parse alone', measured['parse only'].us)
  console.log(`  ${ratio(measured, 'reserialise', name).toFixed(2)} times as fast as parsing and serialising`)
}
const showSteps = (inputs) => {
  console.log('  step by step:')
  const measured = measure(steps, inputs, { rounds: 15 })
  for (const [name, { us }] of Object.entries(measured)) show(`    ${name}`, us)
}

const inChunks = { perRound: 20, sizeOf: (chunk) => chunk.length }

const withoutLookups = ({ from, json, text }) => {
  const events = json.map(prepare)
  describe(events, `JSON events (${from})`)
  const measured = measure({ line: through(line), ...floor }, chunksOf(events), inChunks)
  show('decode + extract + decide + judge + conclude + annotate', measured.line.us)
  showFloor(measured, 'line')
  showSteps(events)
  const lines = text.map(prepare)
  describe(lines, `text lines (${from})`)
  show(
    'decode + extract + decide + judge + conclude + annotate',
    measure({ line: through(line) }, chunksOf(lines), inChunks).line.us,
  )
  showSteps(lines)
}

const withMemory = async ({ from, json }) => {
  const { events, indicators, pipeline, asked, close } = await openWarmLine(json)
  const inputs = events.map((bytes) => {
    const [{ annotation, annotationText }] = pipeline([{ bytes, origin }], false)
    return { bytes, annotation, text: annotationText }
  })
  describe(inputs, `JSON events (${from}, other addresses put in), ${indicators.length} distinct indicators in memory`)
  const works = { line: through(pipeline), ...floor }
  const measured = measure(works, chunksOf(inputs), { ...inChunks, rounds: 15, warmUp: 6 })
  show('the whole line, nothing awaited', measured.line.us)
  showFloor(measured, 'line')
  if (asked() > 0) console.log(`  ${asked()} lookups were not answered from memory`)
  await close()
}

export const run = async () => {
  const given = samples()
  console.log(`  in chunks of ${chunkSize} events`)
  withoutLookups(given)
  console.log('\n  with lookups, all answered from a warm memory:')
  await withMemory(given)
}

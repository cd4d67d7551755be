// Measures the pipeline without lookups, next to parsing and serialising the same events.
import { systemClock } from '../dist/base/clock.js'
import { unknownOf } from '../dist/domain/finding.js'
import { judge } from '../dist/domain/judge.js'
import { shippedTable } from '../dist/domain/judgement-table.js'
import { createRangeSet } from '../dist/domain/range-set.js'
import { createDecide } from '../dist/lookup/gate.js'
import { createAnnotate } from '../dist/pipeline/annotate/annotate.js'
import { createAnnotationKey } from '../dist/pipeline/annotate/annotation-key.js'
import { decode } from '../dist/pipeline/decode.js'
import { createEnrich } from '../dist/pipeline/enrich/enrich.js'
import { openFormats } from '../dist/app/open-formats.js'
import { createExtract } from '../dist/pipeline/extract/extract.js'
import { createInFlight } from '../dist/pipeline/enrich/in-flight.js'
import { createPipeline } from '../dist/pipeline/pipeline.js'
import { createWaits } from '../dist/pipeline/enrich/wait.js'
import { chunkSize, chunksOf, describe, inChunks, origin, show, compareWithBaseline, through } from './baseline.mjs'
import { measure } from './measure.mjs'
import { samples } from './samples.mjs'
import { findingOf } from './verdicts.mjs'

const limits = { maxEventBytes: 1_048_576 }
const annotationKey = createAnnotationKey('threatweave')
const extract = createExtract({ maxIndicators: 64, maxDepth: 64, formats: openFormats([]).formats, annotationKey })
const decide = createDecide()
const annotate = createAnnotate({
  key: 'threatweave',
  onExisting: 'replace',
  layers: [],
  detail: 'auto',
  hasId: true,
  ownRanges: createRangeSet([]),
})

// Every indicator has a prepared finding here; lookups are measured below.
const findings = new Map()
const findingAtHand = ({ value }, { decision }) => {
  if (decision.decision !== 'lookup') return unknownOf(decision.reason)
  const known = findings.get(value)
  if (known) return known
  const finding = findingOf(decision.ask)
  findings.set(value, finding)
  return finding
}

const read = (bytes) => decode(bytes, limits)
const inFlight = createInFlight(systemClock)
const enrich = createEnrich({
  lookup: findingAtHand,
  decide,
  judge: (finding, sighting, at) => judge(finding, sighting, shippedTable, at),
  clock: systemClock,
  inFlight,
})
const wait = createWaits({ clock: systemClock, deadlineMs: 0, catchUpShare: 0, quietMs: inFlight.quietMs }).live
/** The real pipeline, chunk by chunk, with prepared findings. */
const pipeline = createPipeline({
  decode: read,
  extract,
  enrich,
  annotate,
  clock: systemClock,
  wait,
})
/** Each input has the results of all previous steps, so that every step can be measured alone. */
const prepare = (bytes) => {
  const event = read(bytes)
  const extraction = extract(event)
  const rows = enrich.start(extraction, wait, Date.now()).judged
  const annotated = annotate({ bytes, origin }, event, extraction, rows)
  return { bytes, event, extraction, rows, text: annotated.annotationText(), annotation: annotated.annotation }
}

const steps = {
  'decode and extract': ({ bytes }) => extract(read(bytes)).sightings,
  'decide and judge': ({ extraction }) => enrich.start(extraction, wait, Date.now()).judged,
  annotate: ({ bytes, event, extraction, rows }) => annotate({ bytes, origin }, event, extraction, rows).bytes(),
}
const showSteps = (inputs) => {
  console.log('  step by step:')
  const measured = measure(steps, inputs, { rounds: 15 })
  for (const [name, { us }] of Object.entries(measured)) show(`    ${name}`, us)
}

export const run = () => {
  const { from, json, text } = samples()
  console.log(`  in chunks of ${chunkSize} events`)
  const events = json.map(prepare)
  describe(events, `JSON events (${from})`)
  compareWithBaseline('decode + extract + decide + judge + annotate', pipeline, events)
  showSteps(events)
  const lines = text.map(prepare)
  describe(lines, `text lines (${from})`)
  const measured = measure({ pipeline: through(pipeline) }, chunksOf(lines), inChunks)
  show('decode + extract + decide + judge + annotate', measured.pipeline.us)
  showSteps(lines)
}

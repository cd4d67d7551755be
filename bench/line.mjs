// The line without its lookups, beside parsing the same events, adding the same annotation and serialising them again.
import { createRangeSet } from '../dist/domain/range-set.js'
import { createDecide } from '../dist/lookup/gate.js'
import { createAnnotate } from '../dist/pipeline/annotate.js'
import { conclude } from '../dist/pipeline/conclude.js'
import { decode } from '../dist/pipeline/decode.js'
import { directionOf } from '../dist/pipeline/direction.js'
import { createExtract } from '../dist/pipeline/extract.js'
import { writeAnnotation } from '../dist/pipeline/write-annotation.js'
import { measure, ratio } from './measure.mjs'
import { samples } from './samples.mjs'

const limits = { maxEventBytes: 1_048_576 }
const extract = createExtract({ fields: {}, maxIndicators: 64, maxDepth: 64 })
const decide = createDecide()
const annotate = createAnnotate({ key: 'threatweave', onExisting: 'replace', layers: [] })
const ownRanges = createRangeSet([])

// Lookups are measured elsewhere: everything that may be asked about is answered alike.
const verdict = {
  level: 'clean',
  score: 0,
  flags: { is_malicious: false, can_remote_access: false, is_vpn: false, is_anonymous_vpn: false },
  because: 'nothing bad known',
  source: 'service',
  at: Date.parse('2026-11-15T08:00:00.000Z'),
}

const decided = (sightings) =>
  sightings.map((sighting) => {
    const decision = decide(sighting)
    return { sighting, decision, verdict: decision.decision === 'lookup' ? verdict : undefined }
  })
const concluded = ({ reading }, extraction, rows) =>
  conclude({
    extraction,
    rows,
    direction: directionOf(extraction.sightings, ownRanges),
    origin: 'firewall/3/1042',
    reading,
  })

const line = (bytes) => {
  const event = decode(bytes, limits)
  const extraction = extract(event)
  return annotate(event, concluded(event, extraction, decided(extraction.sightings)))
}

const µs = (number) => `${number.toFixed(2).padStart(7)} µs`
const show = (name, number) => console.log(`  ${name.padEnd(58)}${µs(number)}`)

/** Each input carries what the steps before would have made of it, so that every step can be measured alone. */
const prepare = (bytes) => {
  const event = decode(bytes, limits)
  const extraction = extract(event)
  const rows = decided(extraction.sightings)
  const annotation = concluded(event, extraction, rows)
  return { bytes, event, extraction, rows, annotation }
}

const steps = {
  decode: ({ bytes }) => decode(bytes, limits).text,
  extract: ({ event }) => extract(event).sightings,
  decide: ({ extraction }) => decided(extraction.sightings),
  conclude: ({ event, extraction, rows }) => concluded(event, extraction, rows).indicators,
  annotate: ({ event, annotation }) => annotate(event, annotation),
}
const whole = { line: ({ bytes }) => line(bytes) }
const reserialise = {
  reserialise: ({ bytes, annotation }) => {
    const value = JSON.parse(bytes.toString('utf8'))
    value.threatweave = annotation
    return Buffer.from(JSON.stringify(value))
  },
  'parse only': ({ bytes }) => Object.keys(JSON.parse(bytes.toString('utf8'))),
}

const showSteps = (inputs) => {
  const measured = measure(steps, inputs, { rounds: 15 })
  for (const [name, { us }] of Object.entries(measured)) show(`    ${name}`, us)
}

export const run = () => {
  const { from, json, text } = samples()
  const size = (list) => Math.round(list.reduce((sum, { length }) => sum + length, 0) / list.length)
  for (const [name, list] of [
    ['JSON events', json],
    ['text lines', text],
  ]) {
    const inputs = list.map(prepare)
    const added = Math.round(
      inputs.reduce((sum, { annotation }) => sum + writeAnnotation(annotation).length, 0) / inputs.length,
    )
    console.log(`  ${list.length} ${name} (${from}), ${size(list)} bytes and an annotation of ${added} on average`)
    const isJson = list === json
    const measured = measure(isJson ? { ...whole, ...reserialise } : whole, inputs)
    show('decode + extract + decide + conclude + annotate', measured.line.us)
    if (isJson) {
      show('JSON.parse + the same annotation + JSON.stringify', measured.reserialise.us)
      show('JSON.parse alone', measured['parse only'].us)
      console.log(`  ${ratio(measured, 'reserialise', 'line').toFixed(2)} times as fast as parsing and serialising`)
    }
    console.log('  step by step:')
    showSteps(inputs)
  }
}

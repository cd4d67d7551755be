// Compares a pipeline with a baseline that parses the event, adds the same annotation and serialises.
import { measure, ratio } from './measure.mjs'

export const origin = 'firewall/3/1042'
export const chunkSize = 100
export const chunksOf = (inputs) =>
  Array.from({ length: Math.ceil(inputs.length / chunkSize) }, (_, n) =>
    inputs.slice(n * chunkSize, (n + 1) * chunkSize),
  )
const lengthOf = (outputs) => ({ length: outputs.reduce((sum, { length }) => sum + length, 0) })

const µs = (number) => `${number.toFixed(2).padStart(7)} µs`
export const show = (name, number) => console.log(`  ${name.padEnd(60)}${µs(number)}`)
const mean = (list, number) => Math.round(list.reduce((sum, one) => sum + number(one), 0) / list.length)
export const describe = (inputs, what) => {
  const added = mean(inputs, ({ text }) => text.length)
  const size = mean(inputs, ({ bytes }) => bytes.length)
  console.log(`  ${inputs.length} ${what}, ${size} bytes and an annotation of ${added} on average`)
}

export const through = (pipeline) => (chunk) => {
  let length = 0
  pipeline(
    chunk.map(({ bytes }) => ({ bytes, origin })),
    (one) => void (length += one.bytes().length),
  )
  return { length }
}

const baseline = {
  // The annotation is prebuilt: only adding and serialising it is measured.
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

/** Long rounds with much warm-up, because a service runs fully optimised for days. */
export const inChunks = { perRound: 200, sizeOf: (chunk) => chunk.length }

/** `inputs`: events as bytes with their annotations. */
export const compareWithBaseline = (name, pipeline, inputs, how) => {
  const measured = measure({ pipeline: through(pipeline), ...baseline }, chunksOf(inputs), { ...inChunks, ...how })
  show(name, measured.pipeline.us)
  show('JSON.parse + the same annotation, at hand + JSON.stringify', measured.reserialise.us)
  show('JSON.parse alone', measured['parse only'].us)
  console.log(`  ${ratio(measured, 'reserialise', 'pipeline').toFixed(2)} times as fast as parsing and serialising`)
}

// The whole line with every answer in memory, beside parsing the same events, adding the same annotation and serialising them again.
import { allOf } from '../dist/pipeline/pipeline.js'
import { chunkSize, describe, origin, showBesideFloor } from './beside-floor.mjs'
import { openWarmLine } from './open-warm-line.mjs'
import { samples } from './samples.mjs'

export const run = async () => {
  const { from, json } = samples()
  console.log(`  in chunks of ${chunkSize} events`)
  const { events, indicators, pipeline, asked, close } = await openWarmLine(json)
  const inputs = events.map((bytes) => {
    const [event] = allOf(pipeline, [{ bytes, origin }])
    return { bytes, annotation: event.annotation, text: event.annotationText() }
  })
  describe(inputs, `JSON events (${from}, other addresses put in), ${indicators.length} distinct indicators in memory`)
  showBesideFloor('the whole line, nothing awaited', pipeline, inputs, { rounds: 15, warmUp: 10 })
  if (asked() > 0) console.log(`  ${asked()} lookups were not answered from memory`)
  await close()
}

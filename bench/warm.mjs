// Measures the whole pipeline with every answer in memory, compared with parsing and serialising the same events.
import { allOf } from '../dist/pipeline/pipeline.js'
import { chunkSize, describe, origin, compareWithBaseline } from './baseline.mjs'
import { openWarmPipeline } from './open-warm-pipeline.mjs'
import { samples } from './samples.mjs'

export const run = async () => {
  const { from, json } = samples()
  console.log(`  in chunks of ${chunkSize} events`)
  const { events, indicators, pipeline, asked, close } = await openWarmPipeline(json)
  const inputs = events.map((bytes) => {
    const [event] = allOf(pipeline, [{ bytes, origin }])
    return { bytes, annotation: event.annotation, text: event.annotationText() }
  })
  describe(inputs, `JSON events (${from}, other addresses put in), ${indicators.length} distinct indicators in memory`)
  compareWithBaseline('the whole pipeline, nothing awaited', pipeline, inputs, { rounds: 15, warmUp: 10 })
  if (asked() > 0) console.log(`  ${asked()} lookups were not answered from memory`)
  await close()
}

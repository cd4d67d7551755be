// Measures the whole pipeline with every answer cached: one provider alone, and with three additional sources.
import { allOf } from '../dist/pipeline/pipeline.js'
import { chunksOf, inChunks, origin, show, through } from './baseline.mjs'
import { measure, ratio } from './measure.mjs'
import { openWarmPipeline } from './open-warm-pipeline.mjs'
import { samples } from './samples.mjs'

/** The first is the control: a second pipeline costs something even without sources, because both share compiled code. */
const asked = {
  'none of them': [],
  'as they are by default (accused)': ['accused', 'accused', 'accused'],
  'one of each kind (accused, unknown, always)': ['accused', 'unknown', 'always'],
  'all asked always': ['always', 'always', 'always'],
}

export const run = async () => {
  const { json } = samples()
  const alone = await openWarmPipeline(json)
  const inputs = chunksOf(alone.events.map((bytes) => ({ bytes })))
  for (const [name, modes] of Object.entries(asked)) {
    const sources = modes.map((ask, nth) => ({ id: `source-${nth}`, ask }))
    const three = await openWarmPipeline(json, 10_000, sources)
    const events = allOf(
      three.pipeline,
      three.events.slice(0, 2_000).map((bytes) => ({ bytes, origin })),
    )
    const accusers = events.filter(({ annotation }) => (annotation.accusers ?? 0) > 1).length
    const measured = measure({ alone: through(alone.pipeline), three: through(three.pipeline) }, inputs, {
      ...inChunks,
      rounds: 11,
      warmUp: 6,
    })
    console.log(`  sources: ${name}; ${accusers} of ${events.length} events have more than one accuser`)
    show('the provider alone', measured.alone.us)
    show('next to it', measured.three.us)
    console.log(`  ${ratio(measured, 'alone', 'three').toFixed(3)} of the throughput of the provider alone`)
    if (three.asked() > 0) console.log(`  ${three.asked()} lookups were not answered from memory`)
    await three.close()
  }
  await alone.close()
}

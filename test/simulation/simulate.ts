// Runs the simulation: `npm run simulate -- --seeds 1000`, or one seed as a readable timeline: `npm run simulate -- --seed 42 --trace`.
import { parseArgs } from 'node:util'
import { installGlobals, wallMs } from './world.js'

installGlobals()
// What is simulated is what users run: kafkajs takes other retries where it takes itself to be tested.
delete process.env['NODE_ENV']
process.env['KAFKAJS_NO_PARTITIONER_WARNING'] = '1'
const { execute, useFolder } = await import('./execution.js')
const { drawScenario } = await import('./scenario.js')
const program = {
  runAlone: (await import('../../src/app/run-alone.js')).runAlone,
  load: (await import('../../src/config/load.js')).load,
  loadFeed: (await import('../../src/feeds/load-feed.js')).loadFeed,
  systemClock: (await import('../../src/domain/clock.js')).systemClock,
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
})
const endUse = useFolder()
const first = Number(values.seed ?? values.from)
const count = values.seed === undefined ? Number(values.seeds) : 1
let failures = 0
const began = wallMs()
for (let seed = first; seed < first + count; seed++) {
  const scenario = drawScenario(seed)
  const beganMs = wallMs()
  const result = await execute(scenario, program, { trace: values.trace })
  if (values.trace) for (const line of result.timeline) console.log(line)
  if (wallMs() - beganMs > 10_000) console.log(`seed ${seed} took ${Math.round(wallMs() - beganMs)} ms, ${result.events} events, ${Math.round(result.virtualMs / 1000)} s of virtual time`)
  if (result.broken.length === 0) continue
  failures++
  console.log(
    `seed ${seed} (${scenario.delivery}, ${scenario.brokers} brokers): ${result.broken.map(({ promise, what }) => `${promise}: ${what}`).join(' | ')}`,
  )
}
console.log(`${count - failures} passed, ${failures} failed in ${((wallMs() - began) / 1000).toFixed(1)} s`)
endUse()
process.exitCode = failures === 0 ? 0 : 1

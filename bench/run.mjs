// Runs benches: `npm run bench -- pipeline`; without a name, all that need no broker. A number sets the minutes of `memory`.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

const scenarios = {
  attacks: {
    about: 'how long a key of a gateway waits while another one attacks',
    load: () => import('./attacks.mjs'),
  },
  backlog: {
    about: 'completeness and cost of a cold backlog',
    load: () => import('./backlog.mjs'),
  },
  bulk: { about: 'how much of its concurrency a gateway uses for four askers', load: () => import('./bulk.mjs') },
  alerts: { about: 'what 100 rules add to the pipeline', load: () => import('./alerts.mjs') },
  feeds: { about: 'load, swap and look up local feeds of a million entries', load: () => import('./feeds.mjs') },
  'narrow-entries': {
    about: 'feeds of a million ports of addresses and of URLs, next to THREATWEAVE_BENCH_BASE=REVISION',
    load: () => import('./narrow-entries.mjs'),
  },
  floods: {
    about:
      'floods of accused events, names, machines, large events and large batches on a broker; a number is how many seconds each takes at most',
    load: () => import('./floods.mjs'),
  },
  gateways: { about: 'what a question costs each of two gateways', load: () => import('./gateways.mjs') },
  kafka: { about: '`run` on a real broker next to a plain kafkajs loop', load: () => import('./kafka.mjs') },
  peers: {
    about: '`run` next to Redpanda Connect, which is built once where Go is; writes a plot',
    load: () => import('./peers/peers.mjs'),
  },
  pipeline: { about: 'one event through the pipeline, without lookups', load: () => import('./pipeline.mjs') },
  shapes: {
    about: 'plain, everything on and a flood of accused events, without a broker, alternating',
    load: () => import('./shapes.mjs'),
  },
  sources: {
    about: 'what three sources next to the provider cost with a warm memory',
    load: () => import('./sources.mjs'),
  },
  taxii: { about: 'first read of a TAXII collection of a million indicators', load: () => import('./taxii.mjs') },
  verdicts: {
    about: 'the verdicts topic: start of a fleet, cost of a verdict, cost for the events',
    load: () => import('./shared-verdicts.mjs'),
  },
  warm: { about: 'one event through the whole pipeline with a warm memory', load: () => import('./warm.mjs') },
  memory: { about: 'memory of `run` over minutes of new addresses and feeds', load: () => import('./memory.mjs') },
  sightings: {
    about: 'who has seen what: memory and time for two million indicators',
    load: () => import('./sightings.mjs'),
  },
  'take-over': {
    about: 'fifty partitions of a killed worker with a million counted indicators',
    load: () => import('./take-over.mjs'),
  },
}
const usual = ['pipeline', 'warm', 'alerts', 'feeds']

const given = process.argv.slice(2)
const named = given.filter((word) => !/^\d+$/.test(word))
const [minutes] = given.filter((word) => /^\d+$/.test(word)).map(Number)
const unknown = named.filter((name) => !Object.hasOwn(scenarios, name))
if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(', ')}. There are:`)
  for (const [name, { about }] of Object.entries(scenarios)) console.error(`  ${name}  ${about}`)
  process.exit(64)
}
if (!existsSync(new URL('../dist/cli.js', import.meta.url))) {
  console.error('nothing to measure yet: run `npm run build` first')
  process.exit(1)
}
const wanted = named.length > 0 ? named : usual
if (wanted.length > 1) {
  // Each in its own process, so that compiled code and memory do not affect the next.
  for (const name of wanted) {
    const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), name], { stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
  }
} else {
  const [name] = wanted
  console.log(`Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`)
  console.log(`\n${name}: ${scenarios[name].about}`)
  const { run } = await scenarios[name].load()
  await run(minutes)
}

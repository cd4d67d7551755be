// Runs the simulation: many seeds with a summary, or one as a readable timeline. Usage: `npm run simulate -- --help`.
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import type { Scenario } from './scenario.js'
import { installGlobals, wallMs, type WorldOptions } from './world.js'

const help = `Usage: npm run simulate -- [options]

Runs the workers of Threatweave against simulated brokers and a simulated provider in virtual time. One seed is one execution: settings,
events, faults and every delay are drawn from it, so a failure is a number that anyone can repeat.

      --seeds N     how many seeds (default: 100)
      --from K      the first of them (default: 1)
      --seed N      this one alone
      --gateways    several gateways of which one calls, instead of workers
      --replays     only those with a replay next to the run
      --faults LIST only these of its faults, by number from 0: --faults 1,3; --faults none
      --found       those that once failed, as they were kept in found.jsonl: whatever scenarios are drawn later, they stay the same
      --keep NAME   with --seed: keep it there, under the name of what it broke
      --trace       with --seed: print what happened, line by line, in seconds of virtual time
      --twice N     run the first N twice, the second time watching what processes share, and compare what happened
      --first       end at the first failure, as it is
      --json        print the summary as JSON

A failing seed is shown with the fewest of its faults with which it still fails.
`

installGlobals()
// Simulate production behaviour: kafkajs uses different retries in a test environment.
delete process.env['NODE_ENV']
process.env['KAFKAJS_NO_PARTITIONER_WARNING'] = '1'
const { execute } = await import('./execution.js')
const { useFolder } = await import('./execution/folder.js')
const { drawScenario } = await import('./scenario.js')
const { shorten } = await import('./shorten.js')
const { promises } = await import('./checks.js')
const { watchTasks } = await import('./task-cells.js')
const program = {
  runAlone: (await import('../../src/app/run-alone.js')).runAlone,
  load: (await import('../../src/config/load.js')).load,
  loadFeed: (await import('../../src/feeds/load-feed.js')).loadFeed,
  ...(await import('../../src/commands/replay/replay-alone.js')),
  readReplayArguments: (await import('../../src/commands/replay/replay-options.js')).readReplayArguments,
  summariseReplay: (await import('../../src/commands/replay/replay-summary.js')).summariseReplay,
  systemClock: (await import('../../src/base/clock.js')).systemClock,
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    gateways: { type: 'boolean', default: false },
    replays: { type: 'boolean', default: false },
    faults: { type: 'string' },
    found: { type: 'boolean', default: false },
    keep: { type: 'string' },
    trace: { type: 'boolean', default: false },
    twice: { type: 'string', default: '0' },
    first: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}

// Stack traces matter only for single executions; for thousands they take a twentieth of the time.
if (values.seed === undefined) Error.stackTraceLimit = 0

// V8 optimises hot code, on a second core if there is one; for so few seeds that costs more than it saves. Node 22 and later would warn
// about one of these options, which V8 no longer has.
if (Number(values.seeds) <= 200) {
  const hasBudget = Number(process.versions.node.split('.')[0]) < 22
  for (const flag of [
    '--always-sparkplug',
    ...(hasBudget ? ['--interrupt-budget=600000'] : []),
    '--max-inlined-bytecode-size-cumulative=200',
  ])
    setFlagsFromString(flag)
}

/** Options of the second run: real microtask scheduling, and a check for state shared between processes. */
const otherwise: WorldOptions = { drain: 'immediate', debug: true }

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const count = (counts: Map<string, number>, name: string, by = 1): void =>
  void counts.set(name, (counts.get(name) ?? 0) + by)

type Named = { readonly name?: string; readonly scenario: Scenario }
const foundFile = resolve(import.meta.dirname, 'found.jsonl')
const first = Number(values.seed ?? values.from)
const drawn = function* (): Generator<Named> {
  const count = values.seed === undefined ? Number(values.seeds) : 1
  for (let seed = first; seed < first + count; seed++) yield { scenario: drawScenario(seed) }
}
const found = (): readonly Named[] =>
  readFileSync(foundFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Named)
if (values.keep !== undefined)
  appendFileSync(foundFile, `${JSON.stringify({ name: values.keep, scenario: drawScenario(first) })}\n`)

const digest = createHash('sha256')
if (values.gateways) {
  await simulateGateways()
  process.exit()
}

const endUse = useFolder()
const tasks = watchTasks()
const began = wallMs()
const [faults, atStake, paths] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
const failed: number[] = []
const different: number[] = []
let [events, virtualMs] = [0, 0]
let total = 0
for (const { name, scenario: whole } of values.found ? found() : drawn()) {
  const { seed } = whole
  if (values.replays && !whole.replay) continue
  const kept = values.faults === undefined ? undefined : values.faults.split(',')
  const scenario = kept ? { ...whole, faults: whole.faults.filter((_, nth) => kept.includes(String(nth))) } : whole
  const result = await execute(scenario, program, { trace: values.trace })
  total++
  for (const line of result.timeline) say(line)
  for (const kind of result.done) count(faults, kind)
  for (const promise of result.atStake) count(atStake, promise)
  for (const [path, taken] of result.paths) count(paths, path, taken)
  events += result.events
  digest.update(result.digest)
  virtualMs += result.virtualMs
  if (total <= Number(values.twice) && (await execute(scenario, program, otherwise)).digest !== result.digest)
    different.push(seed)
  if (result.broken.length === 0) continue
  failed.push(seed)
  say(`seed ${seed} (${name ?? scenario.delivery}, brokers: ${scenario.brokers}) breaks:`)
  for (const { promise, what } of result.broken) say(`  ${promise}: ${what}`)
  if (values.first) break
  if (values.seed !== undefined || kept) continue
  const few = await shorten(scenario, result.broken, async (fewer) => (await execute(fewer, program)).broken)
  const numbers = few.map((fault) => whole.faults.indexOf(fault))
  for (const fault of few) say(`  fault ${whole.faults.indexOf(fault)}: ${JSON.stringify(fault)}`)
  say(`  npm run simulate -- --seed ${seed} --faults ${numbers.join(',') || 'none'} --trace`)
}
endUse()

const whole = digest.digest('hex').slice(0, 16)
const seconds = (wallMs() - began) / 1000
const never = [...paths].filter(([, taken]) => taken === 0).map(([path]) => path)
if (values.json)
  say(
    JSON.stringify({
      seeds: total,
      failed,
      different,
      digest: whole,
      seconds,
      events,
      virtualSeconds: Math.round(virtualMs / 1000),
      faults: Object.fromEntries(faults),
      atStake: Object.fromEntries(atStake),
      never,
      tasks: { counts: tasks.counts(), notReached: tasks.notReached(), notDocumented: tasks.notDocumented() },
    }),
  )
else if (total > 1) {
  say(
    `${total} executions, ${Math.round(virtualMs / 60_000)} minutes of virtual time, in ${seconds.toFixed(1)} s; digest ${whole}`,
  )
  for (const [kind, times] of [...faults].toSorted()) say(`  fault ${kind}: ${times}`)
  for (const promise of promises) say(`  at stake in ${atStake.get(promise) ?? 0}: ${promise}`)
  for (const [cell, times] of Object.entries(tasks.counts())) say(`  task: ${cell}: ${times}`)
  for (const cell of tasks.notReached()) say(`  task: ${cell}: never`)
  for (const cell of tasks.notDocumented()) say(`  task: ${cell}: is not in the table of task-states.md`)
  if (never.length > 0) say(`  paths of the brokers that were never taken: ${never.join('; ')}`)
}
if (different.length > 0) say(`not the same a second time: ${different.join(', ')}`)
say(`${total - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length + different.length === 0 ? 0 : 1

/** Simulates several gateways of which one calls: the same seeds with another program. */
async function simulateGateways(): Promise<void> {
  const { executeGateways } = await import('./gateways-execution.js')
  const { drawGateways } = await import('./gateways/scenario.js')
  const parts = {
    joinElection: (await import('../../src/election/join-election.js')).joinElection,
    ...(await import('../../src/lookup/admission/admission.js')),
    systemClock: program.systemClock,
  }
  const [happened, stakes] = [new Map<string, number>(), new Map<string, number>()]
  const [bad, unlike]: [number[], number[]] = [[], []]
  const seeds = values.seed === undefined ? Number(values.seeds) : 1
  let calls = 0
  const from = wallMs()
  for (let seed = first; seed < first + seeds; seed++) {
    const scenario = drawGateways(seed)
    const result = await executeGateways(scenario, parts, { trace: values.trace })
    for (const line of result.timeline) say(line)
    for (const kind of result.done) count(happened, kind)
    for (const promise of result.atStake) count(stakes, promise)
    calls += result.calls
    digest.update(result.digest)
    if (
      seed < first + Number(values.twice) &&
      (await executeGateways(scenario, parts, otherwise)).digest !== result.digest
    )
      unlike.push(seed)
    if (result.broken.length === 0) continue
    bad.push(seed)
    say(`seed ${seed} (gateways: ${scenario.gateways}, brokers: ${scenario.brokers}) breaks:`)
    for (const { promise, what } of result.broken) say(`  ${promise}: ${what}`)
    if (values.first) break
  }
  const digested = digest.digest('hex').slice(0, 16)
  const summary = { seeds, failed: bad, different: unlike, digest: digested, seconds: (wallMs() - from) / 1000, calls }
  say(JSON.stringify({ ...summary, faults: Object.fromEntries(happened), atStake: Object.fromEntries(stakes) }))
  process.exitCode = bad.length + unlike.length === 0 ? 0 : 1
}

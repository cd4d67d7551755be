// Tries each deliberate mistake in memory and shows the first seed that detects it: `npm run simulate:mistakes`.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeMistake, readSources } from './make-mistake.js'
import { mistakes } from './mistakes.js'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    only: { type: 'string' },
    step: { type: 'string', default: '25' },
    names: { type: 'boolean', default: false },
  },
})
if (values.names) {
  for (const { name } of mistakes) say(name)
  process.exit(0)
}
const sources = readSources()
const chosen = mistakes
  .filter(({ name }) => values.only === undefined || name.includes(values.only))
  .map((mistake) => ({ ...mistake, changed: makeMistake(sources, mistake) }))
const simulate = resolve(import.meta.dirname, 'simulate.ts')
const typescript = resolve(import.meta.dirname, 'typescript.mjs')
let uncaught = 0
for (const { name, changed, options = [] } of chosen) {
  let caught: string | undefined
  const step = Number(values.step)
  for (let from = 1; caught === undefined && from <= Number(values.seeds); from += step) {
    const run = spawnSync(
      process.execPath,
      ['--import', typescript, simulate, '--from', String(from), '--seeds', String(step), '--first', ...options],
      {
        env: { ...process.env, SIMULATION_MISTAKE: JSON.stringify(changed) },
        encoding: 'utf8',
        timeout: step * 20_000,
        killSignal: 'SIGKILL',
      },
    )
    if (run.signal !== null) caught = `seeds from ${from}: does not come to an end`
    else if (run.status !== 0) {
      caught = /^seed .*\n.*/m.exec(run.stdout)?.[0].replace('\n', '')
      if (caught === undefined) throw new Error(`${name} could not be tried: ${run.stderr.slice(-1_000)}`)
    }
  }
  if (caught === undefined) uncaught++
  say(`${caught === undefined ? 'NOT CAUGHT' : 'caught'}: ${name}: ${caught ?? ''}`)
}
say(`${chosen.length - uncaught} passed, ${uncaught} failed`)
process.exitCode = uncaught === 0 ? 0 : 1

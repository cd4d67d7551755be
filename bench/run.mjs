// What the program costs, next to the raw floor it stands on: `npm run bench -- line`, or no name for all that need nothing else.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

const scenarios = {
  backlog: {
    about: 'how much of a cold backlog leaves complete, and at what price',
    load: () => import('./backlog.mjs'),
  },
  alerts: { about: 'what 100 rules add to the line', load: () => import('./alerts.mjs') },
  feeds: { about: 'load, swap and look up local feeds of a million entries', load: () => import('./feeds.mjs') },
  kafka: { about: 'the service on a real broker beside the raw kafkajs loop', load: () => import('./kafka.mjs') },
  line: { about: 'one event through the line, without its lookups', load: () => import('./line.mjs') },
  warm: { about: 'one event through the whole line with a warm memory', load: () => import('./warm.mjs') },
  memory: { about: 'resident memory while two million events pass', load: () => import('./memory.mjs') },
}
const usual = ['line', 'warm', 'alerts', 'feeds']

const named = process.argv.slice(2)
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
  // Each in a process of its own: what one leaves behind, compiled or in memory, is no part of the next.
  for (const name of wanted) {
    const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), name], { stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
  }
} else {
  const [name] = wanted
  console.log(`Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`)
  console.log(`\n${name}: ${scenarios[name].about}`)
  const { run } = await scenarios[name].load()
  await run()
}

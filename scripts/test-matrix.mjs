// Runs the linter, the type checker and the tests on every supported Node and Kafka version, and prints a table of the results.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { run } from './tools.mjs'

const root = resolve(import.meta.dirname, '..')
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'threatweave')

/** One test file per promise, on a real broker. */
const promises = [
  'drain-on-sigterm',
  'exactly-once-under-kill',
  'offset-after-ack',
  'poison-record',
  'provider-trouble',
  'run-command',
  'security-listeners',
  'topic-recreated',
  'workers-share-a-gateway',
  'zombie',
].map((name) => `test/integration/${name}.test.ts`)

const withoutBroker = ['--project', 'unit', '--project', 'program', '--project', 'program-long']

/** The oldest supported version and the newest of each line. Undefined `node` or `kafka` means the default of this machine or the demo. */
const rows = [
  { what: 'linter and formatter', script: 'lint', args: [] },
  { what: 'types', script: 'typecheck', args: [] },
  { what: 'without any part', script: 'test:parts', args: ['--all', '--steps', 'types,tests'] },
  { what: 'seeds that failed once', args: ['--project', 'simulation-long'] },
  { what: 'tools and a cluster', args: ['--project', 'matrix'] },
  { what: 'without a broker', node: '20.19.2', args: withoutBroker },
  { what: 'without a broker', node: '22.23.3', args: withoutBroker },
  { what: 'the promises', node: '22.23.3', kafka: '3.9.2', args: ['--project', 'integration', ...promises] },
  { what: 'what takes long', node: '24.21.0', args: ['--project', 'integration-long'] },
  { what: 'without a broker', node: '24.21.0', args: withoutBroker },
  { what: 'the promises', node: '24.21.0', args: ['--project', 'integration', ...promises] },
]

/** The Node program of that version from the npm package for this platform, fetched once. */
const nodeOf = (version) => {
  const folder = join(cache, `node-${version}`)
  const name = `node-${process.platform}-${process.arch}`
  const program = join(folder, 'node_modules', name, 'bin', 'node')
  if (existsSync(program)) return program
  const part = `${folder}.part`
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part, { recursive: true })
  const { ok, output } = run('npm', [
    'install',
    '--prefix',
    part,
    '--no-save',
    '--ignore-scripts',
    `${name}@${version}`,
  ])
  if (!ok) throw new Error(`Node ${version} cannot be fetched: ${output.trim().split('\n').at(-1)}`)
  rmSync(folder, { recursive: true, force: true })
  renameSync(part, folder)
  return program
}

const test = ({ node, kafka, script, args }) => {
  const program = node === undefined ? process.execPath : nodeOf(node)
  const vitest = [program, join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args]
  const [command, ...rest] = script === undefined ? vitest : ['npm', 'run', script, '--', ...args]
  const child = spawn(command, rest, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: `${dirname(program)}${delimiter}${process.env.PATH}`,
      ...(kafka === undefined ? {} : { KAFKA_VERSION: kafka }),
    },
  })
  return new Promise((done) => {
    child.once('exit', (code) => done(code === 0))
  })
}

const only = process.argv.slice(2)
const results = []
for (const row of rows) {
  const name = `${row.what}: Node ${row.node ?? process.versions.node}${row.args.some((word) => word.startsWith('integration')) ? `, Kafka ${row.kafka ?? '4.3.1'}` : ''}`
  if (only.length > 0 && !only.some((word) => name.includes(word))) continue
  console.log(`\n== ${name}`)
  const began = Date.now()
  const ok = await test(row)
  results.push({ name, ok, seconds: Math.round((Date.now() - began) / 1000) })
}
console.log()
for (const { name, ok, seconds } of results)
  console.log(`${ok ? 'passed' : 'FAILED'}  ${String(seconds).padStart(5)} s  ${name}`)
if (results.length === 0) console.error(`no row has one of these words: ${only.join(', ')}`)
process.exitCode = results.length > 0 && results.every(({ ok }) => ok) ? 0 : 1

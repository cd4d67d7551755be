// Installs sigma-cli once in the user's cache, checks the rules, and converts them (`npm run generate:queries`).
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(import.meta.dirname, '..')
export const rules = join(root, 'rules')
const converted = join(root, 'examples/sigma')

/** Pinned, because releases differ in the queries that they generate. */
const packages = [
  'sigma-cli==3.1.0',
  'pySigma==1.5.1',
  'pySigma-backend-opensearch==2.0.3',
  'pySigma-backend-splunk==2.1.0',
  'pySigma-backend-kusto==1.0.1',
]
const home = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'threatweave',
  `sigma-${packages.map((name) => name.split('==')[1]).join('-')}`,
)

/** Output folder → options of sigma-cli. */
const targets = {
  opensearch: ['-t', 'opensearch_lucene', '--without-pipeline'],
  splunk: ['-t', 'splunk', '--without-pipeline'],
  kusto: ['-t', 'kusto', '--without-pipeline'],
}
const extensions = { opensearch: 'lucene', splunk: 'spl', kusto: 'kql' }

/** Columns of a Kusto table have no dots, and its boolean flags cannot be compared with `=~`. */
const finish = (target, query) =>
  target === 'kusto'
    ? query.replace(/'threatweave\.([a-z_]+)'/g, 'threatweave_$1').replace(/ =~ (true|false)\b/g, ' == $1')
    : query

const run = (command, args) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  return { ok: status === 0, output: error ? error.message : `${stdout}${stderr}` }
}

/** Returns the path of sigma-cli or the reason for its absence. A marker file shows that the installation is complete. */
export const provisionSigma = () => {
  const done = join(home, 'complete')
  const sigma = join(home, 'bin', 'sigma')
  if (existsSync(done)) return { sigma }
  if (!run('python3', ['--version']).ok) return { missing: 'sigma-cli cannot be installed: Python 3 was not found' }
  rmSync(home, { recursive: true, force: true })
  mkdirSync(dirname(home), { recursive: true })
  for (const args of [
    ['python3', '-m', 'venv', home],
    [join(home, 'bin', 'pip'), 'install', '--quiet', ...packages],
  ]) {
    const { ok, output } = run(args[0], args.slice(1))
    if (!ok) return { missing: `sigma-cli cannot be installed: ${output.trim().split('\n').at(-1)}` }
  }
  writeFileSync(done, '')
  return { sigma }
}

export const checkRules = (sigma, folder) => run(sigma, ['check', '-x', 'attacktag', '-x', 'd3_fendtag', folder])

/** Returns the queries of all rules and targets by name, for example `opensearch/threatweave_claimed_malicious.lucene`. */
export const convertRules = (sigma, from = rules) => {
  const queries = {}
  for (const [target, how] of Object.entries(targets)) {
    const folder = mkdtempSync(join(tmpdir(), 'threatweave-sigma-'))
    const template = `{stem}.${extensions[target]}`
    const { ok, output } = run(sigma, ['convert', ...how, '-od', folder, '-ot', template, from])
    if (!ok) throw new Error(`sigma-cli could not convert the rules for ${target}: ${output}`)
    for (const name of readdirSync(folder))
      queries[`${target}/${name}`] = finish(target, readFileSync(join(folder, name), 'utf8').trim())
    rmSync(folder, { recursive: true })
  }
  return queries
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { sigma, missing } = provisionSigma()
  if (missing) {
    console.error(missing)
    process.exit(1)
  }
  const { ok, output } = checkRules(sigma, rules)
  if (!ok) {
    console.error(output)
    process.exit(1)
  }
  const queries = convertRules(sigma)
  for (const target of Object.keys(targets)) rmSync(join(converted, target), { recursive: true, force: true })
  for (const [name, query] of Object.entries(queries)) {
    mkdirSync(dirname(join(converted, name)), { recursive: true })
    writeFileSync(join(converted, name), `${query}\n`)
  }
  console.log(`${Object.keys(queries).length} queries written to examples/sigma/`)
}

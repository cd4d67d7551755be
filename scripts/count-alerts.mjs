// Counts the alerts of the bundled rules on many products' logs with a third of the public addresses listed, to compare changes.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { openAlerting } from '../dist/app/open-alerting.js'
import { openApp } from '../dist/app/open-app.js'
import { load } from '../dist/config/load.js'
import { feedProblems } from '../dist/feeds/status.js'
import { allOf, eventsIn } from '../dist/pipeline/pipeline.js'

const { values: given, positionals } = parseArgs({
  options: {
    /** Writes a line per event to this file: set, number, alerts. Two such files can be compared. */
    events: { type: 'string' },
  },
  allowPositionals: true,
})
const root = resolve(import.meta.dirname, '..')
const corpus = resolve(root, '../shared/corpus')
const sets =
  positionals.length > 0
    ? positionals
    : existsSync(corpus)
      ? readdirSync(corpus)
          .filter((name) => name.endsWith('.ndjson'))
          .map((name) => join(corpus, name))
      : []
if (sets.length === 0) {
  console.log('nothing is counted: give files of {"raw": LINE, "ips": [ADDRESS]}, one object a line')
  process.exit(0)
}

const folder = mkdtempSync(join(tmpdir(), 'count-alerts-'))
process.once('exit', () => rmSync(folder, { recursive: true }))
const ruleNames = new Map(
  readdirSync(join(root, 'rules')).map((file) => [
    parse(readFileSync(join(root, 'rules', file), 'utf8')).id,
    basename(file, '.yml'),
  ]),
)
/** Whether and how an address is listed depends only on the address. */
const categoryOf = (address) => {
  const first = createHash('sha256').update(address).digest().readUInt32BE()
  return first % 3 === 0 ? ['c2', '', 'scanner'][Math.floor(first / 3) % 3] : undefined
}

const levels = new Map()
const counts = new Map()
const told = []
for (const path of sets) {
  const set = basename(path, '.ndjson')
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const listed = [...new Set(rows.flatMap(({ ips }) => ips))].filter((address) => categoryOf(address) !== undefined)
  const feed = join(folder, `${set}.csv`)
  writeFileSync(feed, `value,category\n${listed.map((address) => `${address},${categoryOf(address)}\n`).join('')}`)
  const { config } = load({
    values: { memory: { path: 'none' }, gate: { documentation: true }, feeds: [{ name: set, path: feed }] },
    env: {},
    readFile: () => '',
  })
  let alerts = await openAlerting(config, {})
  const app = await openApp(config, { mode: 'complete', env: {}, names: () => alerts.names() })
  const problems = feedProblems(app.feeds.status())
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  let accused = 0
  let silent = 0
  for (const [number, { raw }] of rows.entries()) {
    const events = eventsIn(
      await allOf(app.pipeline, [{ bytes: Buffer.from(raw), origin: `${set}/0/${number}`, time: 0 }]),
    )
    const raised = alerts.raise(events)
    const isAccused = events.some(({ annotation }) =>
      annotation.indicators.some(({ verdict }) => verdict === 'malicious'),
    )
    if (isAccused) accused++
    if (isAccused && raised.length === 0) silent++
    for (const { rule, threatweave } of raised) {
      const name = ruleNames.get(rule.id) ?? rule.name
      levels.set(name, threatweave.level)
      const row = counts.get(name) ?? new Map()
      row.set(set, (row.get(set) ?? 0) + 1)
      counts.set(name, row)
    }
    const alertsOf = raised.map(
      ({ rule, threatweave, threat_match_value: value }) => `${threatweave.level} ${ruleNames.get(rule.id)} ${value}`,
    )
    told.push(`${set}\t${number + 1}\t${alertsOf.toSorted().join('; ') || (isAccused ? 'none' : 'nothing accused')}`)
    // Judges each event on its own: earlier alerts must not suppress it.
    if (raised.length > 0) {
      await alerts.close()
      alerts = await openAlerting(config, {})
    }
  }
  for (const [name, count] of [
    ['(events that are accused)', accused],
    ['(of these without an alert)', silent],
    ['(events)', rows.length],
  ]) {
    const row = counts.get(name) ?? new Map()
    row.set(set, count)
    counts.set(name, row)
  }
  await Promise.all([app.close(), alerts.close()])
}
const names = sets.map((path) => basename(path, '.ndjson'))
console.log(`| rule | level | ${names.join(' | ')} |\n|---|---|${'---|'.repeat(names.length)}`)
for (const [name, row] of [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  console.log(`| ${name} | ${levels.get(name) ?? ''} | ${names.map((set) => row.get(set) ?? 0).join(' | ')} |`)
if (given.events !== undefined) writeFileSync(given.events, `${told.join('\n')}\n`)

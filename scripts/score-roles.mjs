// Scores the detected source and destination, by product, on log lines with known roles. An extra address in a role is an error.
// usage: node scripts/score-roles.mjs [SET.ndjson…] [-- COMMAND ARG…]
// A set has lines of {"vendor","raw","source"?,"destination"?}; the default is the sets in ../shared/corpus. COMMAND reads events and
// prints output in the format of `threatweave extract`; the default is `node dist/cli.js extract`.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const corpus = resolve(root, '../shared/corpus')
const given = process.argv.slice(2)
const split = given.includes('--') ? given.indexOf('--') : given.length
const named = given.slice(0, split)
const there = existsSync(corpus) ? readdirSync(corpus).filter((name) => name.endsWith('.ndjson')) : []
const sets = named.length > 0 ? named : there.map((name) => join(corpus, name))
const rest = given.slice(split + 1)
const [command, ...args] = rest.length > 0 ? rest : ['node', join(root, 'dist/cli.js'), 'extract']

const linesOf = (text) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
/** Normalises the spelling of an address. */
const plain = (value) => {
  try {
    return value.includes(':') ? new URL(`http://[${value}]`).hostname.slice(1, -1) : value.toLowerCase()
  } catch {
    return value
  }
}
const share = (right, all) => (all === 0 ? '-' : (right / all).toFixed(4))

for (const path of sets) {
  const rows = linesOf(readFileSync(path, 'utf8'))
  const input = `${rows.map(({ raw }) => raw).join('\n')}\n`
  const { stdout, status } = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 1 << 28 })
  if (status !== 0) throw new Error(`${command} ended with ${status}`)
  const answers = linesOf(stdout)
  if (answers.length !== rows.length) throw new Error(`${rows.length} events, ${answers.length} answers`)
  const products = new Map()
  for (const role of ['source', 'destination']) {
    const sum = { all: 0, wrong: 0, second: 0 }
    rows.forEach((row, at) => {
      if (!row[role]) return
      const found = answers[at].indicators.filter((one) => one.type === 'ip' && one.role === role)
      const wanted = plain(row[role])
      const isRight = answers[at].indicators.some((one) => one.role === role && plain(one.value) === wanted)
      const isSecond = isRight && found.some(({ value }) => plain(value) !== wanted)
      sum.all++
      if (!isRight) sum.wrong++
      if (isSecond) sum.second++
      if (isRight && !isSecond) return
      const product = products.get(row.vendor) ?? { wrong: 0, second: 0 }
      product[isRight ? 'second' : 'wrong']++
      products.set(row.vendor, product)
    })
    const strict = sum.all - sum.wrong - sum.second
    console.log(
      `${basename(path)} ${role}: right ${share(sum.all - sum.wrong, sum.all)} (${sum.wrong} wrong of ${sum.all}), ` +
        `alone in its role ${share(strict, sum.all)} (${sum.second} with a second address)`,
    )
  }
  const worst = [...products].sort(([, one], [, other]) => other.wrong + other.second - one.wrong - one.second)
  for (const [vendor, { wrong, second }] of worst.slice(0, Number(process.env.SHOW ?? 15)))
    console.log(`  ${vendor}: ${wrong} wrong, ${second} with a second address`)
}

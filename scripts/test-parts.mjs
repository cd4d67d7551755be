// Removes parts from a copy of the tree and checks that the rest compiles, lints and passes its unit tests.
// npm run test:parts [-- [NAME…] [--all] [--steps types,lint,tests] [-- FILTER…]]: by default all at once, then one drawn part.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const given = process.argv.slice(2)
const filtersAt = given.indexOf('--')
const filters = filtersAt < 0 ? [] : given.slice(filtersAt + 1)
const own = filtersAt < 0 ? given : given.slice(0, filtersAt)
const stepsAt = own.indexOf('--steps')
const steps = new Set((stepsAt < 0 ? 'types,lint,tests' : (own[stepsAt + 1] ?? '')).split(','))
const names = own.filter((word, place) => !word.startsWith('--') && (stepsAt < 0 || place !== stepsAt + 1))

const all = readdirSync(join(root, 'src/parts')).toSorted()
const unknown = names.filter((name) => !all.includes(name))
if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}; there are ${all.join(', ')}`)
const drawn = all[Math.floor(Math.random() * all.length)]
const rounds = names.length > 0 ? names.map((name) => [name]) : own.includes('--all') ? [all] : [all, [drawn]]

/** These cover the whole tree, for example that every setting, command and schema is documented. */
const ofTheWhole = ['test/unit/docs', 'test/unit/schemas/', 'test/unit/deploy/']
/** Some exports of the core are used only by parts. */
const withoutParts = '^(?!.*exports only what another file of src uses)'

const isCode = (file) => /\.[cm]?[jt]s$/.test(file)
const isUnitTest = (file) => file.startsWith('test/unit/') && !ofTheWhole.some((name) => file.startsWith(name))

/** The tracked files that a file imports. */
const importsOf = (folder, file) =>
  [...readFileSync(join(folder, file), 'utf8').matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*)'(\.[^']+)'/g)].map(
    ([, specifier]) => relative(folder, resolve(folder, dirname(file), specifier)).replace(/(?<!\.d)\.js$/, '.ts'),
  )

const takeOut = (parts) => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-parts-'))
  const isGone = (file) =>
    parts.some(
      (name) =>
        new RegExp(`^(?:src|test/[^/]+)/parts/${name}/`).test(file) ||
        file === `docs/${name}.md` ||
        file.startsWith(`schemas/${name}.`),
    )
  const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
    .split('\n')
    .filter((file) => file !== '' && file !== 'node_modules' && existsSync(join(root, file)))
  const kept = tracked.filter((file) => !isGone(file) && !ofTheWhole.some((name) => file.startsWith(name)))
  for (const file of kept) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(root, file), join(folder, file))
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const list = join(folder, 'src/app/parts.ts')
  let text = readFileSync(list, 'utf8')
  for (const name of parts) {
    const [line, variable] =
      new RegExp(`^import \\{ (\\w+) \\} from '../parts/${name}/part.js'\\n`, 'm').exec(text) ?? []
    if (line === undefined) throw new Error(`src/app/parts.ts does not list ${name}`)
    text = text.replace(line, '').replace(new RegExp(`(?<=[[,]\\s*)${variable}(?:,\\s*|(?=\\s*\\]))`), '')
  }
  writeFileSync(list, text)
  // Integration and program tests that use a removed part are removed too. A unit test belongs either to a part or to the core.
  const gone = new Set(tracked.filter(isGone))
  const lost = []
  for (let found = true; found;) {
    found = false
    for (const file of kept)
      if (
        /^(?:test|bench)\//.test(file) &&
        isCode(file) &&
        !gone.has(file) &&
        importsOf(folder, file).some((to) => gone.has(to))
      ) {
        gone.add(file)
        rmSync(join(folder, file))
        if (isUnitTest(file)) lost.push(file)
        found = true
      }
  }
  return { folder, lost }
}

const run = (folder, what, args) => {
  const began = Date.now()
  const { status } = spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' })
  console.log(`  ${what}: ${status === 0 ? 'passed' : 'FAILED'} after ${Math.round((Date.now() - began) / 1000)} s`)
  return status === 0
}

const results = rounds.map((parts) => {
  console.log(`without ${parts.join(', ')}`)
  const { folder, lost } = takeOut(parts)
  try {
    for (const file of lost) console.log(`  ${file} tests the core with a part`)
    const commands = [
      ['types', ['node_modules/typescript/bin/tsc', '--noEmit', '--incremental', 'false']],
      ['lint', ['node_modules/eslint/bin/eslint.js', 'src']],
      ['tests', ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '-t', withoutParts, ...filters]],
    ]
    const wrong = commands.filter(([name, args]) => steps.has(name) && !run(folder, name, args)).map(([name]) => name)
    return { parts, wrong: lost.length > 0 ? ['unit tests that need it', ...wrong] : wrong }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

for (const { parts, wrong } of results)
  console.log(`without ${parts.join(', ')}: ${wrong.length === 0 ? 'passed' : `FAILED: ${wrong.join(', ')}`}`)
process.exitCode = results.every(({ wrong }) => wrong.length === 0) ? 0 : 1

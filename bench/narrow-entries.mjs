// Compares feeds of a million host:port or URL entries with plain entries and with an older revision: load, memory and CPU.
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const million = 1_000_000
const events = 3_000
/** The first two rounds are warm-up; the median of the others counts. */
const rounds = 7
const warmUps = 2
const here = fileURLToPath(import.meta.url)
const root = resolve(import.meta.dirname, '..')

/** Distinct addresses spread over 16.0.0.0 to 95.255.255.255. */
const addressOf = (n) => {
  const at = Math.imul(n, 0x9e3779b1) >>> 0
  return `${16 + ((at >>> 24) % 80)}.${(at >>> 16) & 255}.${(at >>> 8) & 255}.${at & 255}`
}
const flow = (n, port) =>
  JSON.stringify({
    'source.ip': '10.0.0.5',
    'source.port': 50_122,
    'destination.ip': addressOf(n),
    'destination.port': port,
  })
const visit = (n, path) => JSON.stringify({ 'source.ip': '10.0.0.5', 'url.full': `https://h${n}.example.com${path}` })

/** An entry, an event that matches it, and an event that matches no entry. */
const kinds = {
  addresses: { entry: addressOf, listed: (n) => flow(n, 443), other: (n) => flow(n + million, 443) },
  'addresses with a port': {
    entry: (n) => `${addressOf(n)}:443`,
    listed: (n) => flow(n, 443),
    other: (n) => flow(n + million, 443),
  },
  names: { entry: (n) => `h${n}.example.com`, listed: (n) => visit(n, '/x'), other: (n) => visit(n + million, '/x') },
  URLs: {
    entry: (n) => `https://h${n}.example.com/a/b${n % 97}.sh`,
    listed: (n) => visit(n, `/a/b${n % 97}.sh?id=7`),
    other: (n) => visit(n + million, '/a/b.sh'),
  },
}

const write = (path, entry) => {
  writeFileSync(path, '')
  for (let n = 0; n < million; n += 10_000)
    appendFileSync(path, `${Array.from({ length: 10_000 }, (_, at) => entry(n + at)).join('\n')}\n`)
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

/** Runs in its own process, so that compiled code and memory do not affect the next. */
const measureOne = async (dist, kind, path) => {
  const { createEnricher } = await import(pathToFileURL(join(dist, 'index.js')).href)
  const { listed, other } = kinds[kind]
  global.gc?.()
  const rss = process.memoryUsage.rss()
  const cpu = process.cpuUsage()
  const started = performance.now()
  const enricher = await createEnricher({
    settings: {
      feeds: [{ name: 'bench', path, level: 'malicious' }],
      memory: { path: 'none' },
      // The older revision does not know that some of these addresses are edges.
      intel: { safeguard: [] },
    },
  })
  const loadMs = performance.now() - started
  const { user, system } = process.cpuUsage(cpu)
  global.gc?.()
  const grownMiB = (process.memoryUsage.rss() - rss) / 2 ** 20
  const timed = async (make) => {
    const chunk = Array.from({ length: events }, (_, n) => make(n * 37))
    const results = []
    let verdicts = 0
    for (let round = 0; round < rounds; round++) {
      const before = process.cpuUsage()
      for (const event of chunk) if ((await enricher.enrich(event)).annotation.verdict === 'malicious') verdicts++
      const spent = process.cpuUsage(before)
      results.push((spent.user + spent.system) / events)
    }
    return { us: median(results.slice(warmUps)), malicious: verdicts / rounds / events }
  }
  const miss = await timed(other)
  const hit = await timed(listed)
  await enricher.close()
  return {
    loadMs,
    loadCpuMs: (user + system) / 1000,
    grownMiB,
    missUs: miss.us,
    hitUs: hit.us,
    found: hit.malicious,
    wrong: miss.malicious,
  }
}

/** Builds a revision in a worktree like `npm run build`, including the bundled feed thread. */
const buildBase = (revision, folder) => {
  const git = (...args) => execFileSync('git', ['-C', root, ...args], { stdio: 'ignore' })
  const node = (...args) => execFileSync(process.execPath, args, { cwd: folder, stdio: 'inherit' })
  git('worktree', 'add', '--detach', folder, revision)
  const remove = () => git('worktree', 'remove', '--force', folder)
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    node(join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json')
    node('scripts/bundle.mjs')
  } catch (error) {
    remove()
    throw error
  }
  return { dist: join(folder, 'dist'), remove }
}

/** `THREATWEAVE_BENCH_BASE`: the revision to compare with. */
export const run = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-narrow-'))
  const revision = process.env.THREATWEAVE_BENCH_BASE
  const base = revision ? buildBase(revision, join(folder, 'base')) : undefined
  const builds = [...(base ? [[`before (${revision})`, base.dist]] : []), ['now', join(root, 'dist')]]
  try {
    for (const [kind, { entry }] of Object.entries(kinds)) {
      const path = join(folder, 'feed.txt')
      write(path, entry)
      for (const [name, dist] of builds) {
        const { stdout, status, stderr } = spawnSync(process.execPath, ['--expose-gc', here, dist, kind, path], {
          encoding: 'utf8',
        })
        if (status !== 0) throw new Error(stderr)
        const { loadMs, loadCpuMs, grownMiB, missUs, hitUs, found, wrong } = JSON.parse(stdout)
        console.log(
          `  1 M ${kind.padEnd(22)} ${name.padEnd(20)} load ${(loadMs / 1000).toFixed(2)} s (${(loadCpuMs / 1000).toFixed(2)} s of processor time), ` +
            `${grownMiB.toFixed(0).padStart(4)} MiB, per event ${missUs.toFixed(1)} µs not listed, ${hitUs.toFixed(1)} µs listed ` +
            `(${(found * 100).toFixed(0)} % malicious, ${(wrong * 100).toFixed(0)} % of the others)`,
        )
      }
    }
  } finally {
    base?.remove()
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === here) {
  const [dist, kind, path] = process.argv.slice(2)
  process.stdout.write(JSON.stringify(await measureOne(dist, kind, path)))
}

// Measures feeds of a million entries: load, swap, memory and lookup.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const million = 1_000_000
const pollMs = 0

/** Returns the same numbers in every run. */
const createRandom = () => {
  let state = 123_456_789
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>>= 0)
  }
}

/** Outside all special ranges: 16.0.0.0 to 95.255.255.255 and 2400::/12. */
const kinds = {
  'IPv4 addresses': (random) => {
    const bits = random()
    return `${16 + ((bits >>> 24) % 80)}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`
  },
  'IPv6 addresses': (random) => {
    const group = () => (random() & 0xffff).toString(16)
    return `240${(random() & 15).toString(16)}:${group()}:${group()}:${group()}:${group()}:${group()}:${group()}:${group()}`
  },
  names: (random) => `h${random().toString(36)}.${(random() % 100_000).toString(36)}.example.com`,
}

const schedule = `/proc/self/task/${process.pid}/schedstat`
/** CPU time of this thread where the system reports it, so that other work on the machine does not count. */
const threadMs = existsSync(schedule)
  ? () => Number(readFileSync(schedule, 'utf8').split(' ')[0]) / 1e6
  : () => performance.now()

/** Returns the longest turn of the event loop during the work. */
const longestTurn = async (work) => {
  let longest = 0
  let last = threadMs()
  let isDone = false
  const turn = () => {
    const now = threadMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isDone) setTimeout(turn, 1)
  }
  turn()
  await work()
  turn()
  isDone = true
  return longest
}

const lookupNs = (match, indicators) => {
  let found = 0
  const rounds = []
  for (let round = 0; round < 12; round++) {
    const start = process.cpuUsage()
    for (const indicator of indicators) if (match(indicator, 1)) found++
    const { user, system } = process.cpuUsage(start)
    rounds.push(((user + system) * 1000) / indicators.length)
  }
  return { ns: Math.round(rounds.toSorted((a, b) => a - b)[6]), found: found / 12 }
}

export const run = async () => {
  const { openFeeds } = await import('../dist/feeds/open-feeds.js')
  const folder = mkdtempSync(join(tmpdir(), 'bench-feeds-'))
  try {
    for (const [kind, make] of Object.entries(kinds)) {
      const random = createRandom()
      const path = join(folder, 'feed.txt')
      const type = kind === 'names' ? 'domain' : 'ip'
      const listed = []
      // In chunks, because garbage collection of a million strings would disturb the measured swap.
      writeFileSync(path, '')
      for (let written = 0; written < million; written += 10_000) {
        const entries = Array.from({ length: 10_000 }, () => make(random))
        appendFileSync(path, `${entries.join('\n')}\n`)
        for (const value of entries.slice(0, 1_000)) listed.push({ type, value })
      }
      const settings = { name: 'bench', path, level: 'malicious', categories: [] }
      const start = performance.now()
      const before = process.cpuUsage()
      const feeds = await openFeeds([settings], { pollMs })
      const loadMs = performance.now() - start
      const { user, system } = process.cpuUsage(before)
      const held = await longestTurn(() => feeds.reload())
      const [status] = feeds.status()
      const others = Array.from({ length: 100_000 }, () => ({ type, value: make(random) }))
      const hit = lookupNs(feeds.match, listed)
      const miss = lookupNs(feeds.match, others)
      await feeds.close()
      console.log(
        `  1 M ${kind.padEnd(14)}  load ${(loadMs / 1000).toFixed(2)} s (${((user + system) / 1e6).toFixed(2)} s of processor time), ${(status.bytes / 2 ** 20).toFixed(1)} MiB in use, ` +
          `main thread held by a swap ${held.toFixed(1)} ms, ` +
          `lookup ${miss.ns} ns not listed, ${hit.ns} ns listed`,
      )
      if (hit.found < listed.length)
        throw new Error(`only ${hit.found} of ${listed.length} were found: ${JSON.stringify(status)}`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

// Measures the first read of a TAXII collection of a million indicators: time, memory and event loop delays.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const schedule = `/proc/self/task/${process.pid}/schedstat`
/** CPU time of this thread where the system reports it, so that other work on the machine does not count. */
const threadMs = existsSync(schedule)
  ? () => Number(readFileSync(schedule, 'utf8').split(' ')[0]) / 1e6
  : () => performance.now()

/** Records the turns of the event loop until the returned function is called. */
const watchTurns = () => {
  const turns = []
  let last = threadMs()
  const timer = setInterval(() => {
    const now = threadMs()
    turns.push(now - last)
    last = now
  }, 1)
  return () => {
    clearInterval(timer)
    const sorted = turns.toSorted((a, b) => a - b)
    const at = (share) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)
    return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, p99.9 ${at(0.999)} ms, longest ${(sorted.at(-1) ?? 0).toFixed(1)} ms`
  }
}

const mib = (bytes) => `${Math.round(bytes / 2 ** 20)} MiB`

export const run = async () => {
  const { openFeeds } = await import('../dist/feeds/open-feeds.js')
  const { createDownload } = await import('../dist/provider/download.js')
  const folder = mkdtempSync(join(tmpdir(), 'bench-taxii-'))
  const server = fork(new URL('./taxii-server.mjs', import.meta.url))
  try {
    const [port] = await once(server, 'message')
    const taxii = `http://127.0.0.1:${port}/api/collections/1/`
    const settings = { name: 'bench', taxii, level: 'malicious', categories: [] }
    const before = process.memoryUsage().rss
    const start = performance.now()
    let fetched = start
    let endOfFetch = watchTurns()
    let turnsOfFetch
    let turnsOfLoad
    let peakOfFetch = 0
    const emit = ({ event, objects, ms, message }) => {
      if (event === 'feed_page_fetched' && objects === 1_000_000) {
        fetched = performance.now()
        turnsOfFetch = endOfFetch()
        peakOfFetch = process.resourceUsage().maxRSS * 1024
        endOfFetch = watchTurns()
      }
      if (event === 'feed_loaded') turnsOfLoad = endOfFetch()
      if (message !== undefined) console.log(`  ${event}: ${message}`)
    }
    const feeds = await openFeeds([settings], {
      pollMs: 0,
      startWaitMs: Infinity,
      fetching: { folder, download: createDownload({}) },
      emit,
    })
    const loaded = performance.now()
    const [{ addresses, names, bytes, skipped }] = feeds.status()
    await feeds.close()
    const { maxRSS } = process.resourceUsage()
    console.log(`  ${addresses} addresses, ${names} names, ${mib(bytes)} in use; skipped ${JSON.stringify(skipped)}`)
    console.log(
      `  pages  ${((fetched - start) / 1000).toFixed(1)} s; turns of the event loop: ${turnsOfFetch}; peak ${mib(peakOfFetch)} (${mib(before)} before)`,
    )
    console.log(
      `  load   ${((loaded - fetched) / 1000).toFixed(1)} s; turns of the event loop: ${turnsOfLoad}; peak ${mib(maxRSS * 1024)}`,
    )
  } finally {
    server.disconnect()
    rmSync(folder, { recursive: true, force: true })
  }
}

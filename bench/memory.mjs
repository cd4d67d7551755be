// Measures the memory of `run` over minutes: a changing feed of a million entries, two million addresses and rules.
import { spawn } from 'node:child_process'
import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressOf, environment, eventFrom, openSender, startProvider, warmEvent } from './kafka-stage.mjs'
import { openStage } from './open-stage.mjs'

const feedEntries = 1_000_000
const distinct = 2_000_000
const defaultMinutes = 30
const partitions = 6
const ticksPerSecond = 10
/** Enough for data being read, while a long run does not fill the disk. */
const retention = [
  { name: 'retention.bytes', value: '33554432' },
  { name: 'segment.bytes', value: '8388608' },
]

/** Every other event has an address that was never seen. */
const eventOf = (n) => (n % 2 === 0 ? eventFrom(n, addressOf((n / 2) % distinct)) : warmEvent(n))

/** New entries each time, some of which occur in events. Replaces the whole file, as publishers of lists do. */
const writeFeed = async (path, version) => {
  let state = 123_456_789 + version
  const random = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>>= 0)
  }
  const entry = () => {
    const bits = random()
    return `${16 + ((bits >>> 24) % 80)}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`
  }
  writeFileSync(`${path}.new`, '')
  for (let written = 0; written < feedEntries; written += 10_000) {
    appendFileSync(`${path}.new`, `${Array.from({ length: 10_000 }, entry).join('\n')}\n`)
    await sleep(0)
  }
  renameSync(`${path}.new`, path)
}

export const run = async (minutes = defaultMinutes) => {
  const { broker, folder, kafka, admin, close } = await openStage()
  const provider = await startProvider({ delayMs: 5 })
  const topics = { input: 'memory-in', output: 'memory-out', dead: 'memory-dead', alerts: 'memory-alerts' }
  await admin.createTopics({
    topics: Object.values(topics).map((topic) => ({ topic, numPartitions: partitions, configEntries: retention })),
  })
  const feed = join(folder, 'feed.txt')
  await writeFeed(feed, 0)
  const opsPort = 20_000 + Math.floor(Math.random() * 20_000)
  const cli = new URL('../dist/cli.js', import.meta.url).pathname
  // Passes the bench's Node options on to the program.
  const child = spawn(process.execPath, [...process.execArgv, cli, 'run'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: folder,
    env: environment(folder, {
      THREATWEAVE_LOG_LEVEL: 'info',
      THREATWEAVE_OPS_PORT: String(opsPort),
      THREATWEAVE_FEEDS: JSON.stringify([{ name: 'million', path: feed }]),
      THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
      THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
      THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '32',
      THREATWEAVE_KAFKA_BROKERS: broker,
      THREATWEAVE_KAFKA_INPUT_TOPICS: topics.input,
      THREATWEAVE_KAFKA_INPUT_START: 'earliest',
      THREATWEAVE_KAFKA_OUTPUT_TOPIC: topics.output,
      THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: topics.dead,
      THREATWEAVE_KAFKA_ALERTS_TOPIC: topics.alerts,
    }),
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const loads = []
  let hasJoined = false
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (process.env.BENCH_LOG) console.error(line)
    if (line.includes('"feed_loaded"')) loads.push(JSON.parse(line).ms)
    hasJoined ||= line.includes('group_joined')
  })
  try {
    while (!hasJoined) {
      if (child.exitCode !== null) throw new Error(`run ended with exit code ${child.exitCode}`)
      await sleep(100)
    }
    const stop = new AbortController()
    const sent = produce(kafka, topics.input, (2 * distinct) / (minutes * 60), stop.signal)
    const rows = []
    const began = performance.now()
    console.log(
      '| minute | events | calls | resident | heap | buffers | open files | loop delay at most | reload took |',
    )
    console.log('|---|---|---|---|---|---|---|---|---|')
    for (let minute = 1; minute <= minutes; minute++) {
      await writeFeed(feed, minute)
      await sleep(began + minute * 60_000 - performance.now())
      const row = { ...(await readMetrics(opsPort)), calls: (await provider.asked()).calls }
      rows.push(row)
      const cells = [minute, row.events, row.calls, mb(row.rss), mb(row.heap), mb(row.buffers), row.files]
      console.log(
        `| ${[...cells, `${Math.round(row.delayMs)} ms`, loads.map((ms) => `${ms} ms`).join(', ')].join(' | ')} |`,
      )
      loads.length = 0
    }
    stop.abort()
    await sent
    const last = rows.slice(Math.floor(rows.length / 2))
    const most = (list, key) => Math.max(...list.map((row) => row[key]))
    console.log(
      `\nresident at most ${mb(most(rows, 'rss'))}; in the second half ${mb(Math.min(...last.map(({ rss }) => rss)))} to ${mb(most(last, 'rss'))}; ` +
        `loop delay at most ${Math.round(most(rows.slice(1), 'delayMs'))} ms after the first minute`,
    )
  } finally {
    child.kill('SIGTERM')
    await ended
    await provider.stop()
    await close()
  }
}

const produce = async (kafka, topic, perSecond, signal) => {
  const sender = await openSender(kafka, topic, eventOf, { over: partitions })
  const began = performance.now()
  for (let sent = 0; !signal.aborted; await sleep(1000 / ticksPerSecond)) {
    const due = Math.floor(((performance.now() - began) * perSecond) / 1000)
    await sender.send(sent, due)
    sent = due
  }
  await sender.close()
}

/** The loop delay covers the time since the previous reading. */
const readMetrics = async (port) => {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const sum = (name) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, 'gm'))].reduce(
      (all, [, value]) => all + Number(value),
      0,
    )
  return {
    events: sum('threatweave_events_total'),
    rss: sum('process_resident_memory_bytes'),
    heap: sum('nodejs_heap_size_used_bytes'),
    buffers: sum('nodejs_external_memory_bytes'),
    files: sum('process_open_fds'),
    delayMs: sum('nodejs_eventloop_lag_max_seconds') * 1000,
  }
}

const mb = (bytes) => `${(bytes / 1_048_576).toFixed(0)} MB`

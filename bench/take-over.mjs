// Measures how long events wait when a worker is killed and another takes over, with a million counted indicators in the state topic.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressOf, environment, openSender } from './kafka-stage.mjs'
import { openStage } from './open-stage.mjs'

const partitions = 50
const indicators = Number(process.env.BENCH_EVENTS ?? 1_000_000)
const sessionMs = 6_000
/** The longest pause between two rounds of writing counts. */
const quietMs = 35_000
const eventOf = (n) =>
  `{"source":{"ip":"10.0.${(n >> 8) & 3}.${n & 255}"},"destination":{"ip":"${addressOf(n)}"},"event":{"action":"allowed"}}`

export const run = async () => {
  const stage = await openStage()
  try {
    for (const delivery of ['exactly-once', 'at-least-once']) await takeOver(stage, delivery)
  } finally {
    await stage.close()
  }
}

const takeOver = async ({ broker, folder, kafka, admin }, delivery) => {
  const id = `take-over-${delivery}`
  const topics = {
    input: `${id}-in`,
    output: `${id}-out`,
    dead: `${id}-dead`,
    alerts: `${id}-alerts`,
    state: `${id}-state`,
  }
  const compacted = [{ name: 'cleanup.policy', value: 'compact,delete' }]
  await admin.createTopics({
    topics: Object.entries(topics).map(([role, topic]) => ({
      topic,
      numPartitions: role === 'dead' || role === 'alerts' ? 1 : partitions,
      configEntries: role === 'state' ? compacted : [],
    })),
  })
  for (const topic of Object.values(topics))
    while (!(await admin.fetchTopicOffsets(topic).catch(() => undefined))) await sleep(200)
  const feed = join(folder, 'feed.txt')
  writeFileSync(feed, '198.51.100.1\n')
  const settings = environment(folder, {
    THREATWEAVE_INTEL_SERVICE_API_KEY: '',
    THREATWEAVE_MEMORY_PATH: 'none',
    THREATWEAVE_OPS_ENABLED: 'false',
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'listed', path: feed }]),
    THREATWEAVE_KAFKA_DELIVERY: delivery,
    THREATWEAVE_KAFKA_BROKERS: broker,
    THREATWEAVE_KAFKA_GROUP_ID: id,
    THREATWEAVE_KAFKA_INPUT_TOPICS: topics.input,
    THREATWEAVE_KAFKA_INPUT_START: 'earliest',
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: topics.output,
    THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: topics.dead,
    THREATWEAVE_KAFKA_ALERTS_TOPIC: topics.alerts,
    THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: '',
    THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: topics.state,
    THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: String(sessionMs),
  })
  const sender = await openSender(kafka, topics.input, eventOf, { over: partitions })
  await sender.send(0, indicators)

  const former = startWorker(folder, { ...settings, THREATWEAVE_LOG_LEVEL: 'warn' })
  await untilQuiet(admin, topics, former)
  let isOver = false
  const live = (async () => {
    // One event per partition.
    for (let n = 0; !isOver; n += 16 * partitions) {
      await sender.send(n, n + 16 * partitions)
      await sleep(200)
    }
  })()
  await sleep(2_000)
  const killedAt = Date.now()
  former.child.kill('SIGKILL')
  await former.ended

  const next = startWorker(folder, { ...settings, THREATWEAVE_LOG_LEVEL: 'debug' })
  const at = { joined: 0, claimed: new Map(), delivered: new Map(), counted: new Map() }
  let known = 0
  next.lines.on('line', (line) => {
    if (process.env.BENCH_LOG) console.error(line)
    if (!line.startsWith('{')) return
    const { event, time, partition, partitions: assigned, indicators: restored } = JSON.parse(line)
    const ms = Date.parse(time)
    if (event === 'group_joined' && assigned > 0) at.joined = ms
    if (event === 'partition_claimed') at.claimed.set(partition, ms)
    if (event === 'chunk_delivered' && !at.delivered.has(partition)) at.delivered.set(partition, ms)
    if (event !== 'counts_restored') return
    at.counted.set(partition, ms)
    known += restored
  })
  while (at.delivered.size < partitions || at.counted.size < partitions) {
    next.stillRuns()
    await sleep(200)
  }
  isOver = true
  await live
  await sender.close()
  next.child.kill('SIGTERM')
  await next.ended

  const delays = (some, since) => {
    const all = [...some].map(([partition, ms]) => ms - since(partition)).toSorted((one, other) => one - other)
    return `median ${all[all.length >> 1]} ms, at most ${all.at(-1)} ms`
  }
  console.log(`\n${delivery}, ${partitions} partitions, ${known} counted indicators`)
  console.log(`  from the kill to the join: ${at.joined - killedAt} ms (session timeout ${sessionMs} ms)`)
  if (at.claimed.size > 0) {
    console.log(`  from the join to the claim: ${delays(at.claimed, () => at.joined)}`)
    console.log(
      `  from the claim to the first delivery: ${delays(at.delivered, (partition) => at.claimed.get(partition))}`,
    )
  }
  console.log(`  from the join to the first delivery: ${delays(at.delivered, () => at.joined)}`)
  console.log(`  from the join until the counts are known: ${delays(at.counted, () => at.joined)}`)
}

const startWorker = (folder, env) => {
  const cli = new URL('../dist/cli.js', import.meta.url).pathname
  const child = spawn(process.execPath, [cli, 'run'], { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder, env })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const lines = createInterface({ input: child.stderr })
  let last = ''
  lines.on('line', (line) => (last = line))
  const stillRuns = () => {
    if (child.exitCode !== null) throw new Error(`run ended with exit code ${child.exitCode}: ${last}`)
  }
  return { child, ended, lines, stillRuns }
}

/** Waits until everything is delivered and counted, and the counts are written. */
const untilQuiet = async (admin, { output, state }, { stillRuns }) => {
  const endOf = async (topic) => (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0)
  let last = -1
  for (let since = Date.now(); Date.now() - since < quietMs; await sleep(1_000)) {
    stillRuns()
    const delivered = await endOf(output)
    const now = delivered < indicators ? -1 : delivered + (await endOf(state))
    if (now < 0 || now !== last) since = Date.now()
    last = now
  }
}

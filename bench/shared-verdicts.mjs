// Measures the verdicts topic: start time of a fleet with empty disks, CPU time per verdict for writers and readers, and throughput.
import { fork, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePorts } from '../dist/parts/demo/broker.js'
import { writeVerdict } from '../dist/verdicts/verdict-record.js'
import { measure } from './kafka-measure.mjs'
import { copyOfMemory, environment, fill, fillMemory, makeTopic, startProvider, warmEvent } from './kafka-stage.mjs'
import { openStage } from './open-stage.mjs'
import { addressOf, indicatorOf, sharedFinding } from './shared-findings.mjs'

const key = 'a key for the bench of forty letters, or so'
const count = Number(process.env.BENCH_EVENTS ?? 200_000)
const sizes = (process.env.BENCH_VERDICTS ?? '20000,1000000').split(',').map(Number)
const only = new RegExp(process.env.BENCH_ROWS ?? '')
const here = (path) => fileURLToPath(new URL(path, import.meta.url))

export const run = async () => {
  const stage = await openStage()
  try {
    if (only.test('cost')) await costs(stage)
    for (const size of sizes) if (only.test('start')) await starts(stage, size)
    if (only.test('warm')) await throughput(stage)
  } finally {
    await stage.close()
  }
}

const newTopic = async ({ admin, kafka }, verdicts) => {
  const topic = `verdicts-${Date.now().toString(36)}`
  const configEntries = [
    { name: 'message.timestamp.type', value: 'LogAppendTime' },
    { name: 'retention.ms', value: String(30 * 86_400_000) },
  ]
  await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }], waitForLeaders: false })
  await sleep(500)
  return { topic, ...(await fillVerdicts(kafka, topic, 0, verdicts)) }
}

const fillVerdicts = async (kafka, topic, from, to) => {
  const producer = kafka.producer({ createPartitioner: () => () => 0 })
  await producer.connect()
  let bytes = 0
  // The largest batch that a writer sends.
  for (let first = from; first < to; first += 500) {
    const messages = Array.from({ length: Math.min(500, to - first) }, (_, nth) => {
      const verdict = {
        indicator: indicatorOf(first + nth),
        finding: sharedFinding(first + nth),
        by: 'threatweave@bench',
      }
      const record = writeVerdict({ topic, partitions: 1, key }, verdict)
      bytes += record.key.length + record.value.length + record.headers[0][0].length + record.headers[0][1].length
      return record
    })
    await producer.send({ topic, messages })
  }
  await producer.disconnect()
  return { bytes: bytes / (to - from) }
}

const start = (options) => {
  const child = fork(here('verdicts-process.mjs'), [JSON.stringify(options)])
  return { told: () => new Promise((resolve) => child.once('message', resolve)), end: () => child.kill('SIGKILL') }
}

const costs = async (stage) => {
  const verdicts = 20_000
  const { topic, bytes } = await newTopic(stage, verdicts)
  const options = { broker: stage.broker, topic, key }
  const alone = async (more) => {
    const process = start({ ...options, ...more })
    const result = await process.told()
    process.end()
    return result
  }
  const restored = await alone({ mode: 'restore', count: verdicts })
  const follower = start({ ...options, mode: 'follow', count: verdicts })
  await follower.told()
  const following = follower.told()
  const batches = await alone({ mode: 'append', from: 100_000, count: verdicts })
  const followed = await following
  follower.end()
  const single = await alone({ mode: 'append', from: 200_000, count: 2_000, atOnce: 1 })
  console.log(`\na verdict is ${Math.round(bytes)} bytes: key, value and signature\n`)
  console.log('| who | verdicts | CPU µs each | bytes on the wire each | each second |')
  console.log('|---|---|---|---|---|')
  for (const [who, of, { cpuUs, bytes: wire, seconds }] of [
    ['appends, hundreds at a time', verdicts, batches],
    ['appends, one at a time', 2_000, single],
    ['reads what comes', verdicts, followed],
    ['reads what was there', verdicts, restored],
  ])
    console.log(`| ${who} | ${of} | ${cpuUs.toFixed(0)} | ${wire.toFixed(0)} | ${Math.round(of / seconds)} |`)
}

/** Resolves with the time of each log event in seconds. */
const launch = (stage, args, settings) => {
  const began = performance.now()
  const child = spawn(process.execPath, [here('../dist/cli.js'), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: stage.folder,
    env: environment(mkdtempSync(join(stage.folder, 'home-')), { THREATWEAVE_LOG_LEVEL: 'info', ...settings }),
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const seen = new Map()
  let said = ''
  createInterface(child.stderr).on('line', (line) => {
    said = line
    const { event, ...more } = line.startsWith('{') ? JSON.parse(line) : {}
    if (event && !seen.has(event)) seen.set(event, { ...more, seconds: (performance.now() - began) / 1000 })
  })
  const until = async (event) => {
    while (!seen.has(event)) {
      if (child.exitCode !== null) throw new Error(`${args[0]} ended with exit code ${child.exitCode}: ${said}`)
      await sleep(20)
    }
    return seen.get(event)
  }
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { until, stop }
}

const starts = async (stage, verdicts) => {
  const { topic } = await newTopic(stage, verdicts)
  const provider = await startProvider({})
  const id = Date.now().toString(36)
  const names = { input: `bench-in-${id}`, output: `bench-out-${id}`, dead: `bench-dead-${id}` }
  for (const name of Object.values(names)) await makeTopic(stage.admin, name)
  const events = 20_000
  const eventOf = (n) => `{"source":{"ip":"${addressOf(Math.floor((n * verdicts) / events))}"}}`
  await fill(stage.kafka, names.input, eventOf, events)
  const ports = await freePorts(2)
  const shared = {
    THREATWEAVE_KAFKA_BROKERS: stage.broker,
    THREATWEAVE_KAFKA_VERDICTS_TOPIC: topic,
    THREATWEAVE_KAFKA_VERDICTS_KEY: key,
    THREATWEAVE_MEMORY_MAX_ENTRIES: String(Math.max(100_000, 2 * verdicts)),
    THREATWEAVE_SERVE_API_KEY: 'key-of-the-workers',
    THREATWEAVE_SERVE_OPS_PORT: '0',
  }
  const gateways = ports.map((port) =>
    launch(
      stage,
      ['serve', '--port', String(port), '--state', join(stage.folder, `state-${port}`), '--upstream', provider.url],
      shared,
    ),
  )
  const workers = [0, 1, 2, 3].map((nth) =>
    launch(stage, ['run'], {
      ...shared,
      THREATWEAVE_INTEL_SERVICE_BASE_URL: `http://127.0.0.1:${ports[nth % 2]}`,
      THREATWEAVE_INTEL_SERVICE_API_KEY: 'key-of-the-workers',
      THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
      THREATWEAVE_KAFKA_INPUT_START: 'earliest',
      THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
      THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
      THREATWEAVE_KAFKA_GROUP_ID: `bench-${id}`,
    }),
  )
  const all = [...gateways, ...workers]
  const last = async (processes, event) =>
    Math.max(...(await Promise.all(processes.map((one) => one.until(event)))).map(({ seconds }) => seconds))
  const serving = { gateways: await last(gateways, 'started'), workers: await last(workers, 'group_joined') }
  const known = await last(all, 'verdicts_restored')
  const learnt = (await Promise.all(all.map((one) => one.until('verdicts_restored')))).map((one) => one.verdicts)
  for (;;) {
    const ends = await stage.admin.fetchTopicOffsets(names.output)
    if (ends.reduce((sum, { high }) => sum + Number(high), 0) >= events) break
    await sleep(200)
  }
  const { calls } = await provider.asked()
  await Promise.all(all.map((one) => one.stop()))
  await provider.stop()
  await stage.admin.deleteTopics({ topics: [topic, ...Object.values(names)] })
  console.log(`
2 gateways and 4 workers started at once on empty disks with ${verdicts} verdicts on the topic:
gateways serve after ${serving.gateways.toFixed(1)} s, workers after ${serving.workers.toFixed(1)} s, all of them know everything after ${known.toFixed(1)} s (at least ${Math.min(...learnt)} each);
${calls} calls to the provider for ${events} events about known addresses`)
}

const throughput = async (stage) => {
  const { topic } = await newTopic(stage, 20_000)
  const id = Date.now().toString(36)
  const input = `bench-warm-${id}`
  await makeTopic(stage.admin, input)
  await fill(stage.kafka, input, warmEvent, count)
  const memory = await fillMemory(stage.folder)
  const results = { without: [], with: [] }
  let next = 300_000
  const rows = ['without', 'with', 'with', 'without', 'without', 'with', 'with', 'without']
  for (const [index, kind] of rows.entries()) {
    const names = {
      output: `bench-out-${id}-${index}`,
      dead: `bench-dead-${id}-${index}`,
      groupId: `bench-${id}-${index}`,
    }
    await makeTopic(stage.admin, names.output)
    await makeTopic(stage.admin, names.dead)
    const provider = await startProvider({})
    const settings = {
      THREATWEAVE_MEMORY_PATH: copyOfMemory(memory.path, `${id}-${index}`),
      THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
      THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
      ...(kind === 'with' && { THREATWEAVE_KAFKA_VERDICTS_TOPIC: topic, THREATWEAVE_KAFKA_VERDICTS_KEY: key }),
    }
    // The rate of ten providers that each answer one call at a time.
    const others = setInterval(() => void fillVerdicts(stage.kafka, topic, next, (next += 20)), 1_000)
    try {
      const measuring = { mode: 'at-least-once', workers: 1, count, broker: stage.broker, input, folder: stage.folder }
      const result = await measure(stage.admin, { ...measuring, ...names, settings })
      results[kind].push(result)
      console.error(`  ${kind}: ${Math.round(result.rate)} events/s, ${result.cpu.toFixed(1)} µs`)
    } finally {
      clearInterval(others)
      await provider.stop()
      await stage.admin.deleteTopics({ topics: [names.output, names.dead] })
    }
  }
  const median = (kind, of) => {
    const [, lower, upper] = results[kind].map((one) => one[of]).toSorted((a, b) => a - b)
    return (lower + upper) / 2
  }
  console.log(`
${count} events with a warm memory, others appending 20 verdicts a second (medians of ${results.with.length}):
with the topic ${Math.round(median('with', 'rate'))} events/s and ${median('with', 'cpu').toFixed(1)} µs CPU each, without ${Math.round(median('without', 'rate'))} and ${median('without', 'cpu').toFixed(1)};
${(median('with', 'rate') / median('without', 'rate')).toFixed(3)} of the rate, ${(median('without', 'cpu') / median('with', 'cpu')).toFixed(3)} by CPU`)
}

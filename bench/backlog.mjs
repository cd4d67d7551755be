// Measures `run` on a cold backlog: completeness, waiting time, and cost compared with a warm run.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { backlogEvent, readStatuses } from './backlog-stage.mjs'
import { copyOfMemory, environment, fill, fillGateway, fillMemory, makeTopic, startProvider } from './kafka-stage.mjs'
import { openStage } from './open-stage.mjs'

const distinct = 5_000
const backlog = Number(process.env.BENCH_EVENTS ?? 200_000)
const only = process.env.BENCH_ROWS
const cli = process.env.BENCH_CLI ?? new URL('../dist/cli.js', import.meta.url).pathname

const deliveries = ['at-least-once', 'exactly-once']
const crews = [1, 2]
const rows = [
  ...deliveries.flatMap((delivery) =>
    crews.flatMap((workers) => {
      const name = `${delivery}, ${workers === 1 ? 'one process' : `${workers} workers`}`
      const shared = { delivery, workers, delayMs: 5, concurrency: 32 }
      return [
        { ...shared, name: `${name}: warm`, isWarm: true },
        { ...shared, name: `${name}: cold, 32 calls at a time` },
        { ...shared, name: `${name}: cold, 8 calls at a time`, concurrency: 8 },
      ]
    }),
  ),
  { name: 'calls of 25 ms, 32 at a time', delivery: 'at-least-once', workers: 1, delayMs: 25, concurrency: 32 },
  {
    name: 'calls of 300 ms, one at a time',
    delivery: 'at-least-once',
    workers: 1,
    delayMs: 300,
    concurrency: 1,
    spread: 'zipf',
  },
  { name: 'long: warm', delivery: 'at-least-once', workers: 1, concurrency: 32, delayMs: 5, isWarm: true, times: 4 },
  {
    name: 'long: a provider that hangs',
    delivery: 'at-least-once',
    workers: 1,
    concurrency: 32,
    hangs: true,
    times: 4,
  },
]

export const run = async () => {
  const { broker, folder, kafka, admin, close } = await openStage()
  const id = Date.now().toString(36)
  const inputs = new Map()
  const inputOf = async ({ spread = 'uniform', times = 1 }) => {
    const topic = `backlog-${spread}-${times}-${id}`
    if (!inputs.has(topic)) {
      inputs.set(topic, backlog * times)
      await makeTopic(admin, topic)
      await fill(kafka, topic, backlogEvent(spread, distinct), backlog * times)
    }
    return topic
  }
  const wanted = rows.filter(({ name }) => !only || new RegExp(only).test(name))
  try {
    let memory
    if (wanted.some(({ isWarm }) => isWarm)) {
      memory = (await fillMemory(folder)).path
      if (wanted.some(({ isWarm, workers }) => isWarm && workers > 1))
        await fillGateway(kafka, admin, broker, folder, memory)
    }
    console.log('| run | seconds | of warm | complete | waited | calls | in flight | what is not complete |')
    console.log('|---|---|---|---|---|---|---|---|')
    let warm
    for (const [index, row] of wanted.entries()) {
      const input = await inputOf(row)
      const result = await play({ admin, kafka, broker, folder, memory, id: `${id}-${index}`, input }, row)
      if (row.isWarm) warm = result.seconds
      const cells = [
        row.name,
        result.seconds.toFixed(1),
        row.isWarm || !warm ? '' : (result.seconds / warm).toFixed(2),
        `${((100 * result.complete) / result.events).toFixed(2)} %`,
        `${result.waited} s`,
        result.calls,
        result.meanInFlight?.toFixed(1) ?? '',
        JSON.stringify(result.others),
      ]
      console.log(`| ${cells.join(' | ')} |`)
    }
  } finally {
    await close()
  }
}

const play = async ({ admin, kafka, broker, folder, memory, id, input }, row) => {
  const { delivery, workers, concurrency, delayMs = 0, hangs = false, isWarm = false, times = 1 } = row
  const names = { output: `out-${id}`, dead: `dead-${id}` }
  for (const topic of Object.values(names)) await makeTopic(admin, topic)
  const provider = await startProvider({ delayMs, hangs })
  const opsPort = 20_000 + Math.floor(Math.random() * 20_000)
  const profile = process.env.BENCH_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : []
  const child = spawn(process.execPath, [...profile, cli, 'run', '--workers', String(workers)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: folder,
    env: environment(folder, {
      THREATWEAVE_LOG_LEVEL: 'info',
      THREATWEAVE_OPS_PORT: String(opsPort),
      THREATWEAVE_MEMORY_PATH: isWarm ? copyOfMemory(memory, id) : join(folder, `cold-${id}`),
      THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
      THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
      THREATWEAVE_INTEL_SERVICE_CONCURRENCY: String(concurrency),
      THREATWEAVE_KAFKA_BROKERS: broker,
      THREATWEAVE_KAFKA_INPUT_TOPICS: input,
      THREATWEAVE_KAFKA_INPUT_START: 'earliest',
      THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
      THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
      THREATWEAVE_KAFKA_GROUP_ID: `backlog-${id}`,
      THREATWEAVE_KAFKA_DELIVERY: delivery,
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('THREATWEAVE_'))),
    }),
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  let joinedAt
  child.stderr.setEncoding('utf8').on('data', (text) => {
    if (process.env.BENCH_LOG) process.stderr.write(text)
    if (text.includes('group_joined')) joinedAt ??= performance.now()
  })
  try {
    // Transaction markers count as records too, at most a few in a thousand.
    for (let done = 0; done < backlog * times; await sleep(20)) {
      if (child.exitCode !== null) throw new Error(`run ended with exit code ${child.exitCode}`)
      done = (await admin.fetchTopicOffsets(names.output)).reduce((sum, { high }) => sum + Number(high), 0)
    }
    const seconds = (performance.now() - joinedAt) / 1000
    const waited = await waitedSeconds(opsPort, workers)
    const asked = await provider.asked()
    child.kill('SIGTERM')
    await ended
    return { seconds, waited, ...asked, ...(await readStatuses(kafka, names.output, backlog * times)) }
  } finally {
    if (child.exitCode === null) child.kill('SIGTERM')
    await ended
    await provider.stop()
    await admin.deleteTopics({ topics: Object.values(names) })
  }
}

/** From the metrics of each worker. */
const waitedSeconds = async (firstPort, workers) => {
  const all = []
  for (let worker = 0; worker < workers; worker++) {
    const text = await (await fetch(`http://127.0.0.1:${firstPort + worker}/metrics`)).text()
    all.push(Number(/^threatweave_wait_seconds_total (\S+)/m.exec(text)?.[1] ?? NaN).toFixed(2))
  }
  return all.join(' and ')
}

// `run` on a real broker, next to the raw kafkajs loop in the same run: events a second, CPU an event, memory.
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBroker } from '../dist/demo/broker.js'
import { Kafka, logLevel } from '../dist/kafka/mended-kafkajs.js'

const count = Number(process.env.BENCH_EVENTS ?? 200_000)
const partitions = 4
const here = (path) => new URL(path, import.meta.url).pathname

export const run = async () => {
  const broker = await startBroker({ env: process.env, say: (line) => console.error(line) })
  if ('missing' in broker) throw new Error(broker.missing)
  const kafka = new Kafka({ brokers: broker.plain.split(','), logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  try {
    const id = Date.now().toString(36)
    const input = `bench-in-${id}`
    await makeTopic(admin, input)
    const bytes = await fill(kafka, input)
    console.log(
      `${count} events of ${Math.round(bytes / count)} bytes on ${partitions} partitions, broker on the same machine\n`,
    )
    console.log('| loop | events/s | CPU µs an event | most memory of a worker | against raw |')
    console.log('|---|---|---|---|---|')
    let floor
    const rows = [
      ['raw kafkajs: parse, add a field, stringify', 'raw', 1],
      ['run, at least once', 'at-least-once', 1],
      ['run, exactly once', 'exactly-once', 1],
      ['run, at least once, 2 workers', 'at-least-once', 2],
      ['run, exactly once, 2 workers', 'exactly-once', 2],
      ['raw kafkajs again', 'raw', 1],
    ]
    for (const [index, [name, mode, workers]] of rows.entries()) {
      const names = {
        broker: broker.plain,
        input,
        output: `bench-out-${id}-${index}`,
        dead: `bench-dead-${id}-${index}`,
        groupId: `bench-${id}-${index}`,
      }
      await makeTopic(admin, names.output)
      await makeTopic(admin, names.dead)
      const result = await measure(admin, mode, workers, names)
      floor ??= result.rate
      console.log(
        `| ${name} | ${Math.round(result.rate)} | ${result.cpu.toFixed(1)} | ${Math.round(result.rss)} MB | ${(result.rate / floor).toFixed(2)} |`,
      )
      await admin.deleteTopics({ topics: [names.output, names.dead] })
    }
  } finally {
    await admin.disconnect()
    await broker.stop()
  }
}

const makeTopic = async (admin, topic) => {
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions }], waitForLeaders: false })
  await sleep(1_000)
}

const event = (n) =>
  JSON.stringify({
    '@timestamp': new Date(1_790_000_000_000 + n).toISOString(),
    source: { ip: `198.51.100.${n % 250}`, port: 1024 + (n % 50_000) },
    destination: { ip: `203.0.113.${(n >> 3) % 250}`, port: 443 },
    event: {
      action: n % 7 ? 'allowed' : 'denied',
      category: ['network'],
      dataset: 'firewall.traffic',
      duration: n % 10_000,
    },
    network: { transport: 'tcp', bytes: n * 13, packets: n % 100 },
    observer: { name: 'edge-1', vendor: 'Example' },
    rule: { name: 'outbound web', id: `r-${n % 40}` },
    message: `session ${n} closed after ${n % 900} s, application web-browsing, zone inside to outside, profile default`,
  })

const fill = async (kafka, topic) => {
  const producer = kafka.producer({
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition,
  })
  await producer.connect()
  let bytes = 0
  for (let from = 0; from < count; from += 2_000) {
    const messages = Array.from({ length: Math.min(2_000, count - from) }, (_, index) => {
      const value = Buffer.from(event(from + index))
      bytes += value.length
      return { partition: (from + index) % partitions, key: null, value, headers: [], timestamp: String(Date.now()) }
    })
    await producer.send({ topic, messages })
  }
  await producer.disconnect()
  return bytes
}

const start = (mode, workers, { broker, input, output, dead, groupId }) =>
  mode === 'raw'
    ? spawn(process.execPath, [here('kafka-raw.mjs'), JSON.stringify({ broker, input, output, groupId })], {
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    : spawn(process.execPath, [here('../dist/cli.js'), 'run', '--workers', String(workers)], {
        stdio: ['ignore', 'ignore', process.env.BENCH_LOG ? 'inherit' : 'ignore'],
        env: {
          PATH: process.env.PATH,
          HOME: process.env.HOME,
          THREATWEAVE_LOG_LEVEL: 'warn',
          THREATWEAVE_KAFKA_BROKERS: broker,
          THREATWEAVE_KAFKA_INPUT_TOPICS: input,
          THREATWEAVE_KAFKA_OUTPUT_TOPIC: output,
          THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: dead,
          THREATWEAVE_KAFKA_GROUP_ID: groupId,
          THREATWEAVE_KAFKA_DELIVERY: mode,
        },
      })

/** From a tenth of the events to all of them: starting and joining are not what is asked. */
const measure = async (admin, mode, workers, names) => {
  const child = start(mode, workers, names)
  let began
  let rss = 0
  try {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${mode} ended with exit code ${child.exitCode}`)
      const done = (await admin.fetchTopicOffsets(names.output)).reduce((sum, { high }) => sum + Number(high), 0)
      const family = processes(child.pid)
      rss = Math.max(rss, ...family.map(({ rss: own }) => own))
      const cpu = family.reduce((sum, { cpuUs }) => sum + cpuUs, 0)
      if (!began && done >= count / 10) began = { at: performance.now(), done, cpu }
      // Each transaction leaves a marker of its own among the records: at most a few in a thousand.
      if (began && done >= count) {
        const events = Math.min(done, count) - began.done
        return { rate: (events * 1000) / (performance.now() - began.at), cpu: (cpu - began.cpu) / events, rss }
      }
      await sleep(50)
    }
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }
}

/** CPU time and memory of a process and its children, from /proc. */
const processes = (parent) => {
  const found = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(pid) !== parent && Number(fields[1]) !== parent) continue
      const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
      found.push({ cpuUs: (Number(fields[11]) + Number(fields[12])) * 10_000, rss })
    } catch {
      continue // it ended while we looked
    }
  }
  return found
}

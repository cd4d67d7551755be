// Overloads one process and measures throughput, memory, age of events, losses and order.
import { measure } from './kafka-measure.mjs'
import {
  eventBetween,
  fill,
  fillMemory,
  copyOfMemory,
  makeTopic,
  partitions,
  startProvider,
  topicSettings,
} from './kafka-stage.mjs'
import { openStage } from './open-stage.mjs'
import { accusedAddresses, accusedInFlood, shapeEvent } from './shape-events.mjs'
import { freePorts } from '../dist/parts/demo/broker.js'

const only = process.env.BENCH_ROWS
const count = Number(process.env.BENCH_EVENTS ?? 400_000)
const topics = ['ALERTS', 'CORRECTIONS', 'SIGHTINGS']
const large = 65_536
const together = 10_000
/** For input and output, because a batch with many members is one record. */
const maxBytes = 16_000_000

const withMember = (event, name, value) => `${event.slice(0, -1)},"${name}":${JSON.stringify(value)}}`
const clean = (at) => shapeEvent(0, at)

/** `size`: events per record. `share`: fraction of the events, for floods with larger ones. */
const floods = {
  quiet: { eventOf: clean },
  'accused events': { eventOf: (at) => shapeEvent(accusedInFlood, at) },
  'new names': {
    eventOf: (at) => (n) => withMember(clean(at)(n), 'dns', { question: { name: `h${n.toString(36)}.example.com` } }),
  },
  'new machines': {
    eventOf: (at) => (n) =>
      eventBetween(
        n,
        `10.${64 + ((n >> 16) & 63)}.${(n >> 8) & 255}.${n & 255}`,
        accusedAddresses[n % accusedAddresses.length],
        at,
      ),
  },
  'large events': { eventOf: (at) => (n) => withMember(clean(at)(n), 'payload', 'x'.repeat(large)), share: 0.02 },
  'large batches': { eventOf: clean, size: together },
}

export const run = async (seconds = 60) => {
  const { broker, folder, kafka, admin, close } = await openStage()
  const id = Date.now().toString(36)
  const memory = await fillMemory(folder)
  const provider = await startProvider({})
  const results = []
  try {
    for (const [nth, [name, flood]] of Object.entries(floods).entries()) {
      if (only && !new RegExp(only).test(name)) continue
      const result = await play({ admin, kafka, broker, folder, provider, memory }, flood, `${id}-${nth}`, seconds)
      results.push({ name, ...result })
      const { rate, out, lost, doubled } = result
      console.error(
        `  ${name}: ${Math.round(rate)} events/s, ${out} out, ${lost} lost, ${doubled} repeated or out of order`,
      )
    }
  } finally {
    await provider.stop()
    await close()
  }
  print(results)
}

const play = async ({ admin, kafka, broker, folder, provider, memory }, flood, id, seconds) => {
  const { eventOf, size = 1, share = 1 } = flood
  const events = Math.max(partitions * 16 * size, Math.round((count * share) / size) * size)
  const names = { input: `flood-in-${id}`, output: `flood-out-${id}`, dead: `flood-dead-${id}` }
  const room = [{ name: 'max.message.bytes', value: String(maxBytes) }]
  for (const topic of Object.values(names)) await makeTopic(admin, topic, room)
  const settings = {}
  for (const kind of topics) {
    settings[`THREATWEAVE_KAFKA_${kind}_TOPIC`] = `flood-${kind.toLowerCase()}-${id}`
    await makeTopic(admin, `flood-${kind.toLowerCase()}-${id}`, topicSettings(kind))
  }
  const single = eventOf(Date.now() - events)
  const recordOf = (r) =>
    size === 1 ? single(r) : `[${Array.from({ length: size }, (_, at) => single(r * size + at)).join(',')}]`
  const bytes = await fill(kafka, names.input, recordOf, events / size, Math.max(1, Math.round((2_000 * share) / size)))
  const [port] = await freePorts(1)
  let ageSeconds
  try {
    const measured = await measure(admin, {
      mode: 'at-least-once',
      workers: 1,
      count: events,
      perRecord: size,
      limitMs: seconds * 1_000,
      broker,
      ...names,
      groupId: `flood-${id}`,
      folder,
      settings: {
        THREATWEAVE_MEMORY_PATH: copyOfMemory(memory.path, id),
        THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
        THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
        ...settings,
        THREATWEAVE_OPS_PORT: String(port),
      },
      atEnd: async () => {
        ageSeconds = await ageOf(port)
      },
    })
    const verified = await verify(kafka, names.output, size)
    return { ...measured, events, eventBytes: bytes / events, ageSeconds, ...verified }
  } finally {
    await admin.deleteTopics({ topics: [...Object.values(names), ...Object.values(settings)] }).catch(() => undefined)
  }
}

/** The 99th percentile of the age at delivery in seconds, as an upper bound from the metrics. */
const ageOf = async (port) => {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const buckets = [...text.matchAll(/end_to_end_latency_seconds_bucket\{[^}]*le="([^"]+)"[^}]*\} (\d+)/g)].map(
    ([, bound, events]) => ({ bound: bound === '+Inf' ? Infinity : Number(bound), events: Number(events) }),
  )
  const all = Math.max(0, ...buckets.map(({ events }) => events))
  return buckets.find(({ events }) => events >= all * 0.99)?.bound
}

/** Events are numbered, with sixteen consecutive records on one partition. */
const verify = async (kafka, topic, size) => {
  const admin = kafka.admin()
  await admin.connect()
  const ends = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  const left = new Map(
    ends.filter(({ high }) => Number(high) > 0).map(({ partition, high }) => [partition, Number(high)]),
  )
  const found = { out: 0, lost: 0, doubled: 0 }
  const next = new Map(ends.map(({ partition }) => [partition, partition * 16 * size]))
  const see = (partition, n) => {
    found.out++
    let expected = next.get(partition)
    if (n < expected) found.doubled++
    else {
      for (; expected < n; expected = after(expected, size)) found.lost++
      next.set(partition, after(n, size))
    }
  }
  const consumer = kafka.consumer({ groupId: `${topic}-verify` })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise((resolve) => {
    if (left.size === 0) resolve()
    void consumer.run({
      eachBatch: async ({ batch }) => {
        for (const { value } of batch.messages)
          for (const [, bytes] of value.toString('latin1').matchAll(/"transport":"tcp","bytes":(\d+)/g))
            see(batch.partition, Number(bytes) / 13)
        if (Number(batch.lastOffset()) + 1 >= left.get(batch.partition)) left.delete(batch.partition)
        if (left.size === 0) resolve()
      },
    })
  })
  await consumer.disconnect()
  return found
}

/** The next event on the same partition. */
const after = (n, size) => {
  const run = 16 * size
  return (n + 1) % run === 0 ? n + 1 + run * (partitions - 1) : n + 1
}

/** Large events are compared in bytes. */
const ratio = (one, quiet) =>
  (one.rate / quiet.rate) * (one.eventBytes > 4 * quiet.eventBytes ? one.eventBytes / quiet.eventBytes : 1)

const print = (results) => {
  const quiet = results.find(({ name }) => name === 'quiet')
  console.log(`| flood | events/s | MB/s | of quiet | CPU µs | memory MB | second half against first | age of 99 % at most | out | lost | repeated or out of order |
|---|---|---|---|---|---|---|---|---|---|---|`)
  for (const one of results)
    console.log(
      `| ${[
        one.name,
        Math.round(one.rate),
        ((one.rate * one.eventBytes) / 1e6).toFixed(1),
        quiet ? ratio(one, quiet).toFixed(2) : '',
        one.cpu.toFixed(1),
        Math.round(one.rss),
        one.growth.toFixed(2),
        one.ageSeconds === undefined ? '' : `${one.ageSeconds} s`,
        `${one.out} of ${one.events}`,
        one.lost,
        one.doubled,
      ].join(' | ')} |`,
    )
}

// Topics, provider and warm memory for the Kafka bench.
import { fork, spawn } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const partitions = 4
export const knownAddresses = 10_000
/** The number of events in a thousand with an address that was never seen. */
export const newPerThousand = 50

const here = (path) => new URL(path, import.meta.url).pathname
export const addressOf = (n) => `45.${(n >> 14) & 255}.${(n >> 7) & 127}.${1 + (n & 127)}`
const knownAddress = (n) => addressOf((Math.imul(n, 7919) >>> 0) % knownAddresses)
const newAddress = (n) => addressOf(knownAddresses + n)

/** A list whose addresses occur in no event of the benches. */
export const writeList = (folder, entries = 100_000) => {
  const path = join(folder, 'listed.txt')
  const entryOf = (n) => `77.${n >> 16}.${(n >> 8) & 255}.${n & 255}\n`
  writeFileSync(path, '')
  for (let n = 0; n < entries; n += 10_000)
    appendFileSync(path, Array.from({ length: 10_000 }, (_, at) => entryOf(n + at)).join(''))
  return path
}
export const places = ['city', 'asn'].map((name) => here(`../examples/intel/places/sample-${name}.mmdb`))

/** A configuration with a feed and geo databases; topics and addresses come from the environment. */
export const everythingFile = (folder) => {
  const path = join(folder, 'everything.yaml')
  const feeds = [{ name: 'listed', path: writeList(folder) }]
  writeFileSync(path, JSON.stringify({ feeds, intel: { geo: places } }))
  return path
}

/** Both addresses are looked up. */
export const eventBetween = (n, source, destination, at = 1_790_000_000_000) =>
  JSON.stringify({
    '@timestamp': new Date(at + n).toISOString(),
    source: { ip: source, port: 1024 + (n % 50_000) },
    destination: { ip: destination, port: 443 },
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

const isNews = (n) => n % 1000 < newPerThousand
/** The destination was looked up before. */
export const eventFrom = (n, source) => eventBetween(n, source, knownAddress(n + 5_000_011))
export const warmEvent = (n) => eventFrom(n, knownAddress(n))
export const troubleEvent = (n) => eventFrom(n, isNews(n) ? newAddress(n) : knownAddress(n))

/** How `run` wants the topics that it keeps state in; others have the broker's defaults. */
export const topicSettings = (kind) =>
  Object.entries(
    {
      SIGHTINGS: { 'cleanup.policy': 'compact,delete' },
      VERDICTS: { 'cleanup.policy': 'delete', 'message.timestamp.type': 'LogAppendTime', 'retention.ms': '2592000000' },
    }[kind] ?? {},
  ).map(([name, value]) => ({ name, value }))

export const makeTopic = async (admin, topic, configEntries = []) => {
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions, configEntries }], waitForLeaders: false })
  await sleep(500)
}

/** A record with `size` events. */
export const batchOf = (eventOf, size) => (n) =>
  `[${Array.from({ length: size }, (_, nth) => eventOf(n * size + nth)).join(',')}]`

/** Sends events by their numbers. */
export const openSender = async (kafka, topic, eventOf, { over = partitions, atOnce = 2_000 } = {}) => {
  const producer = kafka.producer({
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition,
  })
  await producer.connect()
  /** Returns the total size of the events in bytes. */
  const send = async (from, to) => {
    let bytes = 0
    for (let first = from; first < to; first += atOnce) {
      const messages = Array.from({ length: Math.min(atOnce, to - first) }, (_, index) => {
        const n = first + index
        const value = Buffer.from(eventOf(n))
        bytes += value.length
        // Consecutive events go to one partition before the next, so that every partition gets new addresses.
        return { partition: (n >> 4) % over, key: null, value, headers: [], timestamp: String(Date.now()) }
      })
      await producer.send({ topic, messages })
    }
    return bytes
  }
  return { send, close: () => producer.disconnect() }
}

/** Returns the total size of the events in bytes. */
export const fill = async (kafka, topic, eventOf, count, atOnce) => {
  const sender = await openSender(kafka, topic, eventOf, { atOnce })
  const bytes = await sender.send(0, count)
  await sender.close()
  return bytes
}

/** With `down`, nothing listens at the address, like a provider that has failed. */
export const startProvider = async (kind) => {
  const child = fork(here('provider.mjs'), [JSON.stringify(kind)])
  const told = () => new Promise((resolve) => child.once('message', resolve))
  const { url } = await told()
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  if (kind.isDown) {
    await stop()
    return { url, asked: async () => ({ calls: 0, mostInFlight: 0 }), stop: async () => undefined }
  }
  const asked = () => {
    const answer = told()
    child.send('how often?')
    return answer
  }
  return { url, asked, stop }
}

/** Excludes the user's settings, memory and home folder. */
export const environment = (folder, settings) => ({
  PATH: process.env.PATH,
  HOME: folder,
  XDG_STATE_HOME: join(folder, 'state'),
  THREATWEAVE_LOG_LEVEL: 'warn',
  THREATWEAVE_OPS_PORT: '0',
  THREATWEAVE_INTEL_SERVICE_API_KEY: 'key-of-the-bench',
  ...settings,
})

/**
 * Fills the memory of the gateway of several workers: they look up every address once, and the gateway stores the provider's answers in a
 * folder next to the memory. Measured workers start empty and ask the gateway; `calls` in their rows counts calls to the provider.
 */
export const fillGateway = async (kafka, admin, broker, folder, path) => {
  const id = Date.now().toString(36)
  const names = { input: `bench-fill-${id}`, output: `bench-filled-${id}`, dead: `bench-unfit-${id}` }
  for (const topic of Object.values(names)) await makeTopic(admin, topic)
  await fill(kafka, names.input, (n) => `{"source":{"ip":"${addressOf(n)}"}}`, knownAddresses)
  const provider = await startProvider({})
  const child = spawn(process.execPath, [here('../dist/cli.js'), 'run', '--workers', '2'], {
    stdio: 'ignore',
    cwd: folder,
    env: environment(folder, {
      THREATWEAVE_MEMORY_PATH: path,
      THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
      THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
      THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '32',
      THREATWEAVE_KAFKA_BROKERS: broker,
      THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
      THREATWEAVE_KAFKA_INPUT_START: 'earliest',
      THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
      THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
      THREATWEAVE_KAFKA_GROUP_ID: `bench-fill-${id}`,
    }),
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const until = Date.now() + 60_000
  for (let before = -1; Date.now() < until; await sleep(1_000)) {
    const { calls } = await provider.asked()
    if (calls >= knownAddresses && calls === before) break
    before = calls
  }
  child.kill('SIGTERM')
  await ended
  await provider.stop()
  await admin.deleteTopics({ topics: Object.values(names) })
}

/** Fills a memory like a user: looks up every address once over HTTP and stores the findings in the folder. */
export const fillMemory = async (folder) => {
  const provider = await startProvider({})
  const path = join(folder, 'memory')
  const child = spawn(process.execPath, [here('../dist/cli.js'), 'pipe'], {
    stdio: ['pipe', 'ignore', 'inherit'],
    cwd: folder,
    env: environment(folder, {
      THREATWEAVE_MEMORY_PATH: path,
      THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
      THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
      THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '32',
      THREATWEAVE_ENRICH_MODE: 'complete',
    }),
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.stdin.end(Array.from({ length: knownAddresses }, (_, n) => `{"source":{"ip":"${addressOf(n)}"}}\n`).join(''))
  const code = await ended
  const { calls } = await provider.asked()
  await provider.stop()
  if (code !== 0 || calls < knownAddresses)
    throw new Error(`the memory could not be filled: exit code ${code} after ${calls} calls`)
  return { path, calls }
}

export const copyOfMemory = (path, name) => {
  const copy = `${path}-${name}`
  cpSync(path, copy, { recursive: true })
  if (existsSync(`${path}-gateway`)) cpSync(`${path}-gateway`, `${copy}-gateway`, { recursive: true })
  return copy
}

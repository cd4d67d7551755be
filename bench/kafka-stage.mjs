// Topics, provider and warm memory for the Kafka bench.
import { fork, spawn } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const partitions = 4
export const knownAddresses = 10_000
/** So many of a thousand events bring an address that was never seen. */
export const newPerThousand = 50

const here = (path) => new URL(path, import.meta.url).pathname
export const addressOf = (n) => `45.${(n >> 14) & 255}.${(n >> 7) & 127}.${1 + (n & 127)}`
const knownAddress = (n) => addressOf((Math.imul(n, 7919) >>> 0) % knownAddresses)
const newAddress = (n) => addressOf(knownAddresses + n)

/** A list of addresses that no event of the benches shows. */
export const writeList = (folder, entries = 100_000) => {
  const path = join(folder, 'listed.txt')
  const entryOf = (n) => `77.${n >> 16}.${(n >> 8) & 255}.${n & 255}\n`
  writeFileSync(path, '')
  for (let n = 0; n < entries; n += 10_000)
    appendFileSync(path, Array.from({ length: 10_000 }, (_, at) => entryOf(n + at)).join(''))
  return path
}
export const places = ['city', 'asn'].map((name) => here(`../examples/intel/places/sample-${name}.mmdb`))

/** A configuration with a list and places; topics and addresses come from the environment. */
export const everythingFile = (folder) => {
  const path = join(folder, 'everything.yaml')
  const feeds = [{ name: 'listed', path: writeList(folder) }]
  writeFileSync(path, JSON.stringify({ feeds, intel: { geo: places } }))
  return path
}

/** Both addresses of an event are looked up. */
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
/** To an address that was looked up before. */
export const eventFrom = (n, source) => eventBetween(n, source, knownAddress(n + 5_000_011))
export const warmEvent = (n) => eventFrom(n, knownAddress(n))
export const troubleEvent = (n) => eventFrom(n, isNews(n) ? newAddress(n) : knownAddress(n))

export const makeTopic = async (admin, topic, configEntries = []) => {
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions, configEntries }], waitForLeaders: false })
  await sleep(500)
}

/** A record of so many events. */
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
  /** Answers how many bytes the events from one number up to another have. */
  const send = async (from, to) => {
    let bytes = 0
    for (let first = from; first < to; first += atOnce) {
      const messages = Array.from({ length: Math.min(atOnce, to - first) }, (_, index) => {
        const n = first + index
        const value = Buffer.from(eventOf(n))
        bytes += value.length
        // A run of events on one partition, and then the next: so that the new addresses are on all of them.
        return { partition: (n >> 4) % over, key: null, value, headers: [], timestamp: String(Date.now()) }
      })
      await producer.send({ topic, messages })
    }
    return bytes
  }
  return { send, close: () => producer.disconnect() }
}

/** Answers how many bytes the events have. */
export const fill = async (kafka, topic, eventOf, count, atOnce) => {
  const sender = await openSender(kafka, topic, eventOf, { atOnce })
  const bytes = await sender.send(0, count)
  await sender.close()
  return bytes
}

/** `down` is an address where nobody listens: that of a provider that was there and went away. */
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

/** Nothing of the user's own: no settings, no memory, no home. */
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
 * The gateway of several workers keeps what the provider answered, in a folder of its own beside the memory: it is filled by workers
 * that meet every address once. The workers themselves begin with nothing and ask the gateway; `calls` of their rows counts what
 * went on to the provider.
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

/** Fills a memory as a user would: the addresses are looked up once, over HTTP, and what was found is kept in the folder. */
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

// A Kafka runner for integration tests: takes settings from argv, adds one field to events, and prints health as JSON lines.
import { runTopics } from '../../dist/app/runner.js'
import { openBrokerWatch } from '../../dist/kafka/broker-watch.js'
import { recordHealth } from '../../dist/kafka/health.js'

const { settings, placement = 'json', delayMs = 0, holds = false, quiet = true, mark } = JSON.parse(process.argv[2])
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
let isHolding = holds
const released = new Promise((resolve) => process.once('SIGUSR2', resolve)).then(() => (isHolding = false))

const annotate = ({ bytes, origin }) => {
  const flat = { schema_version: 1, status: 'skipped', verdict: 'unknown', origin, ...(mark && { mark }) }
  const annotation = { ...flat, indicators: [{ summary: 'x'.repeat(200) }] }
  const annotationText = (detail) => JSON.stringify(detail === undefined ? annotation : flat)
  return {
    annotation,
    annotationText,
    bytes: (detail) => {
      const end = bytes.lastIndexOf('}')
      const text = `${bytes[0] === 0x7b && end === bytes.length - 1 ? `${bytes.subarray(0, end)}${bytes.length > 2 ? ',' : ''}` : `{"message":${JSON.stringify(bytes.toString('latin1'))},`}"threatweave":${annotationText(detail)}}`
      return Buffer.from(text)
    },
  }
}
const pipeline = (chunk, use) => {
  const finish = () => {
    for (const [place, event] of chunk.entries()) use(annotate(event), place)
    return true
  }
  if (isHolding) {
    say({ event: 'held', partition: chunk[0].origin.split('/')[1] })
    return released.then(finish)
  }
  return delayMs > 0 ? new Promise((resolve) => setTimeout(() => resolve(finish()), delayMs)) : finish()
}
const wait = { kind: 'live', turn: () => undefined }

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const emit = (event) => {
  if (event.event !== 'chunk_delivered' && !(quiet && event.event === 'kafka_client_warned')) say(event)
}
const brokers = openBrokerWatch(settings, emit, Date.now)
const health = recordHealth(Date.now, brokers)
setInterval(() => say({ event: 'health', ...health.read() }), 1000).unref()
const ended = await runTopics({
  settings,
  brokers,
  health,
  placement,
  key: 'threatweave',
  pipeline,
  waitOf: () => wait,
  now: Date.now,
  signal: stop.signal,
  emit,
})
say({ event: 'ended', ...ended, health: health.read(), rss: process.memoryUsage().rss, cpu: process.cpuUsage() })
process.exit(ended.how === 'stopped' ? 0 : 1)

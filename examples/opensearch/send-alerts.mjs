// Alerts of a topic → documents of an index: node send-alerts.mjs TOPIC INDEX
// An offset is committed only when its alert is stored, so nothing is lost while the index is away or this program is ended. What
// is sent again replaces itself, because event.id is the id of the document. What the index rejects goes to standard output.
import { setTimeout as sleep } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'

const [topic, index] = process.argv.slice(2)
const { THREATWEAVE_KAFKA_BROKERS: brokers, SEARCH: search } = process.env
if (index === undefined || brokers === undefined || search === undefined) {
  console.error('usage: THREATWEAVE_KAFKA_BROKERS=HOST:PORT SEARCH=URL node send-alerts.mjs TOPIC INDEX')
  process.exit(64)
}

const { username, password, origin } = new URL(search)
const headers = { 'content-type': 'application/x-ndjson' }
if (username !== '') {
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`
}

/** The result of each alert, or why the index took none. */
const post = async (alerts) => {
  const lines = alerts.map((text) => `${JSON.stringify({ index: { _id: JSON.parse(text).event.id } })}\n${text}\n`)
  try {
    const body = lines.join('')
    const signal = AbortSignal.timeout(15_000)
    const response = await fetch(`${origin}/${index}/_bulk`, { method: 'POST', headers, body, signal })
    if (!response.ok) return { away: `status ${response.status}` }
    return { results: (await response.json()).items.map((item) => item.index) }
  } catch (error) {
    return { away: error.cause?.message ?? error.message }
  }
}

/** The alerts that are neither stored nor rejected. */
const store = async (alerts) => {
  const { away, results } = await post(alerts)
  if (away !== undefined) {
    console.error(`${origin} took nothing (${away}); ${alerts.length} alerts wait`)
    return alerts
  }
  const isBusy = ({ status }) => status === 429 || status >= 500
  results.forEach(({ error, ...result }, place) => {
    if (error === undefined || isBusy(result)) return
    console.error(`${index} rejected alert ${result._id}: ${error.reason}`)
    console.log(alerts[place])
  })
  return alerts.filter((_, place) => isBusy(results[place]))
}

const kafka = new Kafka({ clientId: 'send-alerts', brokers: brokers.split(','), logLevel: logLevel.ERROR })
const consumer = kafka.consumer({ groupId: `send-alerts-${index}` })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void consumer.disconnect())
await consumer.connect()
await consumer.subscribe({ topics: [topic], fromBeginning: true })
await consumer.run({
  eachBatchAutoResolve: false,
  eachBatch: async ({ batch, resolveOffset, heartbeat, isRunning, isStale }) => {
    for (let from = 0; from < batch.messages.length; from += 500) {
      const messages = batch.messages.slice(from, from + 500)
      let waiting = messages.map(({ value }) => value.toString())
      while (waiting.length > 0) {
        if (!isRunning() || isStale()) return
        waiting = await store(waiting)
        await heartbeat()
        if (waiting.length > 0) await sleep(1_000)
      }
      resolveOffset(messages.at(-1).offset)
    }
  },
})

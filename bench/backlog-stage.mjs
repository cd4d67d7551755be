// Events and counting for the backlog bench.
import { addressOf, eventBetween } from './kafka-stage.mjs'

/** Each event has two addresses, drawn uniformly or by Zipf's law; deterministic. */
export const backlogEvent = (spread, distinct) => {
  const draw = spread === 'zipf' ? zipf(distinct) : (chance) => Math.floor(chance * distinct)
  return (n) => eventBetween(n, addressOf(draw(chanceOf(2 * n))), addressOf(draw(chanceOf(2 * n + 1))))
}

/** A pseudorandom number between 0 and 1 that depends only on n. */
const chanceOf = (n) => {
  let mixed = Math.imul(n ^ 0x9e3779b9, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 0x1_0000_0000
}

const zipf = (distinct) => {
  const below = []
  let sum = 0
  for (let rank = 1; rank <= distinct; rank++) below.push((sum += 1 / rank))
  return (chance) => {
    let low = 0
    let high = distinct - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (below[middle] < chance * sum) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Counts complete events, and the others by status and reason. */
export const readStatuses = async (kafka, topic, count) => {
  const consumer = kafka.consumer({ groupId: `statuses-${topic}`, maxBytesPerPartition: 4_194_304 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  let events = 0
  let complete = 0
  const others = {}
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${events} of ${count} events came out`)), 120_000)
    const eachBatch = async ({ batch }) => {
      for (const { value } of batch.messages) {
        events++
        const { status, reason, indicators = [] } = JSON.parse(value).threatweave
        if (status === 'complete') complete++
        else {
          const why = [...new Set([reason, ...indicators.map((one) => one.reason)].filter(Boolean))].sort().join('+')
          others[`${status}: ${why}`] = (others[`${status}: ${why}`] ?? 0) + 1
        }
      }
      if (events >= count) {
        clearTimeout(timer)
        resolve()
      }
    }
    consumer.run({ eachBatch }).catch(reject)
  })
  await consumer.disconnect()
  return { events, complete, others }
}

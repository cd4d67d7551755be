// A pass-through with the program's Kafka client: reads and writes the same bytes, in batches of the size that `run` uses.
import { Kafka, logLevel, Partitioners } from '../dist/kafka/patched-kafkajs/patched-kafkajs.js'

const { broker, input, output, groupId } = JSON.parse(process.argv[2])
const kafka = new Kafka({ brokers: broker.split(','), logLevel: logLevel.NOTHING })
const producer = kafka.producer({ idempotent: true, createPartitioner: Partitioners.DefaultPartitioner })
const consumer = kafka.consumer({ groupId, maxBytesPerPartition: 524_288, maxWaitTimeInMs: 250 })
await producer.connect()
await consumer.connect()
await consumer.subscribe({ topic: input, fromBeginning: true })
await consumer.run({
  eachBatchAutoResolve: false,
  partitionsConsumedConcurrently: 8,
  eachBatch: async ({ batch, resolveOffset }) => {
    for (let from = 0; from < batch.messages.length; from += 500) {
      const chunk = batch.messages.slice(from, from + 500)
      const messages = chunk.map(({ key, value, headers, timestamp }) => ({
        key,
        value,
        headers,
        timestamp,
        partition: batch.partition,
      }))
      await producer.send({ topic: output, acks: -1, messages })
      resolveOffset(chunk.at(-1).offset)
    }
  },
})
process.on('SIGTERM', () => process.exit(0))

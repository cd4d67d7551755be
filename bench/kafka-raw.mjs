// The baseline loop: plain kafkajs consumes, parses, adds a field, serialises and produces.
import { Kafka, logLevel, Partitioners } from 'kafkajs'

const { broker, input, output, groupId } = JSON.parse(process.argv[2])
const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING })
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
      await producer.send({
        topic: output,
        acks: -1,
        messages: chunk.map(({ key, value, headers, timestamp }) => {
          const event = JSON.parse(value.toString())
          event.threatweave = { schema_version: 1, status: 'skipped', verdict: 'unknown' }
          return { key, headers, timestamp, partition: batch.partition, value: JSON.stringify(event) }
        }),
      })
      resolveOffset(chunk.at(-1).offset)
    }
  },
})
process.on('SIGTERM', () => process.exit(0))

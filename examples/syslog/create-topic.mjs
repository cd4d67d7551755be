// Creates a topic without Kafka's own tools: node create-topic.mjs TOPIC PARTITIONS
import { Kafka, logLevel } from 'kafkajs'

const [topic, partitions] = process.argv.slice(2)
const brokers = process.env.THREATWEAVE_KAFKA_BROKERS?.split(',')
if (partitions === undefined || brokers === undefined) {
  console.error('usage: THREATWEAVE_KAFKA_BROKERS=HOST:PORT node create-topic.mjs TOPIC PARTITIONS')
  process.exit(64)
}
const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
await admin.connect()
const isNew = await admin.createTopics({ topics: [{ topic, numPartitions: Number(partitions) }] })
console.log(`topic ${topic}: ${isNew ? `created with ${partitions} partitions` : 'exists already'}`)
await admin.disconnect()

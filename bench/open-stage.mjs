// Opens a broker, a client and a folder for a bench.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBroker } from '../dist/parts/demo/broker.js'
import { Kafka } from '../dist/kafka/patched-kafkajs/patched-kafkajs.js'
import { logLevel } from '../dist/kafka/patched-kafkajs/patched-kafkajs.js'

export const openStage = async () => {
  const broker = await startBroker({ env: process.env, say: (line) => console.error(line) })
  if ('missing' in broker) throw new Error(broker.missing)
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-bench-'))
  const kafka = new Kafka({ brokers: broker.plain.split(','), logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const close = async () => {
    await admin.disconnect()
    await broker.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { broker: broker.plain, folder, kafka, admin, close }
}

// Promise: what `run` writes has the form that was configured: where the annotation goes, and how records are packed.
import { spawnSync } from 'node:child_process'
import * as zlib from 'node:zlib'
import kafkajs, { CompressionTypes, Partitioners } from 'kafkajs'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { cliPath } from '../support/cli.js'
import { client, complete, fill, makeTopics, readTopic, tally, type Names } from '../support/kafka.js'
import { startRun, type Run } from '../support/spawn-run.js'
import { readWithJava } from '../support/java.js'

const started: Run[] = []
afterAll(async () => {
  await Promise.all(started.map((run) => run.stop()))
})
const run = (names: Names, env: Readonly<Record<string, string>>): void => {
  started.push(startRun(names, env))
}

const events = [
  '{"src_ip": "198.51.100.7",  "note": "two  spaces"}',
  '<134>1 2026-11-15T08:00:00Z fw1 - - - - SRC=198.51.100.8 DST=192.0.2.1',
  Buffer.from([0xff, 0x00, 0x7b]),
]

const writeEvents = async (topic: string): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const messages = events.map((value, at) => ({ key: `k${at}`, value, headers: { own: `h${at}` }, partition: 0 }))
  await producer.send({ topic, messages })
  await producer.disconnect()
}

describe.concurrent('output.placement', () => {
  it('headers: the value stays byte for byte, the annotation is a header', async () => {
    const names = await makeTopics({ partitions: 1 })
    await writeEvents(names.input)
    run(names, { THREATWEAVE_OUTPUT_PLACEMENT: 'headers' })
    const records = await readTopic(names.output, (all) => all.length >= events.length)
    expect(records.map(({ value }) => value)).toEqual(events.map((value) => Buffer.from(value)))
    for (const [at, { key, headers }] of records.entries()) {
      expect([String(key), String(headers.own)]).toEqual([`k${at}`, `h${at}`])
      expect(JSON.parse(String(headers.threatweave))).toMatchObject({ schema_version: 1 })
    }
  })

  it('topic: the annotation stands alone, its origin in headers', async () => {
    const names = await makeTopics({ partitions: 1 })
    await writeEvents(names.input)
    run(names, { THREATWEAVE_OUTPUT_PLACEMENT: 'topic' })
    const records = await readTopic(names.output, (all) => all.length >= events.length)
    expect(records).toHaveLength(events.length)
    for (const [at, { key, value, headers }] of records.entries()) {
      const annotation = JSON.parse(String(value)) as Annotation
      expect(annotation).toMatchObject({ schema_version: 1 })
      expect(Object.keys(annotation)).not.toContain('src_ip')
      expect(String(key)).toBe(`k${at}`)
      expect(
        ['threatweave-topic', 'threatweave-partition', 'threatweave-offset'].map((name) => String(headers[name])),
      ).toEqual([names.input, '0', String(at)])
    }
  })
})

// In node:zlib since Node 22.15, and not yet in the types for Node 20.
const zstd = (zlib as unknown as { readonly zstdDecompressSync?: (bytes: Buffer) => Buffer }).zstdDecompressSync

describe('output.compression', () => {
  const codecs = {
    gzip: { type: CompressionTypes.GZIP, unpack: (bytes: Buffer) => zlib.gunzipSync(bytes) },
    ...(zstd && { zstd: { type: CompressionTypes.ZSTD, unpack: zstd } }),
  }
  it.each(Object.entries(codecs))('%s: batches are packed with it, and others can read them', async (name, codec) => {
    let unpacked = 0
    const counting = {
      decompress: (bytes: Buffer) => {
        unpacked++
        return Promise.resolve(codec.unpack(bytes))
      },
    }
    // A default import: the codecs of kafkajs are one table for all.
    const former = { ...kafkajs.CompressionCodecs }
    Object.assign(kafkajs.CompressionCodecs, { [codec.type]: () => counting })
    onTestFinished(() => void Object.assign(kafkajs.CompressionCodecs, former))
    const names = await makeTopics({ partitions: 1 })
    await fill(names.input, 1, 0, 500)
    run(names, { THREATWEAVE_KAFKA_OUTPUT_COMPRESSION: name })
    const records = await readTopic(names.output, complete(1, 500))
    expect(tally(records, 1, 500)).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
    expect(unpacked).toBeGreaterThan(0)
    const [java] = await readWithJava(names.output)
    expect(java.map(({ value }) => value)).toEqual(records.map(({ value }) => value))
  })

  if (zstd === undefined)
    it('zstd is refused where Node does not have it', async () => {
      const names = await makeTopics({ partitions: 1 })
      const { status, stderr } = spawnSync(process.execPath, [cliPath, 'run'], {
        encoding: 'utf8',
        env: {
          PATH: process.env.PATH,
          THREATWEAVE_KAFKA_BROKERS: 'localhost:9092',
          THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
          THREATWEAVE_KAFKA_INPUT_START: 'earliest',
          THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
          THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
          THREATWEAVE_KAFKA_OUTPUT_COMPRESSION: 'zstd',
        },
      })
      expect(status).toBe(78)
      expect(stderr).toContain('kafka.output.compression cannot be zstd on this Node')
    })
})

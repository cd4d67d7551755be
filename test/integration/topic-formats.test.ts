// Promise: values of a topic with another format than text come out byte for byte, annotated in a header by what is in them; commands see them.
import { Partitioners, type Message } from 'kafkajs'
import { describe, expect, inject, it } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { runLoaded } from '../support/loaded-program.js'
import { client, makeTopic, makeTopics, readTopic, type Names, type Read } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { startRegistry } from '../support/registry-server.js'
import { startRun } from '../support/spawn-run.js'

const schema = {
  schema: JSON.stringify({
    type: 'record',
    name: 'Flow',
    fields: [
      { name: 'src_ip', type: 'string' },
      { name: 'dst', type: { type: 'record', name: 'Host', fields: [{ name: 'ip', type: 'string' }] } },
      { name: 'action', type: { type: 'enum', name: 'Action', symbols: ['allowed', 'blocked'] } },
    ],
  }),
}
const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length * 2]), Buffer.from(value)])
const avro = (id: number, source: string): Buffer =>
  Buffer.concat([Buffer.from([0, 0, 0, 0, id]), text(source), text('10.0.0.5'), Buffer.from([0])])

const send = async (topic: string, messages: readonly Message[]): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  await producer.send({ topic, messages: messages.map((message) => ({ ...message, partition: 0 })) })
  await producer.disconnect()
}

/** A record may be written again after a rebalance; the first of each counts. */
const firstOfEach = (records: readonly Read[]): readonly Read[] => [
  ...new Map(records.toReversed().map((record) => [String(record.key), record])).values(),
]

const inHeader = ({ headers }: Read): Annotation => JSON.parse(String(headers.threatweave)) as Annotation
const byKey = (records: readonly Read[], key: string): Read => {
  const found = firstOfEach(records).find((one) => String(one.key) === key)
  if (!found) throw new Error(`no record ${key}`)
  return found
}

describe('a topic with the format registry', () => {
  it('is read by schemas and written as it is, next to one of text; explain, tail and replay read it again', async () => {
    const intel = await startLookupServer({ malicious: ['203.0.113.66'] })
    const registry = await startRegistry()
    registry.put(7, schema)
    registry.put(9, { schemaType: 'JSON', schema: '{}' })
    const names = await makeTopics({ partitions: 1 })
    const plain = `${names.input}-text`
    await makeTopic(plain, 1)
    const values: Record<string, Buffer> = {
      bad: avro(7, '203.0.113.66'),
      good: avro(7, '198.51.100.9'),
      json: Buffer.concat([Buffer.from([0, 0, 0, 0, 9]), Buffer.from('{"src_ip":"203.0.113.66"}')]),
      stranger: avro(8, '203.0.113.66'),
      broken: Buffer.from([0, 0, 0, 0, 7, 0x80]),
      header: avro(7, '203.0.113.66').subarray(5),
    }
    const headers: Record<string, Message['headers']> = {
      bad: { own: 'kept', threatweave: '{"verdict":"clean"}', 'threatweave-format': 'text' },
      header: { __value_schema_id: Buffer.from([0, 0, 0, 0, 7]) },
    }
    await send(
      names.input,
      Object.entries(values).map(([key, value]) => ({ key, value, headers: headers[key] ?? {} })),
    )
    await send(names.input, [{ key: 'gone', value: null }])
    await send(plain, [{ key: 'text', value: '{"src_ip":"203.0.113.66"}' }])
    const env = {
      THREATWEAVE_INTEL_SERVICE_BASE_URL: intel.url,
      THREATWEAVE_ENRICH_MODE: 'complete',
      THREATWEAVE_KAFKA_INPUT_TOPICS: `${names.input},${plain}`,
      THREATWEAVE_KAFKA_INPUT_START: 'earliest',
      THREATWEAVE_KAFKA_INPUT_FORMAT: `{ ${names.input}: registry }`,
      THREATWEAVE_KAFKA_REGISTRY_URL: registry.url,
      THREATWEAVE_OUTPUT_DETAIL: 'full',
    }
    const run = startRun(names, env)
    const records = await readTopic(names.output, (all) => firstOfEach(all).length >= 8)
    expect(await run.stop()).toBe(0)
    for (const [key, value] of Object.entries(values)) {
      const record = byKey(records, key)
      expect([key, record.value]).toEqual([key, value])
      expect([key, String(record.headers['threatweave-format'])]).toEqual([key, 'registry'])
    }
    expect(byKey(records, 'gone').value).toBeNull()
    expect(String(byKey(records, 'text').value)).toMatch(/^\{"src_ip":"203\.0\.113\.66","threatweave":\{/)
    expect(Object.keys(byKey(records, 'text').headers)).toEqual([])
    expect(Object.keys(byKey(records, 'bad').headers)).toEqual(['own', 'threatweave-format', 'threatweave'])
    expect(inHeader(byKey(records, 'bad'))).toMatchObject({
      status: 'complete',
      verdict: 'malicious',
      field: 'src_ip',
      direction: 'inbound',
      action: 'allowed',
      indicators: [{ field: 'src_ip' }, { field: 'dst.ip', reason: 'private_address' }],
    })
    expect(inHeader(byKey(records, 'good')).verdict).not.toBe('malicious')
    expect(inHeader(byKey(records, 'json'))).toMatchObject({ verdict: 'malicious', field: 'src_ip' })
    expect(inHeader(byKey(records, 'header'))).toMatchObject({ verdict: 'malicious', field: 'src_ip' })
    // What is in bytes that nobody could read accuses all the same.
    expect(inHeader(byKey(records, 'stranger'))).toMatchObject({ status: 'partial', verdict: 'malicious' })
    expect(inHeader(byKey(records, 'broken'))).toMatchObject({
      status: 'failed',
      verdict: 'unknown',
      reason: 'not_decoded',
    })
    // Asked for once each, however many values.
    expect(new Set(registry.asked).size).toBe(registry.asked.length)
    await commandsReadIt(names, env, values, byKey(records, 'bad').offset)
  })

  it('passes unread while the registry is away, and is corrected when it is there', async () => {
    const intel = await startLookupServer({ malicious: ['203.0.113.66'] })
    const { port, url, close } = await startRegistry()
    await close()
    const names = await makeTopics({ partitions: 1 })
    const corrections = `${names.output}-corrections`
    await makeTopic(corrections, 1)
    // In the raw bytes no name stands alone: nothing can be found without the schema.
    const packed = { schema: '{"type":"record","name":"P","fields":[{"name":"src_ip","type":"bytes"}]}' }
    const value = Buffer.from([0, 0, 0, 0, 5, 8, 203, 0, 113, 66])
    await send(names.input, [{ key: 'a', value }])
    const run = startRun(names, {
      THREATWEAVE_INTEL_SERVICE_BASE_URL: intel.url,
      THREATWEAVE_ENRICH_DEADLINE_MS: '100',
      THREATWEAVE_KAFKA_INPUT_FORMAT: 'registry',
      THREATWEAVE_KAFKA_REGISTRY_URL: url,
      THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: corrections,
    })
    const [first] = await readTopic(names.output, (all) => all.length >= 1)
    expect(first?.value).toEqual(value)
    const before = inHeader(first as Read)
    expect(before).toMatchObject({ status: 'failed', verdict: 'unknown', reason: 'no_schema' })
    const registry = await startRegistry(port)
    registry.put(5, packed)
    const [corrected] = await readTopic(corrections, (all) => all.length >= 1)
    expect(corrected?.value).toEqual(value)
    expect(inHeader(corrected as Read)).toMatchObject({
      verdict: 'malicious',
      value: '203.0.113.66',
      enrichment_id: before.enrichment_id,
    })
    expect(await run.stop()).toBe(0)
  })
})

const commandsReadIt = async (
  names: Names,
  env: Readonly<Record<string, string>>,
  values: Readonly<Record<string, Buffer>>,
  written: string,
): Promise<void> => {
  const all = {
    ...env,
    THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
    THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
    THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
    THREATWEAVE_GATE_DOCUMENTATION: 'true',
    THREATWEAVE_MEMORY_PATH: 'none',
  }
  const cli = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runLoaded([...args], { env: all })
    expect([stderr, code]).toEqual(['', 0])
    return stdout
  }
  for (const place of [`${names.input}/0/0`, `${names.output}/0/${written}`]) {
    const explained = JSON.parse(await cli('explain', '--json', place)) as object
    expect(explained).toMatchObject({
      indicators: [
        { field: 'src_ip', value: '203.0.113.66', role: 'source' },
        { field: 'dst.ip', value: '10.0.0.5', role: 'destination' },
      ],
    })
  }
  const tailed = await cli('tail', '--from', 'earliest', '--count', '1', '--verdict', 'malicious')
  expect(tailed).toContain('"src_ip":"203.0.113.66"')
  // Records of several formats are looked at, and what does not fit is said.
  const online = await runLoaded(['check', '--online'], {
    env: { ...all, THREATWEAVE_KAFKA_INPUT_TOPICS: names.input, THREATWEAVE_KAFKA_INPUT_FORMAT: 'text' },
  })
  expect(online.stdout).toContain(
    `topic ${names.input} has values with a schema id (9) that the registry knows, and kafka.input.format says text: set it to registry for this topic`,
  )
  const other = await runLoaded(['check', '--online'], {
    env: {
      ...all,
      THREATWEAVE_KAFKA_INPUT_TOPICS: `${names.input}-text`,
      THREATWEAVE_KAFKA_INPUT_START: 'earliest',
      THREATWEAVE_KAFKA_INPUT_FORMAT: 'registry',
    },
  })
  expect(other.stdout).toContain(
    `topic ${names.input}-text has values without a schema id, which are text, and kafka.input.format says registry`,
  )
  const replayed = `${names.output}-again`
  const { code, stderr } = await runLoaded(
    [
      'replay',
      '--topic',
      names.output,
      '--output',
      replayed,
      '--input',
      'annotated',
      '--from',
      'earliest',
      '--to',
      'now',
      '--id',
      'x1',
    ],
    { env: all },
  )
  expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
  const again = await readTopic(replayed, (read) => firstOfEach(read).length >= 8)
  for (const [key, value] of Object.entries(values)) {
    const record = byKey(again, key)
    expect([key, record.value]).toEqual([key, value])
    expect(inHeader(record).enrichment_id).toMatch(new RegExp(`^${names.input}/0/`))
  }
  expect(inHeader(byKey(again, 'bad'))).toMatchObject({ verdict: 'malicious', field: 'src_ip', replay_id: 'x1' })
}

// Values that Confluent's own serializers write, with the schemas of a real registry: read as their JSON would be, and written so that the
// same library reads them as before.
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { provisionSerializers } from '../../scripts/tools.mjs'
import { startBroker } from '../../src/parts/demo/broker.js'
import type { Annotation } from '../../src/domain/annotation.js'
import { startApicurio } from '../support/apicurio.js'
import { client, makeTopic, makeTopics, readTopic, type Read } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { spawnRun } from '../support/spawn-run.js'

const { python = '', missing } = provisionSerializers()
const script = resolve(import.meta.dirname, '../support/python/serializers.py')

const runPython = (args: readonly string[], input: string): Promise<string> =>
  new Promise((done, fail) => {
    const child = spawn(python, [script, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
    let [out, errors] = ['', '']
    child.stdout.on('data', (part: Buffer) => (out += part.toString()))
    child.stderr.on('data', (part: Buffer) => (errors += part.toString()))
    child.on('error', fail)
    child.on('close', (code) => (code === 0 ? done(out) : fail(new Error(errors))))
    child.stdin.end(input)
  })

const events = Array.from({ length: 40 }, (_, nth) => ({
  src_ip: nth % 4 === 0 ? '203.0.113.66' : `198.51.100.${nth}`,
  dst: { ip: `10.0.0.${nth}` },
  labels: { 'url.domain': nth % 5 === 0 ? 'bad.example.com' : 'good.example.com', note: 'é' },
  action: nth % 2 === 0 ? 'allowed' : 'blocked',
  n: nth + 1,
}))

type Around = { readonly broker: string; readonly registry: string; readonly intel: string }
type Written = { readonly key: string; readonly value: object; readonly hex: string }

const inHeader = ({ headers }: Read): Annotation => JSON.parse(String(headers.threatweave)) as Annotation
/** What must be the same in every form. */
const essence = ({ status, verdict, direction, action, indicators }: Annotation): object => ({
  status,
  verdict,
  direction,
  action,
  indicators: indicators.map(({ field, role, value, verdict: own }) => `${field} ${role} ${value} ${own}`).toSorted(),
})

if (missing !== undefined)
  it('is not tested for want of confluent-kafka, which is a failure in CI', () => {
    process.stderr.write(`${missing}\n`)
    expect(process.env.CI ?? '').toBe('')
  })
else
  it('Avro, Protobuf and JSON of real producers come out byte for byte, with the annotations of the same events in JSON', async () => {
    const registry = await startApicurio()
    const intel = await startLookupServer({ malicious: ['203.0.113.66'] })
    const started = await startBroker({ env: { ...process.env, KAFKA_BROKERS: undefined } })
    if ('missing' in started) throw new Error(started.missing)
    onTestFinished(started.stop)
    const broker = started.plain
    const around: Around = { broker, registry, intel: intel.url }
    const names = await makeTopics({ partitions: 1, broker })
    const inputs = { avro: `${names.input}-avro`, protobuf: `${names.input}-protobuf`, json: `${names.input}-json` }
    for (const topic of Object.values(inputs)) await makeTopic(topic, 1, broker)
    const lines = events.map((event) => JSON.stringify(event)).join('\n')
    await runPython(['write', broker, registry, inputs.avro, inputs.protobuf, inputs.json], lines)
    const plain = await annotationsOf(names.input, 'text', lines.split('\n'), around)
    for (const [form, input] of Object.entries(inputs)) {
      const before = await valuesOf(input, form, around)
      expect(before).toHaveLength(events.length)
      const { annotations, output } = await annotationsOf(input, 'registry', undefined, around)
      const after = await valuesOf(output, form, around)
      // The same bytes, and the same events to who reads them with the library.
      expect([form, after]).toEqual([form, before])
      expect([form, after.map(({ value }) => value)]).toEqual([form, events.map(sent(form))])
      for (const [nth] of events.entries()) {
        const [own, other] = [annotations.get(String(nth)), plain.annotations.get(String(nth))]
        if (!own || !other) throw new Error(`no annotation of ${nth}`)
        expect([form, nth, essence(own)]).toEqual([form, nth, essence(other)])
      }
    }
  })

/** Protobuf's JSON has 64-bit numbers as text. */
const sent =
  (form: string) =>
  (event: (typeof events)[number]): object =>
    form === 'protobuf' ? { ...event, n: String(event.n) } : event

const valuesOf = async (topic: string, form: string, { broker, registry }: Around): Promise<readonly Written[]> => {
  const out = await runPython(['read', broker, registry, topic, form, String(events.length)], '')
  const all = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Written)
  return all.toSorted((a, b) => Number(a.key) - Number(b.key))
}

/** Runs over a topic, which is filled first if there are lines, and returns the annotations by key. */
const annotationsOf = async (
  input: string,
  format: 'text' | 'registry',
  lines: readonly string[] | undefined,
  { broker, registry, intel }: Around,
): Promise<{ readonly annotations: ReadonlyMap<string, Annotation>; readonly output: string }> => {
  const names = { ...(await makeTopics({ partitions: 1, broker })), input }
  if (lines) await send(input, lines, broker)
  const run = spawnRun(names, {
    THREATWEAVE_KAFKA_BROKERS: broker,
    THREATWEAVE_INTEL_SERVICE_BASE_URL: intel,
    THREATWEAVE_ENRICH_MODE: 'complete',
    THREATWEAVE_KAFKA_INPUT_FORMAT: format,
    THREATWEAVE_KAFKA_REGISTRY_URL: registry,
    THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
    THREATWEAVE_OUTPUT_DETAIL: 'full',
    THREATWEAVE_OUTPUT_PLACEMENT: format === 'text' ? 'headers' : 'json',
  })
  const records = await readTopic(names.output, (all) => all.length >= events.length, { broker })
  expect(await run.stop()).toBe(0)
  return {
    annotations: new Map(records.map((record) => [String(record.key), inHeader(record)])),
    output: names.output,
  }
}

const send = async (topic: string, lines: readonly string[], broker: string): Promise<void> => {
  const producer = client(broker).producer()
  await producer.connect()
  await producer.send({ topic, messages: lines.map((value, nth) => ({ key: String(nth), value, partition: 0 })) })
  await producer.disconnect()
}

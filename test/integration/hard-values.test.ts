// Promise: an operator learns of a topic with binary records once, and a JSON event larger than what is searched comes out as it is.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { client, makeTopics, readTopic, type Names } from '../support/kafka.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { startRun, type Run } from '../support/spawn-run.js'

const avro = Buffer.from([0, 0, 0, 0, 7, 0x16, ...Buffer.from('192.0.2.1'), 0xff, 0x80])
const large = Buffer.from(`{"src_ip":"192.0.2.1","text":"${'some text, '.repeat(500_000)}"}`)

describe('in a run', () => {
  let provider: LookupServer
  let names: Names
  let run: Run

  beforeAll(async () => {
    provider = await startLookupServer()
    const config = { 'max.message.bytes': '8000000' }
    names = await makeTopics({ partitions: 1, config: { input: config, output: config } })
    run = startRun(names, {
      THREATWEAVE_LOG_LEVEL: 'info',
      THREATWEAVE_OPS_ENABLED: 'true',
      THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
    })
  })
  afterAll(async () => {
    await run.stop()
    await provider.close()
  })

  it('binary records are logged once and counted, and a large JSON event keeps every byte', async () => {
    const url = await run.opsUrl
    const producer = client().producer()
    await producer.connect()
    for (const value of [avro, avro, large, avro])
      await producer.send({ topic: names.input, messages: [{ value }], timeout: 30_000 })
    await producer.disconnect()
    const out = await readTopic(names.output, (records) => records.length >= 4)
    const values = out.map(({ value }) => value ?? Buffer.alloc(0))
    for (const nth of [0, 1, 3])
      expect(JSON.parse(String(values[nth]))).toMatchObject({ original_base64: avro.toString('base64') })
    expect(values[2]?.subarray(0, large.length - 1).equals(large.subarray(0, -1))).toBe(true)
    expect(values[2]?.toString('utf8', large.length - 1)).toMatch(/^,"threatweave":\{.*"truncated":true.*\}\}$/)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('\nthreatweave_binary_events_total 3\n')
    expect(metrics).toContain('\nthreatweave_log_events_total{event="binary_event_read"} 1\n')
  })
})

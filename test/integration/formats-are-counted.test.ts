// Promise: a log format of the user's own is used by `run` and counted by its name, and so is what no format recognises.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { client, makeTopics, type Names } from '../support/kafka.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { startRun, type Run } from '../support/spawn-run.js'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/formats.md'), 'utf8')
const format = /```yaml\n(id: acme-gate[\s\S]+?)```/.exec(page)?.[1] ?? ''
const lines = (/```\n(<134>[\s\S]+?)```/.exec(page)?.[1] ?? '').trim().split('\n')

describe('the worked example of docs/formats.md in a run', () => {
  let provider: LookupServer
  let names: Names
  let run: Run

  beforeAll(async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'formats-')), 'acme-gate.yaml')
    writeFileSync(path, format)
    provider = await startLookupServer()
    names = await makeTopics({ partitions: 1 })
    run = startRun(names, {
      THREATWEAVE_LOG_LEVEL: 'info',
      THREATWEAVE_OPS_ENABLED: 'true',
      THREATWEAVE_EXTRACT_FORMATS: path,
      THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
    })
  })
  afterAll(async () => {
    await run.stop()
    await provider.close()
  })

  it('is counted by its name, and an event of no format as none', async () => {
    const url = await run.opsUrl
    const producer = client().producer()
    await producer.connect()
    const values = [...lines, '{"src_ip":"192.0.2.1"}']
    await producer.send({ topic: names.input, messages: values.map((value) => ({ value })) })
    await producer.disconnect()
    const counted = async (): Promise<string[]> =>
      (await (await fetch(`${url}/metrics`)).text())
        .split('\n')
        .filter((line) => /^threatweave_events_by_format_total\{format="(?:acme-gate|squid|none)"\}/.test(line))
    await expect
      .poll(counted, { timeout: 600_000 })
      .toEqual([
        'threatweave_events_by_format_total{format="squid"} 0',
        'threatweave_events_by_format_total{format="acme-gate"} 2',
        'threatweave_events_by_format_total{format="none"} 1',
      ])
  })
})

import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import { client, makeTopics, readTopic } from '../support/kafka.js'
import { listOf, startListServer } from '../support/list-server.js'
import { startLookupServer } from '../support/lookup-server.js'
import { spawnRun } from '../support/spawn-run.js'

/** One for each worker. */
const partitions = 2
const indicators = Array.from({ length: 160 }, (_, place) => `198.51.100.${place + 1}`)

it('two workers pay for 160 indicators once, one call at a time, fetch a feed once, and the gateway’s own endpoint counts them', async () => {
  const server = await startLookupServer({ delayMs: 2 })
  const lists = await startListServer(listOf('192.0.2.99\n'))
  const names = await makeTopics({ partitions })
  const run = spawnRun(
    names,
    {
      THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
      THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '1',
      THREATWEAVE_FEEDS: JSON.stringify([{ name: 'web', url: lists.url }]),
      THREATWEAVE_OPS_ENABLED: 'true',
      THREATWEAVE_LOG_LEVEL: 'info',
      THREATWEAVE_MEMORY_PATH: join(mkdtempSync(join(tmpdir(), 'threatweave-')), 'memory'),
    },
    ['--workers', String(partitions)],
  )
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  let metrics = ''
  try {
    await producer.connect()
    // Every indicator on every partition, three times over: each worker meets all of them.
    for (let round = 0; round < 3; round++)
      for (let partition = 0; partition < partitions; partition++)
        await producer.send({
          topic: names.input,
          messages: indicators.map((ip) => ({ partition, value: JSON.stringify({ src_ip: ip, action: 'allowed' }) })),
        })
    // Every worker knows the feed.
    for (let partition = 0; partition < partitions; partition++)
      await producer.send({ topic: names.input, messages: [{ partition, value: '{"src_ip":"192.0.2.99"}' }] })
    const annotated = await readTopic(
      names.output,
      ({ length }) => length >= 3 * partitions * indicators.length + partitions,
    )
    expect(annotated.filter(({ value }) => value?.toString().includes('"source":"feed:web"'))).toHaveLength(partitions)
    while (new Set(server.asked).size < indicators.length) await sleep(50)
    // The key of the provider is the gateway's alone.
    const children = `/proc/${run.pid}/task/${run.pid}/children`
    if (existsSync(children))
      for (const pid of readFileSync(children, 'utf8').trim().split(' '))
        expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('sample-key')
    // The gateway is there before its workers, so its endpoint is the first that is told.
    const url = `${await run.opsUrl}/metrics`
    while (!metrics.includes('threatweave_credits_total 160\n')) {
      metrics = await (await fetch(url)).text()
      await sleep(50)
    }
  } finally {
    await producer.disconnect()
  }
  expect(await run.stop()).toBe(0)
  await server.close()
  expect(new Set(server.asked).size).toBe(indicators.length)
  expect(server.asked).toHaveLength(indicators.length)
  expect(server.maxInFlight()).toBe(1)
  expect(lists.asked).toHaveLength(1)
  expect(metrics).toContain('threatweave_provider_calls_total{operation="ip/malicious-info",code="ok"} 160\n')
})

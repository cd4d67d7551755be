// Promise: what one process has paid for every other one knows, a start on an empty disk pays for nothing again, and nothing forged is believed.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { expect, inject, it } from 'vitest'
import type { RetroAlert } from '../../src/alerts/retro-alert.js'
import type { Annotation } from '../../src/domain/annotation.js'
import type { Finding } from '../../src/domain/finding.js'
import { writeVerdict } from '../../src/verdicts/verdict-record.js'
import { runCli } from '../support/cli.js'
import { client, makeTopic, makeTopics, readAmongAborted, readTopic, type Names } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { spawnRun, type Run } from '../support/spawn-run.js'

const key = 'a key that nobody else has, of 40 letters'

const environment = (url: string, verdictsTopic: string): Record<string, string> => ({
  THREATWEAVE_ENRICH_MODE: 'complete',
  THREATWEAVE_INTEL_SERVICE_BASE_URL: url,
  THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '32',
  THREATWEAVE_KAFKA_VERDICTS_TOPIC: verdictsTopic,
  THREATWEAVE_KAFKA_VERDICTS_KEY: key,
  THREATWEAVE_LOG_LEVEL: 'info',
  THREATWEAVE_OPS_ENABLED: 'true',
})

/** As the documentation says it. */
const createVerdictsTopic = async (names: Names, verdictsTopic: string): Promise<void> => {
  const { stdout } = await runCli(['check', '--online', '--create-topics'], {
    env: {
      THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
      THREATWEAVE_KAFKA_GROUP_ID: names.groupId,
      THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
      THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
      THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
      THREATWEAVE_KAFKA_VERDICTS_TOPIC: verdictsTopic,
      THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
    },
  })
  expect(stdout).toContain(`Topic ${verdictsTopic} was created.`)
}

const send = async (topic: string, values: readonly object[], partition = 0): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  await producer.send({ topic, messages: values.map((value) => ({ partition, value: JSON.stringify(value) })) })
  await producer.disconnect()
}

const metric = async (run: Run, name: string): Promise<number> => {
  const text = await (await fetch(`${await run.opsUrl}/metrics`)).text()
  return Number(new RegExp(`^threatweave_${name.replace(/[{}"]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1] ?? NaN)
}

const waiting = { timeout: 600_000 }
const newTopic = (): string => `verdicts-${randomUUID().slice(0, 8)}`

const verdictsIn = async (topic: string, count: number): Promise<readonly string[]> => {
  const records = await readTopic(topic, ({ length }) => length >= count)
  return records.map(({ value }) => {
    const { threatweave } = JSON.parse(String(value)) as { threatweave: Annotation }
    return `${threatweave.status} ${threatweave.verdict}`
  })
}

it('a process and workers with a gateway, started at once on empty disks, ask nothing that another has paid for', async () => {
  const distinct = 300
  const malicious = ['2001:db8:7::1', '2001:db8:7::2']
  const server = await startLookupServer({ malicious })
  const verdictsTopic = newTopic()
  const events = Array.from({ length: distinct }, (_, n) => ({
    src_ip: `2001:db8:7::${n.toString(16)}`,
    action: 'allowed',
  }))
  const [first, second, third] = (await Promise.all([1, 2, 3].map(() => makeTopics({ partitions: 2 })))) as [
    Names,
    Names,
    Names,
  ]
  await createVerdictsTopic(first, verdictsTopic)
  for (const names of [first, second, third]) await send(names.input, events)
  const expected = events.map(({ src_ip }) => `complete ${malicious.includes(src_ip) ? 'malicious' : 'clean'}`)

  const paying = spawnRun(first, environment(server.url, verdictsTopic))
  expect(await verdictsIn(first.output, distinct)).toEqual(expected)
  await expect.poll(() => metric(paying, 'verdicts_appended_total'), waiting).toBe(distinct)
  expect(await paying.stop()).toBe(0)
  const paid = server.asked.length

  const alone = spawnRun(second, environment(server.url, verdictsTopic))
  const several = spawnRun(third, environment(server.url, verdictsTopic), ['--workers', '2'])
  expect(await verdictsIn(second.output, distinct)).toEqual(expected)
  expect(await verdictsIn(third.output, distinct)).toEqual(expected)
  expect(server.asked).toHaveLength(paid)
  expect(await metric(alone, 'verdicts_learnt_total')).toBe(distinct)
  expect([await alone.stop(), await several.stop()]).toEqual([0, 0])
  await server.close()
})

it('what is forged, old, cut off or unsigned changes nothing, and what comes after it is learnt', async () => {
  const server = await startLookupServer({ malicious: ['198.51.100.1', '198.51.100.2'] })
  const names = await makeTopics({ partitions: 1 })
  const verdictsTopic = newTopic()
  const address = (value: string) => ({ type: 'ip', value }) as const
  const clean = (at: number, isMalicious = false): Finding => ({
    status: 'known',
    source: 'service',
    at,
    operations: ['ip/malicious-info', 'ip/suspicious_info'],
    facts: { flags: { is_malicious: isMalicious }, categories: [] },
  })
  const record = (value: string, finding: Finding, changes: { readonly key?: string } = {}) =>
    writeVerdict(
      { topic: verdictsTopic, partitions: 1, key, ...changes },
      { indicator: address(value), finding, by: 'test' },
    )!
  const append = async (...records: readonly ReturnType<typeof record>[]): Promise<void> => {
    const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    await producer.send({
      topic: verdictsTopic,
      messages: records.map(({ headers, ...rest }) => ({
        ...rest,
        headers: Object.fromEntries(headers) as Record<string, Buffer>,
      })),
    })
    await producer.disconnect()
  }
  // The topic is not there yet: events do not depend on it.
  const run = spawnRun(names, environment(server.url, verdictsTopic))
  await send(names.input, [{ src_ip: '198.51.100.1' }])
  expect(await verdictsIn(names.output, 1)).toEqual(['complete malicious'])
  expect(await metric(run, 'log_events_total{event="verdicts_topic_failed"}')).toBeGreaterThan(0)
  await createVerdictsTopic(names, verdictsTopic)
  await expect.poll(() => metric(run, 'verdicts_appended_total'), waiting).toBe(1)

  const now = Date.now()
  const [one, giant, cut] = [
    record('198.51.100.1', clean(now)),
    record('198.51.100.1', clean(now)),
    record('198.51.100.1', clean(now)),
  ]
  await append(
    record('198.51.100.1', clean(now), { key: 'a key that somebody else has, of 40 letters' }),
    record('198.51.100.1', clean(now), { key: '' }),
    { ...giant, value: Buffer.concat([giant.value!, Buffer.alloc(5_000, ' ')]) },
    { ...cut, value: cut.value!.subarray(0, 50) },
    { ...one, value: Buffer.from(String(one.value).replace('"schema_version":1', '"schema_version":9')) },
    record('198.51.100.1', clean(now + 3_600_000)),
    // Ours, of last week, once more: it is older than what is known.
    record('198.51.100.1', clean(now - 7 * 86_400_000)),
    record('198.51.100.2', clean(now - 7 * 86_400_000)),
    record('198.51.100.3', clean(now, true)),
  )
  await expect.poll(() => metric(run, 'verdicts_learnt_total'), waiting).toBe(1)
  const refused = async (reason: string): Promise<number> => metric(run, `verdicts_refused_total{reason="${reason}"}`)
  // Another version does not have our signature either.
  expect(await refused('bad_signature')).toBe(2)
  for (const reason of ['unsigned', 'too_large', 'malformed', 'future'])
    expect([reason, await refused(reason)]).toEqual([reason, 1])
  const asked = server.asked.length
  await send(names.input, [{ src_ip: '198.51.100.1' }, { src_ip: '198.51.100.3' }, { src_ip: '198.51.100.2' }])
  expect(await verdictsIn(names.output, 4)).toEqual(Array.from({ length: 4 }, () => 'complete malicious'))
  // The first was known, and so was the one that the provider would call clean.
  expect(new Set(server.asked.slice(asked))).toEqual(new Set(['198.51.100.2']))
  expect(await run.stop()).toBe(0)
  await server.close()
})

it('an answer that changes is a retro alert of a process that never asked', async () => {
  const changing: string[] = []
  const [server, unasked] = await Promise.all([startLookupServer({ malicious: changing }), startLookupServer()])
  const [asking, seeing] = (await Promise.all([1, 2].map(() => makeTopics({ partitions: 1 })))) as [Names, Names]
  const [verdictsTopic, alertsTopic] = [newTopic(), `alerts-${randomUUID().slice(0, 8)}`]
  await makeTopic(alertsTopic, 1)
  await createVerdictsTopic(asking, verdictsTopic)
  const short = { THREATWEAVE_MEMORY_FRESH_SECONDS_CLEAN: '5' }
  const first = spawnRun(asking, { ...environment(server.url, verdictsTopic), ...short })
  const event = { src_ip: '10.0.0.5', dest_ip: '203.0.113.200', action: 'allowed' }
  await send(asking.input, [event])
  expect(await verdictsIn(asking.output, 1)).toEqual(['complete clean'])
  await expect.poll(() => metric(first, 'verdicts_appended_total'), waiting).toBe(1)
  const second = spawnRun(seeing, {
    ...environment(unasked.url, verdictsTopic),
    THREATWEAVE_KAFKA_ALERTS_TOPIC: alertsTopic,
  })
  await send(seeing.input, [event])
  expect(await verdictsIn(seeing.output, 1)).toEqual(['complete clean'])
  changing.push('203.0.113.200')
  const again = setInterval(() => void send(asking.input, [event]), 1_000)
  const alerts = await readAmongAborted(alertsTopic, ({ length }) => length > 0)
  clearInterval(again)
  await sleep(0)
  expect(alerts.map(({ value }) => (JSON.parse(String(value)) as RetroAlert).threatweave)).toMatchObject([
    { kind: 'retro', value: '203.0.113.200', count: 1, peers: ['10.0.0.5'] },
  ])
  expect(unasked.asked).toEqual([])
  const { stdout } = await runCli(['history', '203.0.113.200', '--json'], {
    env: {
      THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
      THREATWEAVE_KAFKA_VERDICTS_TOPIC: verdictsTopic,
      THREATWEAVE_KAFKA_VERDICTS_KEY: key,
    },
  })
  const { verdicts } = JSON.parse(stdout) as { verdicts: readonly { verdict: string; calls: number }[] }
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['clean', 'malicious'])
  expect(verdicts.reduce((sum, { calls }) => sum + calls, 0)).toBe(server.asked.length)
  expect([await first.stop(), await second.stop()]).toEqual([0, 0])
  await Promise.all([server.close(), unasked.close()])
})

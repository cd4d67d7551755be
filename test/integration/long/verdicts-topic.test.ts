// Promise: what one process has paid for every other one knows, a start on an empty disk pays for nothing again, and nothing forged is believed.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Partitioners, ResourcePatternTypes } from 'kafkajs'
import { expect, inject, it, onTestFinished } from 'vitest'
import type { RetroAlert } from '../../../src/alerts/retro-alert.js'
import type { Annotation } from '../../../src/domain/annotation.js'
import type { Finding } from '../../../src/domain/finding.js'
import { freePorts } from '../../../src/parts/demo/broker.js'
import { brokerUser } from '../../../src/parts/demo/broker-properties.js'
import { writeVerdict } from '../../../src/verdicts/verdict-record.js'
import { address, askAll, countKnown, startAsker } from '../../support/askers.js'
import { runLoaded } from '../../support/loaded-program.js'
import {
  client,
  makeTopic,
  makeTopics,
  readAmongAborted,
  readTopic,
  soak,
  withAdmin,
  type Names,
} from '../../support/kafka.js'
import { startListServer } from '../../support/list-server.js'
import { newFolder, sampleKey } from '../../support/lookup-service.js'
import { startLookupServer } from '../../support/lookup-server.js'
import { sourceAt } from '../../support/source-server.js'
import { spawnRun, spawnServe, startRun, type Run } from '../../support/spawn-run.js'

const key = 'a key that nobody else has, of 40 letters'

const environment = (url: string, verdictsTopic: string): Record<string, string> => ({
  THREATWEAVE_ENRICH_MODE: 'complete',
  THREATWEAVE_INTEL_SERVICE_BASE_URL: url,
  THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
  THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '32',
  THREATWEAVE_KAFKA_VERDICTS_TOPIC: verdictsTopic,
  THREATWEAVE_KAFKA_VERDICTS_KEY: key,
  THREATWEAVE_LOG_LEVEL: 'info',
  THREATWEAVE_OPS_ENABLED: 'true',
})

/** As the documentation says it. */
const createVerdictsTopic = async (names: Names, verdictsTopic: string): Promise<void> => {
  const { stdout } = await runLoaded(['check', '--online', '--create-topics'], {
    env: {
      THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
      THREATWEAVE_KAFKA_GROUP_ID: names.groupId,
      THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
      THREATWEAVE_KAFKA_INPUT_START: 'earliest',
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

const knownAt = (at: number, isMalicious = false): Finding => ({
  status: 'known',
  source: 'service',
  at,
  operations: ['ip/malicious-info', 'ip/suspicious_info'],
  facts: { flags: { is_malicious: isMalicious }, categories: [] },
})

type VerdictRecord = NonNullable<ReturnType<typeof writeVerdict>>

/** As a process with this key writes it that has been told so. */
const recordOf = (topic: string, value: string, finding: Finding, by = 'test', ownKey = key): VerdictRecord =>
  writeVerdict({ topic, partitions: 1, key: ownKey }, { indicator: { type: 'ip', value }, finding, by })!

const append = async (records: readonly VerdictRecord[]): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (let from = 0; from < records.length; from += 1_000)
    await producer.send({
      topic: records[0]?.topic ?? '',
      messages: records.slice(from, from + 1_000).map(({ headers, ...rest }) => ({
        ...rest,
        headers: Object.fromEntries(headers) as Record<string, Buffer>,
      })),
    })
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

it('a process and workers with a gateway, started at once on empty disks, ask nothing that another has paid for, of provider or source', async () => {
  const malicious = ['203.0.113.1', '203.0.113.2']
  const events = Array.from({ length: 40 }, (_, n) => ({ src_ip: `203.0.113.${n}`, action: 'allowed' }))
  const server = await startLookupServer({ malicious })
  const source = await startListServer((request, response) => {
    const ipAddress = new URL(request.url ?? '', 'http://source').searchParams.get('ipAddress') ?? ''
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data: { ipAddress, abuseConfidenceScore: malicious.includes(ipAddress) ? 100 : 0 } }))
  })
  const verdictsTopic = newTopic()
  const settings = {
    ...environment(server.url, verdictsTopic),
    THREATWEAVE_INTEL_SOURCES: JSON.stringify([
      { ...sourceAt(source.url, 'sources/abuseipdb.yaml'), ask: 'accused' },
      {
        ...sourceAt(source.url, 'sources/abuseipdb.yaml', (text) => text.replace('id: abuseipdb', 'id: another')),
        ask: 'always',
      },
    ]),
  }
  const [first, second, third] = (await Promise.all([1, 2, 3].map(() => makeTopics({ partitions: 2 })))) as [
    Names,
    Names,
    Names,
  ]
  await createVerdictsTopic(first, verdictsTopic)
  for (const names of [first, second, third]) await send(names.input, events)
  const found = async (topic: string): Promise<readonly unknown[]> =>
    (await readTopic(topic, ({ length }) => length >= events.length)).map(({ value }) => {
      const { threatweave } = JSON.parse(String(value)) as { threatweave: Annotation }
      return [threatweave.status, threatweave.verdict, threatweave.accusers]
    })
  const expected = events.map(({ src_ip }) =>
    malicious.includes(src_ip) ? ['complete', 'malicious', 3] : ['complete', 'clean', undefined],
  )

  const paying = spawnRun(first, settings)
  expect(await found(first.output)).toEqual(expected)
  // Of the provider, of the source that is always asked, and of the one that is asked where somebody accuses.
  const answers = 2 * events.length + malicious.length
  await expect.poll(() => metric(paying, 'verdicts_appended_total'), waiting).toBe(answers)
  expect(await paying.stop()).toBe(0)
  const paid = [server.asked.length, source.asked.length]
  expect(source.asked).toHaveLength(events.length + malicious.length)

  const alone = spawnRun(second, settings)
  const several = spawnRun(third, settings, ['--workers', '2'])
  expect(await found(second.output)).toEqual(expected)
  expect(await found(third.output)).toEqual(expected)
  expect([server.asked.length, source.asked.length]).toEqual(paid)
  expect(await metric(alone, 'verdicts_learnt_total')).toBe(answers)
  expect([await alone.stop(), await several.stop()]).toEqual([0, 0])
  await server.close()
})

it('what is forged, old, cut off or unsigned changes nothing, and what comes after it is learnt', async () => {
  const server = await startLookupServer({ malicious: ['198.51.100.1', '198.51.100.2'] })
  const names = await makeTopics({ partitions: 1 })
  const verdictsTopic = newTopic()
  const record = (value: string, finding: Finding, ownKey = key): VerdictRecord =>
    recordOf(verdictsTopic, value, finding, 'test', ownKey)
  // The topic is not there yet: events do not depend on it.
  const run = startRun(names, environment(server.url, verdictsTopic))
  await send(names.input, [{ src_ip: '198.51.100.1' }])
  expect(await verdictsIn(names.output, 1)).toEqual(['complete malicious'])
  expect(await metric(run, 'log_events_total{event="verdicts_topic_failed"}')).toBeGreaterThan(0)
  await createVerdictsTopic(names, verdictsTopic)
  await expect.poll(() => metric(run, 'verdicts_appended_total'), waiting).toBe(1)

  const now = Date.now()
  const [one, giant, cut] = [
    record('198.51.100.1', knownAt(now)),
    record('198.51.100.1', knownAt(now)),
    record('198.51.100.1', knownAt(now)),
  ]
  await append([
    record('198.51.100.1', knownAt(now), 'a key that somebody else has, of 40 letters'),
    record('198.51.100.1', knownAt(now), ''),
    { ...giant, value: Buffer.concat([giant.value!, Buffer.alloc(5_000, ' ')]) },
    { ...cut, value: cut.value!.subarray(0, 50) },
    { ...one, value: Buffer.from(String(one.value).replace('"schema_version":1', '"schema_version":9')) },
    record('198.51.100.1', knownAt(now + 3_600_000)),
    // Ours, of last week, once more: it is older than what is known.
    record('198.51.100.1', knownAt(now - 7 * 86_400_000)),
    record('198.51.100.2', knownAt(now - 7 * 86_400_000)),
    record('198.51.100.3', knownAt(now, true)),
  ])
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
  const first = startRun(asking, { ...environment(server.url, verdictsTopic), ...short })
  const event = { src_ip: '10.0.0.5', dest_ip: '203.0.113.200', action: 'allowed' }
  await send(asking.input, [event])
  expect(await verdictsIn(asking.output, 1)).toEqual(['complete clean'])
  await expect.poll(() => metric(first, 'verdicts_appended_total'), waiting).toBe(1)
  const second = startRun(seeing, {
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
  const { stdout } = await runLoaded(['history', '203.0.113.200', '--json'], {
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

it('history shows three periods of a verdict that changed twice, who asked and how many calls it took', async () => {
  const names = await makeTopics({ partitions: 1 })
  const verdictsTopic = newTopic()
  await createVerdictsTopic(names, verdictsTopic)
  const day = 86_400_000
  const began = Date.parse(new Date().toISOString().slice(0, 10)) - 5 * day
  const told = (days: number, isMalicious: boolean, by: string): VerdictRecord =>
    recordOf(verdictsTopic, '203.0.113.66', knownAt(began + days * day, isMalicious), by)
  const single = { ...knownAt(began + 3 * day, true), operations: ['ip/malicious-info'] }
  await append([
    told(0, false, 'one@a'),
    told(1, false, 'two@b'),
    // Appended late: the time it was obtained counts.
    told(4, false, 'one@a'),
    told(2, true, 'two@b'),
    recordOf(verdictsTopic, '203.0.113.66', single, 'two@b'),
    recordOf(verdictsTopic, '203.0.113.67', knownAt(began), 'three@c'),
    recordOf(verdictsTopic, '203.0.113.66', knownAt(began, true), 'forged', 'a key that somebody else has'),
  ])
  const env = {
    THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
    THREATWEAVE_KAFKA_VERDICTS_TOPIC: verdictsTopic,
    THREATWEAVE_KAFKA_VERDICTS_KEY: key,
  }
  const json = await runLoaded(['history', '203.0.113.66', '--json'], { env })
  const at = (days: number): string => new Date(began + days * day).toISOString()
  const of = { indicator: '203.0.113.66' }
  expect((JSON.parse(json.stdout) as { verdicts: unknown }).verdicts).toEqual([
    { ...of, verdict: 'clean', from: at(0), to: at(1), answers: 2, calls: 4, by: ['one@a', 'two@b'] },
    { ...of, verdict: 'malicious', from: at(2), to: at(3), answers: 2, calls: 3, by: ['two@b'] },
    { ...of, verdict: 'clean', from: at(4), to: at(4), answers: 1, calls: 2, by: ['one@a'] },
  ])
  const table = await runLoaded(['history', '203.0.113.66'], { env })
  const rows = table.stdout.split('\n').filter((line) => line.startsWith('203.0.113.66 '))
  expect(rows.map((row) => row.split(/\s+/)[1])).toEqual(['was', 'clean', 'malicious', 'clean'])
  expect(rows[1]).toMatch(/2 +4 +one@a, two@b$/)
  expect([json.code, table.code]).toEqual([0, 0])
})

it('two gateways and two workers, started at once on empty disks, make no call for thousands of known indicators', async () => {
  const distinct = soak ? 20_000 : 6_000
  const server = await startLookupServer()
  const names = await makeTopics({ partitions: 2 })
  const verdictsTopic = newTopic()
  await createVerdictsTopic(names, verdictsTopic)
  const now = Date.now()
  await append(Array.from({ length: distinct }, (_, nth) => recordOf(verdictsTopic, address(nth), knownAt(now))))
  const ports = await freePorts(2)
  const shared = {
    THREATWEAVE_KAFKA_VERDICTS_TOPIC: verdictsTopic,
    THREATWEAVE_KAFKA_VERDICTS_KEY: key,
    THREATWEAVE_LOG_LEVEL: 'info',
    THREATWEAVE_OPS_ENABLED: 'true',
  }
  const gateways = ports.map((port) =>
    spawnServe({ ...shared, THREATWEAVE_SERVE_API_KEY: sampleKey }, [
      ...['--port', String(port), '--state', newFolder(), '--upstream', server.url],
    ]),
  )
  const workers = [0, 1].map((nth) =>
    spawnRun(names, {
      ...shared,
      THREATWEAVE_ENRICH_MODE: 'complete',
      THREATWEAVE_INTEL_SERVICE_BASE_URL: `http://127.0.0.1:${ports[nth]}`,
      THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
      THREATWEAVE_INTEL_SERVICE_API_KEY: sampleKey,
    }),
  )
  const all = [...gateways, ...workers]
  onTestFinished(() => {
    for (const one of all) one.kill('SIGKILL')
  })
  for (const one of all) await expect.poll(() => metric(one, 'verdicts_learnt_total'), waiting).toBe(distinct)
  const share = distinct / 2
  for (let partition = 0; partition < 2; partition++)
    await send(
      names.input,
      Array.from({ length: share }, (_, nth) => ({ src_ip: address(partition * share + nth), action: 'allowed' })),
      partition,
    )
  const verdicts = await verdictsIn(names.output, distinct)
  expect(new Set(verdicts)).toEqual(new Set(['complete clean']))
  expect(server.asked).toEqual([])
  // Who asks a gateway and reads no topic: the first answers are single calls, until it knows that many can be asked at once.
  for (const port of ports) {
    const asker = await startAsker(`http://127.0.0.1:${port}`)
    for (let nth = distinct; nth === distinct || asker.admission?.state().spent.run !== 0; nth++)
      expect(countKnown(await askAll(asker, nth, nth + 1))).toBe(1)
    const asked = server.asked.length
    for (let from = 0; from < distinct; from += share)
      expect(countKnown(await askAll(asker, from, from + share))).toBe(share)
    expect(server.asked).toHaveLength(asked)
  }
  expect(await Promise.all(all.map((one) => one.stop()))).toEqual(all.map(() => 0))
  await server.close()
})

it('a topic that may be read and not written is a warning; events go on, and what was paid for is appended once it may be', async () => {
  const { secure } = inject('broker')
  const server = await startLookupServer()
  const names = await makeTopics({ partitions: 1 })
  const verdictsTopic = newTopic()
  await createVerdictsTopic(names, verdictsTopic)
  const allow = (operation: AclOperationTypes): Promise<boolean> =>
    withAdmin((admin) =>
      admin.createAcls({
        acl: [
          {
            resourceType: AclResourceTypes.TOPIC,
            resourceName: verdictsTopic,
            resourcePatternType: ResourcePatternTypes.LITERAL,
            principal: `User:${brokerUser.username}`,
            host: '*',
            operation,
            permissionType: AclPermissionTypes.ALLOW,
          },
        ],
      }),
    )
  await allow(AclOperationTypes.READ)
  const run = startRun(names, {
    ...environment(server.url, verdictsTopic),
    THREATWEAVE_KAFKA_BROKERS: secure!.sasl,
    THREATWEAVE_KAFKA_SASL_MECHANISM: 'scram-sha-512',
    THREATWEAVE_KAFKA_SASL_USERNAME: brokerUser.username,
    THREATWEAVE_KAFKA_SASL_PASSWORD: brokerUser.password,
  })
  await send(names.input, [{ src_ip: '198.51.100.1' }])
  expect(await verdictsIn(names.output, 1)).toEqual(['complete clean'])
  await expect.poll(() => metric(run, 'log_events_total{event="verdicts_topic_failed"}'), waiting).toBe(1)
  await send(names.input, [{ src_ip: '198.51.100.2' }])
  expect(await verdictsIn(names.output, 2)).toEqual(['complete clean', 'complete clean'])
  expect(await metric(run, 'verdicts_appended_total')).toBe(0)
  await allow(AclOperationTypes.WRITE)
  await expect.poll(() => metric(run, 'verdicts_appended_total'), waiting).toBe(2)
  expect(await run.stop()).toBe(0)
  await server.close()
})

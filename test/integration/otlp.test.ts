// Promise: log records in requests of OpenTelemetry in Protobuf are events like any other, annotated in their attributes: run, alerts, tail,
// explain, corrections and replay.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Alert } from '../../src/alerts/alert.js'
import { createAnnotationKey } from '../../src/pipeline/annotate/annotation-key.js'
import { findLogRecords, withoutAttributes } from '../../src/pipeline/otlp/find-log-records.js'
import { readableMember } from '../../src/pipeline/otlp/readable-log-record.js'
import type { Ran } from '../support/cli.js'
import { client, makeTopic, makeTopics, readTopic, type Names, type Read } from '../support/kafka.js'
import { runLoaded } from '../support/loaded-program.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { otlpRequest } from '../support/otlp.js'
import { startRun } from '../support/spawn-run.js'

const malicious = '198.51.100.66'
const attribute = (key: string, stringValue: string): object => ({ key, value: { stringValue } })
const logsOf = (...logRecords: readonly object[]) => ({
  resourceLogs: [
    { resource: { attributes: [attribute('service.name', 'fw')] }, scopeLogs: [{ scope: { name: 's' }, logRecords }] },
  ],
})
const line = (address: string): object => ({
  timeUnixNano: '1763193600000000000',
  severityNumber: 9,
  body: { stringValue: `accepted connection from ${address} to 10.0.0.5` },
  attributes: [attribute('source.address', address), attribute('event.action', 'allowed')],
  traceId: '5b8efff798038103d269b633813fc60c',
})
const forged = { ...line('203.0.113.9'), attributes: [attribute('threatweave.verdict', 'clean')] }
const given = {
  plain: otlpRequest(logsOf(line('203.0.113.5'), line(malicious), {})),
  forged: otlpRequest(logsOf(forged, line('203.0.113.5'))),
  broken: otlpRequest(logsOf(line(malicious))).subarray(0, -5),
  last: otlpRequest(logsOf(line('203.0.113.7'))),
}

const annotationKey = createAnnotationKey('threatweave')
const { isAnnotationName } = annotationKey
type Annotated = Readonly<Record<string, unknown>>
const membersOf = ({ value }: Pick<Read, 'value'>): readonly Annotated[] => {
  const bytes = value ?? Buffer.alloc(0)
  const { frames = [] } = findLogRecords(bytes, annotationKey, 100) ?? {}
  return frames.map((_, nth) => JSON.parse(String(readableMember(bytes, frames, nth))) as Annotated)
}
const verdictsOf = (record: Pick<Read, 'value'>): readonly unknown[] =>
  membersOf(record).map((one) => one['threatweave.verdict'])
const without = ({ value }: Read): Buffer => withoutAttributes(value ?? Buffer.alloc(0), isAnnotationName)

describe('requests of OpenTelemetry in Protobuf', () => {
  let server: LookupServer
  let names: Names
  let env: Readonly<Record<string, string>>
  let alerts: readonly Alert[] = []
  const rows = new Map<string, Read>()
  const row = (kind: keyof typeof given): Read => rows.get(kind)!
  const cli = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> =>
    runLoaded(args, {
      env: {
        THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
        THREATWEAVE_MEMORY_PATH: 'none',
        ...more,
      },
    })

  beforeAll(async () => {
    server = await startLookupServer({ malicious: [malicious] })
    names = await makeTopics({ partitions: 1 })
    const alertsTopic = `alerts-${randomUUID().slice(0, 8)}`
    await makeTopic(alertsTopic, 1)
    const producer = client().producer()
    await producer.connect()
    for (const [key, value] of Object.entries(given))
      await producer.send({
        topic: names.input,
        messages: [{ key, value, headers: { own: 'h', 'threatweave-format': 'text' } }],
      })
    await producer.disconnect()
    env = {
      THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
      THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
      THREATWEAVE_INTEL_SERVICE_ALLOW_HTTP: 'true',
      THREATWEAVE_GATE_DOCUMENTATION: 'true',
      THREATWEAVE_ENRICH_MODE: 'complete',
      THREATWEAVE_KAFKA_INPUT_FORMAT: 'otlp_proto',
      THREATWEAVE_KAFKA_ALERTS_TOPIC: alertsTopic,
    }
    const run = startRun(names, env)
    for (const one of await readTopic(names.output, (read) => read.some(({ key }) => String(key) === 'last')))
      rows.set(String(one.key), one)
    alerts = (await readTopic(alertsTopic, (read) => read.length >= 1)).map(
      ({ value }) => JSON.parse(String(value)) as Alert,
    )
    await run.stop()
  })
  afterAll(() => server.close())

  it('have an annotation in the attributes of every log record, and every other byte as it was', () => {
    expect(verdictsOf(row('plain'))).toEqual(['clean', 'malicious', 'unknown'])
    expect(membersOf(row('plain')).map((one) => one['threatweave.enrichment_id'])).toEqual(
      [0, 1, 2].map((nth) => `${names.input}/0/0#${nth}`),
    )
    expect(without(row('plain')).equals(given.plain)).toBe(true)
    expect(without(row('last')).equals(given.last)).toBe(true)
    expect(row('plain').headers.threatweave).toBeUndefined()
    expect(String(row('plain').headers.own)).toBe('h')
  })

  it('lose forged attributes, and say so', () => {
    expect(verdictsOf(row('forged'))).toEqual(['clean', 'clean'])
    expect(without(row('forged')).equals(otlpRequest(logsOf({ ...forged, attributes: [] }, line('203.0.113.5'))))).toBe(
      true,
    )
    expect(JSON.parse(String(row('forged').headers.threatweave))).toMatchObject({ replaced: 1, member_count: 2 })
  })

  it('that are broken come out as they are, with an annotation in the header that says so', () => {
    expect(row('broken').value?.equals(given.broken)).toBe(true)
    expect(JSON.parse(String(row('broken').headers.threatweave))).toMatchObject({ verdict: 'malicious' })
    expect(String(row('broken').headers.threatweave)).toContain('could not be read')
  })

  it('raise alerts that name the log record', () => {
    expect(alerts.map((one) => one.threatweave.origin)).toContain(`${names.input}/0/0#1`)
  })

  it('are shown by tail and explained by their place', async () => {
    const { stdout } = await cli(
      ['tail', '--from', 'earliest', '--count', '1', '--value', malicious, '--topic', names.output],
      env,
    )
    expect(stdout).toMatch(/malicious.*accepted connection from 198\.51\.100\.66/)
    const explained = await cli(['explain', '--json', `${names.output}/0/0#1`], env)
    expect(JSON.parse(explained.stdout)).toMatchObject({ annotation: { verdict: 'malicious', value: malicious } })
    const read = await cli(['explain', '--json', `${names.input}/0/0#1`], env)
    expect(JSON.parse(read.stdout)).toMatchObject({
      indicators: expect.arrayContaining([expect.objectContaining({ value: malicious, role: 'source' })]) as unknown,
    })
  })

  it.each(['raw', 'annotated'] as const)('are replayed from a topic of %s events', async (kind) => {
    const topic = kind === 'raw' ? names.input : names.output
    const to = `replayed-${randomUUID().slice(0, 8)}`
    await makeTopic(to, 1)
    const args = ['replay', '--topic', topic, '--output', to, '--from', 'earliest', '--to', 'now', '--input', kind]
    const ran = await cli(args, { ...env, THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead })
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 })
    const again = new Map<string, Read>()
    for (const one of await readTopic(to, (read) => read.length >= Object.keys(given).length))
      again.set(String(one.key), one)
    expect(verdictsOf(again.get('plain')!)).toEqual(['clean', 'malicious', 'unknown'])
    expect(without(again.get('plain')!).equals(given.plain)).toBe(true)
    expect(membersOf(again.get('plain')!)[1]).toMatchObject({ 'threatweave.enrichment_id': `${names.input}/0/0#1` })
    expect(again.get('broken')!.value?.equals(given.broken)).toBe(true)
  })

  it('that left before their answers are corrected, and those that were not are repaired by a replay', async () => {
    let answer = (): void => undefined
    const held = new Promise<void>((resolve) => (answer = resolve))
    const slow = await startLookupServer({ malicious: [malicious], held })
    const { output, dead, groupId } = await makeTopics({ partitions: 1 })
    const corrections = `${output}-corrections`
    await makeTopic(corrections, 1)
    const slowly = {
      ...env,
      THREATWEAVE_INTEL_SERVICE_BASE_URL: slow.url,
      THREATWEAVE_ENRICH_MODE: 'live',
      THREATWEAVE_ENRICH_DEADLINE_MS: '20',
      THREATWEAVE_KAFKA_ALERTS_TOPIC: '',
    }
    const run = startRun(
      { input: names.input, output, dead, groupId },
      { ...slowly, THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: corrections },
    )
    const isPlain = ({ key }: Read): boolean => String(key) === 'plain'
    const [first] = (await readTopic(output, (read) => read.length >= Object.keys(given).length)).filter(isPlain)
    expect(membersOf(first!)[1]).toMatchObject({ 'threatweave.verdict': 'unknown' })
    answer()
    const [corrected] = (await readTopic(corrections, (read) => read.some(isPlain))).filter(isPlain)
    await run.stop()
    const to = `repaired-${randomUUID().slice(0, 8)}`
    await makeTopic(to, 1)
    const args = ['replay', '--topic', output, '--output', to, '--from', 'earliest', '--to', 'now', '--only', 'pending']
    // It is told nothing of formats: the records say it.
    const ran = await cli(args, {
      ...env,
      THREATWEAVE_KAFKA_INPUT_FORMAT: 'text',
      THREATWEAVE_KAFKA_OUTPUT_TOPIC: output,
      THREATWEAVE_KAFKA_ALERTS_TOPIC: '',
    })
    await slow.close()
    expect(ran).toMatchObject({ code: 0 })
    const [repaired] = (await readTopic(to, (read) => read.some(isPlain))).filter(isPlain)
    for (const again of [corrected!, repaired!]) {
      expect(verdictsOf(again)).toEqual(['clean', 'malicious', 'unknown'])
      expect(without(again).equals(given.plain)).toBe(true)
      expect(membersOf(again)[1]).toMatchObject({ 'threatweave.enrichment_id': `${names.input}/0/0#1` })
      expect(String(again.headers['threatweave-format'])).toBe('otlp_proto')
    }
  })
})

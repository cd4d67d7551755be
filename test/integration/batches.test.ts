// Promise: every event of a record of many or in an envelope is looked at and annotated inside it, and what does not fit is left out step
// by step; or each comes out as a record of its own.
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { Partitioners } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Alert } from '../../src/alerts/alert.js'
import type { Annotation } from '../../src/domain/annotation.js'
import { client, makeTopic, makeTopics, readTopic, type Names, type Read } from '../support/kafka.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { startRun } from '../support/spawn-run.js'

const malicious = '198.51.100.66'
const maxBytes = 40_000
let server: LookupServer
beforeAll(async () => {
  server = await startLookupServer({ malicious: [malicious] })
})
afterAll(() => server.close())

/** Members of 100 bytes or more; those in `accused` have the malicious address. */
const batchOf = (count: number, accused: readonly number[], pad = 0): string =>
  `[${Array.from({ length: count }, (_, nth) => {
    const ip = accused.includes(nth) ? malicious : `203.0.113.${nth % 100}`
    return JSON.stringify({ n: nth, src_ip: ip, dest_ip: '10.0.0.5', action: 'allowed', note: 'x'.repeat(40 + pad) })
  }).join(', ')}]`
const all = (count: number): number[] => [...Array(count).keys()]

const records = {
  whole: batchOf(20, [7]),
  compact: batchOf(80, [7, 70]),
  accused: batchOf(200, [7, 70, 199]),
  header: batchOf(150, all(150), 100),
  dead: batchOf(300, [7], 100),
  mixed: `["${malicious}",{"n":1},"nothing"]`,
  lines: `{"src_ip":"${malicious}"}\n{"src_ip":"203.0.113.5"}\n`,
}
type Kind = keyof typeof records

const envelopes = {
  packed: gzipSync(`{"src_ip":"203.0.113.5"}\n{"src_ip":"${malicious}"}\n`),
  splunk: `{"time":1763193600,"sourcetype":"fw","event":"deny from ${malicious} to 10.0.0.5"}`,
  connect: `{"schema":{"type":"struct"},"payload":{"src_ip":"${malicious}"}}`,
  large: `[${JSON.stringify({ src_ip: malicious, note: 'x'.repeat(maxBytes) })},{"src_ip":"203.0.113.5"}]`,
  gone: null,
}

const produce = async (input: string, values: Readonly<Record<string, string | Buffer | null>>): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (const [key, value] of Object.entries(values))
    await producer.send({ topic: input, messages: [{ key, value, partition: 0, headers: { own: 'h' } }] })
  await producer.disconnect()
}

type Summary = Annotation & {
  readonly accused_members?: readonly number[]
  readonly members?: readonly (Annotation & { readonly member: number })[]
}
const headerOf = ({ headers }: Read): Summary | undefined =>
  headers.threatweave === undefined ? undefined : (JSON.parse(String(headers.threatweave)) as Summary)
type Member = { readonly n: number; readonly threatweave?: Annotation }
const membersOf = ({ value }: Read): Member[] => JSON.parse(String(value)) as Member[]
const accusedIn = (record: Read): number[] =>
  membersOf(record).flatMap(({ threatweave }, nth) => (threatweave?.verdict === 'malicious' ? [nth] : []))
const without = ({ value }: Read): string => String(value).replace(/,"threatweave":\{(?:[^{}]|\{[^{}]*\})*\}/g, '')

describe('batches', () => {
  const rows = new Map<string, Read>()
  const headers = new Map<string, Read>()
  let split: readonly Read[] = []
  let deadOfSplit: readonly Read[] = []
  let dead: readonly Read[] = []
  let alerts: readonly Alert[] = []
  let input = ''

  beforeAll(async () => {
    const config = { output: { 'max.message.bytes': String(maxBytes) } }
    const names = await makeTopics({ partitions: 1, config })
    ;({ input } = names)
    const second: Names = { ...names, output: `${names.output}-headers`, groupId: `${names.groupId}-headers` }
    const third: Names = { ...(await makeTopics({ partitions: 1, config })), input }
    await makeTopic(second.output, 1)
    const alertsTopic = `alerts-${randomUUID().slice(0, 8)}`
    await makeTopic(alertsTopic, 1)
    await produce(names.input, { ...records, ...envelopes })
    const env = {
      THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
      THREATWEAVE_ENRICH_MODE: 'complete',
      THREATWEAVE_OUTPUT_DETAIL: 'full',
    }
    const runs = [
      startRun(names, {
        ...env,
        THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
        THREATWEAVE_KAFKA_ALERTS_TOPIC: alertsTopic,
      }),
      startRun(second, { ...env, THREATWEAVE_OUTPUT_PLACEMENT: 'headers' }),
      startRun(third, {
        ...env,
        THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
        THREATWEAVE_KAFKA_INPUT_BATCHES: 'split',
      }),
    ]
    const count = Object.keys(records).length + Object.keys(envelopes).length
    for (const one of await readTopic(names.output, (read) => read.length >= count - 2)) rows.set(String(one.key), one)
    for (const one of await readTopic(second.output, (read) => read.length >= count)) headers.set(String(one.key), one)
    split = await readTopic(third.output, (read) => read.some(({ key }) => String(key) === 'gone'))
    deadOfSplit = await readTopic(third.dead, (read) => read.length >= 1)
    dead = await readTopic(names.dead, (read) => read.length >= 2)
    alerts = (await readTopic(alertsTopic, (read) => read.length >= 1)).map(
      ({ value }) => JSON.parse(String(value)) as Alert,
    )
    await Promise.all(runs.map((run) => run.stop()))
  })
  const row = (kind: Kind | keyof typeof envelopes): Read => rows.get(kind)!

  it('annotate every member in full where there is room, all other bytes unchanged', () => {
    expect(without(row('whole'))).toBe(records.whole)
    expect(accusedIn(row('whole'))).toEqual([7])
    expect(membersOf(row('whole')).every(({ threatweave }) => threatweave?.indicators.length === 2)).toBe(true)
    expect(headerOf(row('whole'))).toBeUndefined()
    expect(membersOf(row('whole'))[7]?.threatweave?.enrichment_id).toBe(`${input}/0/0#7`)
  })

  it('then annotate every member compactly', () => {
    expect(without(row('compact'))).toBe(records.compact)
    expect(accusedIn(row('compact'))).toEqual([7, 70])
    const annotations = membersOf(row('compact')).map(({ threatweave }) => threatweave as Partial<Annotation>)
    expect(annotations.every((one) => one.verdict !== undefined && one.indicators === undefined)).toBe(true)
  })

  it('then only the accused members, with counts in a header', () => {
    expect(without(row('accused'))).toBe(records.accused)
    expect(accusedIn(row('accused'))).toEqual([7, 70, 199])
    expect(membersOf(row('accused')).filter(({ threatweave }) => threatweave)).toHaveLength(3)
    expect(headerOf(row('accused'))).toMatchObject({ member_count: 200, malicious_members: 3, clean_members: 197 })
  })

  it('then keep their own bytes, the worst verdict and the accused in a header', () => {
    expect(String(row('header').value)).toBe(records.header)
    expect(headerOf(row('header'))).toMatchObject({ verdict: 'malicious', malicious_members: 150 })
    expect(headerOf(row('header'))?.accused_members).toEqual(all(100))
  })

  it('are dead letters only if they do not fit themselves', () => {
    expect(rows.has('dead')).toBe(false)
    expect(dead.map(({ key }) => String(key))).toEqual(['dead', 'large'])
    expect(String(dead[0]?.value)).toBe(records.dead)
  })

  it('report members that are no objects in a header', () => {
    expect(headerOf(row('mixed'))).toMatchObject({
      member: 0,
      member_count: 3,
      members: [{ member: 0, value: malicious }],
    })
    expect(without(row('mixed'))).toBe(records.mixed)
  })

  it('may be lines', () => {
    const lines = String(row('lines').value).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as Member).threatweave?.verdict)).toEqual(['malicious', 'clean'])
    expect(without(row('lines'))).toBe(records.lines)
  })

  it('may be in envelopes, which are annotated where they have room, else in a header', () => {
    expect(headerOf(row('packed'))).toMatchObject({ verdict: 'malicious', member: 1, member_count: 2 })
    expect(row('packed').value).toEqual(envelopes.packed)
    const { fields } = JSON.parse(String(row('splunk').value)) as { readonly fields: object }
    expect(fields).toMatchObject({ 'threatweave.verdict': 'malicious', 'threatweave.value': malicious })
    expect(headerOf(row('connect'))).toMatchObject({ verdict: 'malicious', value: malicious })
    expect(String(row('connect').value)).toBe(envelopes.connect)
    expect(row('gone').value).toBeNull()
  })

  it('come out as one record per member where they are split, in order, with key and headers', () => {
    const of = (kind: string): readonly Read[] => split.filter(({ key }) => String(key) === kind)
    expect(split.every(({ headers: { own } }) => String(own) === 'h')).toBe(true)
    const events = of('accused').map(({ value }) => JSON.parse(String(value)) as Member)
    expect(events.map(({ n }) => n)).toEqual(all(200))
    const accused = events.filter(({ threatweave }) => threatweave?.verdict === 'malicious')
    expect(accused.map(({ n }) => n)).toEqual([7, 70, 199])
    const batch = `[${of('accused').map(without).join(', ')}]`
    expect(batch).toBe(records.accused)
    expect(of('dead')).toHaveLength(300)
    expect(of('mixed').map(({ value }) => (JSON.parse(String(value)) as { message?: string }).message)).toEqual([
      `"${malicious}"`,
      undefined,
      '"nothing"',
    ])
    expect(of('packed').map(without)).toEqual(['{"src_ip":"203.0.113.5"}', `{"src_ip":"${malicious}"}`])
    expect([of('splunk'), of('connect'), of('gone')].map(({ length }) => length)).toEqual([1, 1, 1])
    expect(of('large').map(without)).toEqual(['{"src_ip":"203.0.113.5"}'])
    expect(deadOfSplit.map(({ key, headers: own }) => `${String(key)} ${String(own['threatweave-member'])}`)).toEqual([
      'large 0',
    ])
  })

  it('raise alerts that name the member', () => {
    expect(alerts[0]?.threatweave.origin).toBe(`${input}/0/0#7`)
  })

  it('stay byte for byte when annotations go into headers, which list the members by index', () => {
    for (const [kind, text] of Object.entries(records)) {
      const record = headers.get(kind)!
      const own = record.headers.own
      expect([String(record.value), String(own)]).toEqual([text, 'h'])
      expect(headerOf(record)?.members?.length).toBeGreaterThan(0)
    }
    expect(headerOf(headers.get('accused')!)).toMatchObject({ member_count: 200, accused_members: [7, 70, 199] })
  })
})

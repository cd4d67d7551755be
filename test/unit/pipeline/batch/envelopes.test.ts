// Golden cases of envelopes, each in the shape that its documentation shows: what is read, and where the annotation stands.
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApp, type App } from '../../../../src/app/open-app.js'
import { readWrittenOf } from '../../../../src/app/open-records.js'
import { load } from '../../../../src/config/load.js'
import type { ReadWritten } from '../../../../src/pipeline/batch/read-written.js'
import { allOf, type EventOut } from '../../../../src/pipeline/pipeline.js'
import { ignoreTelemetry } from '../../../../src/telemetry/event.js'
import { someFeed } from '../../../support/cli.js'

const listed = 'c2.botnet.example.org'
const line = `<134>Nov 15 08:00:00 fw1 kernel: ACCEPT SRC=198.51.100.7 DST=203.0.113.9 URL=http://${listed}/`
const quoted = JSON.stringify(line)
const base64 = (text: string | Buffer): string => Buffer.from(text as string).toString('base64')
const subscription = `{"messageType":"DATA_MESSAGE","owner":"123456789012","logGroup":"firewall","logStream":"fw1","subscriptionFilters":["all"],"logEvents":[{"id":"1","timestamp":1763193600000,"message":"nothing"},{"id":"2","timestamp":1763193600001,"message":${quoted}}]}`
/** `{"query":"c2.botnet.example.org"}`, as zstd packs it: stored in one block. */
const zstd = (text: string): Buffer =>
  Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, text.length]),
    Buffer.from([(text.length << 3) | 1, text.length >> 5, 0]),
    Buffer.from(text),
  ])

let app: App
let readWritten: ReadWritten
beforeAll(async () => {
  const loaded = load({
    file: undefined,
    values: { feeds: [{ name: 'mine', path: someFeed }], gate: { documentation: true } },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded) throw new Error('settings')
  const opened = await openApp(loaded.config, { mode: 'complete', env: {}, emit: ignoreTelemetry })
  if ('problems' in opened) throw new Error('app')
  app = opened
  readWritten = readWrittenOf(loaded.config)
})
afterAll(() => app.close())

/** Whatever is written is found again when it is read. */
const through = async (bytes: Buffer): Promise<EventOut> => {
  const [out] = (await allOf(app.pipeline, [{ bytes, origin: 'logs/0/5' }])) as [EventOut]
  const beside = out.beside?.()
  const headers = beside === undefined ? [] : [['threatweave', Buffer.from(beside)] as const]
  const { events } = readWritten({ value: out.bytes(), headers })
  const written = out.members ?? [out]
  expect(events.map(({ annotation }) => [annotation?.verdict, annotation?.enrichment_id])).toEqual(
    written.map(({ verdict, origin }) => [verdict, origin]),
  )
  expect(events.map(({ member }) => member)).toEqual(written.map((_, nth) => (out.members ? nth : undefined)))
  return out
}
type Json = Readonly<Record<string, unknown>>
const parse = (text: string | Buffer | undefined): Json => JSON.parse(String(text)) as Json

describe('the event of a shipper is read, its sender is the observer, and the annotation is at the top', () => {
  it.each([
    [
      'Filebeat and Elastic Agent',
      `{"@timestamp":"2026-11-15T08:00:00.000Z","@metadata":{"beat":"filebeat","type":"_doc","version":"8.15.0"},"log":{"source":{"address":"192.0.2.44:514"}},"message":${quoted},"input":{"type":"udp"},"host":{"name":"collector"},"agent":{"type":"filebeat"}}`,
    ],
    [
      'Logstash',
      `{"@version":"1","host":{"ip":"192.0.2.44"},"message":${quoted},"@timestamp":"2026-11-15T08:00:00.000Z"}`,
    ],
    ['Fluent Bit', `{"@timestamp":1763193600.123456,"log":${quoted},"stream":"stdout"}`],
    ['Fluentd', `{"message":${quoted},"tag":"syslog.local0.info"}`],
    [
      'Vector',
      `{"appname":"kernel","facility":"local0","host":"fw1","hostname":"fw1","message":${quoted},"severity":"info","source_ip":"192.0.2.44","source_type":"syslog","timestamp":"2026-11-15T08:00:00Z"}`,
    ],
    [
      'rsyslog',
      `{"timestamp":"2026-11-15T08:00:00Z","host":"fw1","fromhost-ip":"192.0.2.44","severity":"info","msg":${quoted}}`,
    ],
    [
      'syslog-ng',
      `{"SOURCEIP":"192.0.2.44","SOURCE":"s_net","PROGRAM":"kernel","MESSAGE":${quoted},"HOST_FROM":"192.0.2.44","HOST":"fw1"}`,
    ],
    [
      'NXLog',
      `{"MessageSourceAddress":"192.0.2.44","EventReceivedTime":"2026-11-15 08:00:00","SourceModuleType":"im_udp","Message":${quoted}}`,
    ],
    [
      'Cribl',
      `{"_raw":${quoted},"_time":1763193600,"host":"fw1","source":"udp:514","sourcetype":"fw","cribl_pipe":"main"}`,
    ],
    ['Kafka Connect without a schema', `{"id":5,"message":${quoted}}`],
  ])('%s', async (_, text) => {
    const out = await through(Buffer.from(text))
    const roles = Object.fromEntries(out.extraction.sightings.map(({ value, role }) => [value, role]))
    expect(roles).toMatchObject({ '198.51.100.7': 'source', '203.0.113.9': 'destination', [listed]: 'url' })
    expect(roles['192.0.2.44'] ?? 'observer').toBe('observer')
    expect(out.bytes().toString().startsWith(text.slice(0, -1))).toBe(true)
    expect(parse(out.bytes()).threatweave).toMatchObject({ verdict: 'malicious', enrichment_id: 'logs/0/5' })
  })
})

describe('an envelope', () => {
  const malicious = { verdict: 'malicious', value: listed, enrichment_id: 'logs/0/5' }

  it('of Splunk has the annotation in an event that is an object, else in its fields, forged ones replaced', async () => {
    const head = '{"time":1763193600,"host":"fw1","source":"udp:514","sourcetype":"fw","event":'
    const inside = await through(Buffer.from(`${head}{"query":"${listed}"}}`))
    expect(parse(inside.bytes())).toMatchObject({ event: { query: listed, threatweave: malicious }, host: 'fw1' })
    const text = await through(Buffer.from(`${head}${quoted}}`))
    expect(text.bytes().toString().startsWith(`${head}${quoted},"fields":{`)).toBe(true)
    expect(parse(text.bytes()).fields).toMatchObject({
      'threatweave.verdict': 'malicious',
      'threatweave.value': listed,
    })
    const forged = await through(Buffer.from(`${head}${quoted},"fields":{"a":"1","threatweave.verdict":"clean"}}`))
    expect(parse(forged.bytes()).fields).toMatchObject({ a: '1', 'threatweave.verdict': 'malicious' })
    expect(forged.bytes().toString()).not.toContain('"clean"')
  })

  it.each([
    [
      'a record',
      `{"schema":{"type":"struct","fields":[{"field":"query","type":"string"}]},"payload":{"query":"${listed}"}}`,
    ],
    ['text', `{"schema":{"type":"string","optional":false},"payload":${quoted}}`],
  ])('of Kafka Connect with a schema stays byte for byte, the annotation in a header: %s', async (_, text) => {
    const out = await through(Buffer.from(text))
    expect(out.bytes().toString()).toBe(text)
    expect(parse(out.beside?.())).toMatchObject(malicious)
  })

  it('of Pub/Sub has its data decoded, and the annotation at the top', async () => {
    const text = `{"message":{"attributes":{"k":"v"},"data":"${base64(line)}","messageId":"1"},"subscription":"projects/p/subscriptions/s"}`
    const out = await through(Buffer.from(text))
    expect(out.extraction.sightings.map(({ value }) => value)).toContain('198.51.100.7')
    expect(parse(out.bytes())).toMatchObject({ subscription: 'projects/p/subscriptions/s', threatweave: malicious })
    const forged = await through(
      Buffer.from(text.replace('"subscription"', '"threatweave":{"verdict":"clean"},"subscription"')),
    )
    expect(parse(forged.bytes()).threatweave).not.toMatchObject({ verdict: 'clean' })
  })

  it('of CloudWatch is unpacked into its log events, which are listed at the top or in a header', async () => {
    const members = {
      ...malicious,
      member: 1,
      member_count: 2,
      members: [{ member: 0 }, { member: 1, verdict: 'malicious' }],
    }
    const wrapped = await through(Buffer.from(`{"awslogs":{"data":"${base64(gzipSync(subscription))}"}}`))
    expect(parse(wrapped.bytes()).threatweave).toMatchObject(members)
    const bare = Buffer.from(base64(gzipSync(subscription)))
    const out = await through(bare)
    expect(out.bytes()).toEqual(bare)
    expect(parse(out.beside?.())).toMatchObject(members)
    expect(out.members?.map(({ origin }) => origin)).toEqual(['logs/0/5#0', 'logs/0/5#1'])
  })

  it('may be gzip or zstd itself, and stays byte for byte', async () => {
    for (const bytes of [gzipSync(line), zstd(`{"query":"${listed}"}`)]) {
      const out = await through(bytes)
      expect(out.bytes()).toEqual(bytes)
      expect(parse(out.beside?.())).toMatchObject(malicious)
    }
    const lines = await through(gzipSync(`{"a":1}\n{"query":"${listed}"}\n`))
    expect(parse(lines.beside?.())).toMatchObject({ ...malicious, member: 1, member_count: 2 })
  })

  it.each([
    [
      'an event that has an address as source',
      `{"time":"x","host":"srv","event":"login failed","source":"198.51.100.7"}`,
    ],
    ['an object with more beside the data', `{"message":{"data":"${base64(line)}"},"src_ip":"198.51.100.7"}`],
    ['a payload without a schema', '{"payload":{"src_ip":"198.51.100.7"}}'],
    ['gzip that is damaged', Buffer.concat([gzipSync(line).subarray(0, 40), Buffer.from('198.51.100.7')])],
    ['gzip that unpacks to too much', gzipSync(Buffer.alloc(20_000_000))],
    ['base64 of something else', `{"message":{"data":"not base64: 198.51.100.7"}}`],
  ])('is not %s', async (_, given) => {
    const out = await through(Buffer.from(given as string))
    expect(out.beside?.()).toBeUndefined()
    expect(parse(out.bytes()).threatweave).toMatchObject({ schema_version: 1 })
  })
})

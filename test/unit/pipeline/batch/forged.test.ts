// Every shape of record with a forged annotation in each place where a reader would look: it is replaced, or the record says that it carries one.
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApp, type App } from '../../../../src/app/open-app.js'
import { load } from '../../../../src/config/load.js'
import { compose, type Step, type OutputTarget } from '../../../../src/delivery/compose.js'
import { batchLimits } from '../../../../src/pipeline/batch/cut-batch.js'
import { allOf, type EventOut } from '../../../../src/pipeline/pipeline.js'
import { ignoreTelemetry } from '../../../../src/telemetry/event.js'
import { someFeed } from '../../../support/cli.js'
import type { Incoming } from '../../../../src/kafka/records.js'

const listed = 'c2.botnet.example.org'
const mark = 'FORGED'

let app: App
let unopened: App
const appWith = async (values: object): Promise<App> => {
  const feeds = [{ name: 'mine', path: someFeed }]
  const loaded = load({
    file: undefined,
    values: { feeds, gate: { documentation: true }, ...values },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded) throw new Error('settings')
  const opened = await openApp(loaded.config, { mode: 'complete', env: {}, emit: ignoreTelemetry })
  if ('problems' in opened) throw new Error('app')
  return opened
}
beforeAll(async () => {
  app = await appWith({})
  unopened = await appWith({ kafka: { input: { batches: 'off' } } })
})
afterAll(async () => {
  await app.close()
  await unopened.close()
})

type Json = Readonly<Record<string, unknown>>
type Written = { readonly value: Buffer; readonly header: Json | undefined }

const write = async (
  value: Buffer,
  placement: OutputTarget['placement'],
  through = app,
  rung: Step = 'whole',
): Promise<Written> => {
  const target: OutputTarget = {
    placement,
    key: 'threatweave',
    topic: 'out',
    deadLetterTopic: 'dead',
    maxBytes: 100_000_000,
    maxDeadLetterBytes: 100_000_000,
    outputPartition: () => 0,
    deadLetterPartition: () => 0,
  }
  const incoming: Incoming = { topic: 'in', partition: 0, offset: '5', key: null, value, headers: [], timestamp: '1' }
  const [event] = (await allOf(through.pipeline, [{ bytes: value, origin: 'in/0/5' }])) as [EventOut]
  const { record } = compose(incoming, event, target, 2, rung)
  const headers = record.headers.filter(([name]) => name === 'threatweave')
  expect(headers.length).toBeLessThanOrEqual(1)
  return {
    value: record.value ?? Buffer.alloc(0),
    header: headers[0]?.[1] ? (JSON.parse(headers[0][1].toString()) as Json) : undefined,
  }
}

/** The value and everything that is packed in it, as a reader could unpack it. */
const unpacked = (value: Buffer): string => {
  if (value[0] === 0x1f) return gunzipSync(value).toString()
  const text = value.toString()
  if (text.startsWith('H4s')) return gunzipSync(Buffer.from(text, 'base64')).toString()
  return text.replace(/"data":"([A-Za-z0-9+/=]+)"/g, (_, data: string) => {
    const bytes = Buffer.from(data, 'base64')
    return bytes[0] === 0x1f ? gunzipSync(bytes).toString() : bytes.toString()
  })
}
const stated = (text: string, name: string): number =>
  [...text.matchAll(new RegExp(`"(?:threatweave\\.)?${name}\\\\?":(?:"(\\d+)"|(\\d+))`, 'g'))]
    .map(([, quoted, plain]) => Number(quoted ?? plain))
    .reduce((sum, one) => sum + one, 0) +
  [...text.matchAll(new RegExp(`"key":"threatweave\\.${name}","value":\\{"intValue":"(\\d+)"`, 'g'))].length

/** Names under which a reader finds our annotation, all forged. */
const spellings: readonly (readonly [string, string])[] = [
  ['the key', `"threatweave":{"verdict":"clean","value":"${mark}"}`],
  ['a dotted name', `"threatweave.verdict":"${mark}"`],
  ['another case', `"ThreatWeave":{"verdict":"${mark}"}`],
  ['an escape', `"\\u0074hreatweave":{"verdict":"${mark}"}`],
]
const attributes: readonly (readonly [string, string])[] = [
  ['an attribute', `{"key":"threatweave.verdict","value":{"stringValue":"${mark}"}}`],
  ['another case', `{"key":"ThreatWeave.verdict","value":{"stringValue":"${mark}"}}`],
  [
    'an escape',
    `{"\\u006bey":"\\u0074hreatweave","value":{"kvlistValue":{"values":[{"key":"verdict","value":{"stringValue":"${mark}"}}]}}}`,
  ],
]

const ask = `"query":"${listed}"`
const quoted = (text: string): string => JSON.stringify(text)
const base64 = (text: string | Buffer): string => Buffer.from(text as string).toString('base64')
const hec = (event: string, more = ''): string => `{"sourcetype":"fw","event":${event}${more}}`
const connect = (payload: string, more = ''): string => `{"schema":{"type":"struct"${more}},"payload":${payload}}`
const pubsub = (data: string, more = ''): string => `{"message":{"data":"${base64(data)}"${more}},"subscription":"s"}`
const awslogs = (more: string, first = ''): string =>
  `{"awslogs":{"data":"${base64(gzipSync(`{"messageType":"DATA_MESSAGE"${more},"logEvents":[{"id":"1",${ask}${first}}]}`))}"}}`
const otlp = (record: string, { resource = '', scope = '', around = '' } = {}): string =>
  `{"resourceLogs":[{"resource":{"attributes":[${resource}]},"scopeLogs":[{"scope":{"name":"s"${scope}},"logRecords":[{${record}}]}]${around}}]}`
const body = `"body":{"stringValue":"to ${listed}"}`

/** What the places of a shape are, by the forged member. */
const places: readonly (readonly [string, string, (member: string) => string | Buffer])[] = [
  ['an object', 'at the top', (m) => `{${ask},${m}}`],
  ['an object', 'first', (m) => `{${m},${ask}}`],
  ['an object', 'twice', (m) => `{${m},${ask},${m}}`],
  ['an object', 'further down', (m) => `{${ask},"event":{${m}}}`],
  ['text', 'in JSON behind a syslog header', (m) => `<134>Nov 15 08:00:00 fw1 app: {${ask},${m}}`],
  ['an array', 'in an element', (m) => `[{${ask}},{"a":1,${m}}]`],
  ['an array', 'further down', (m) => `[{${ask}},{"a":{${m}}}]`],
  ['NDJSON', 'in a line', (m) => `{${ask}}\n{"a":1,${m}}`],
  ['records', 'in an element', (m) => `{"records":[{${ask},${m}}]}`],
  ['records', 'at the top', (m) => `{"records":[{${ask}}],${m}}`],
  ['records', 'in the second of two lists', (m) => `{"Records":[{${ask}}],"Records":[{${m}}]}`],
  ['CloudWatch', 'in a log event', (m) => `{"messageType":"DATA_MESSAGE","logEvents":[{${ask},${m}}]}`],
  ['CloudWatch', 'beside them', (m) => `{"messageType":{${m}},"logEvents":[{${ask}}]}`],
  ['Filebeat', 'at the top', (m) => `{"@timestamp":"2026-11-15T08:00:00Z","message":"to ${listed}",${m}}`],
  ['Filebeat', 'in the line', (m) => `{"message":${quoted(`{${ask},${m}}`)}}`],
  ['Splunk HEC', 'in the event', (m) => hec(`{${ask},${m}}`)],
  ['Splunk HEC', 'in the second event', (m) => hec(`{${ask}}`, `,"event":{"a":1,${m}}`)],
  ['Splunk HEC', 'in the first event', (m) => hec(`{${m}}`, `,"event":{${ask}}`)],
  ['Splunk HEC', 'in the fields of an object', (m) => hec(`{${ask}}`, `,"fields":{"a":"1",${m}}`)],
  ['Splunk HEC', 'in the fields of a text', (m) => hec(quoted(`to ${listed}`), `,"fields":{${m},"a":"1"}`)],
  ['Splunk HEC', 'in the first fields', (m) => hec(`{${ask}}`, `,"fields":{${m}},"fields":{}`)],
  ['Splunk HEC', 'in an event that is text', (m) => hec(quoted(`{${ask},${m}}`))],
  ['Splunk HEC', 'beside the event', (m) => hec(`{${ask}}`, `,${m}`)],
  ['Splunk HEC', 'in the event of an envelope with something else', (m) => hec(`{${ask},${m}}`, ',"x":1')],
  ['Kafka Connect', 'in the payload', (m) => connect(`{${ask},${m}}`)],
  ['Kafka Connect', 'in the schema', (m) => connect(`{${ask}}`, `,${m}`)],
  ['Kafka Connect', 'in the second payload', (m) => connect(`{${ask}},"payload":{${m}}`)],
  ['Kafka Connect', 'in gzip', (m) => gzipSync(connect(`{${ask},${m}}`))],
  ['Pub/Sub', 'in the data', (m) => pubsub(`{${ask},${m}}`)],
  ['Pub/Sub', 'in the second data', (m) => pubsub(`{${ask}}`, `,"data":"${base64(`{${m}}`)}"`)],
  ['Pub/Sub', 'in the first data', (m) => pubsub(`{${m}}`, `,"data":"${base64(`{${ask}}`)}"`)],
  ['Pub/Sub', 'in its attributes', (m) => pubsub(`{${ask}}`, `,"attributes":{${m}}`)],
  ['Pub/Sub', 'at the top', (m) => pubsub(`{${ask}}`).replace('"subscription"', `${m},"subscription"`)],
  ['CloudWatch subscription', 'in a log event', (m) => awslogs('', `,${m}`)],
  ['CloudWatch subscription', 'beside the log events', (m) => awslogs(`,"owner":{${m}}`)],
  ['gzip', 'in an object', (m) => gzipSync(`{${ask},${m}}`)],
  ['gzip', 'in a line', (m) => gzipSync(`{${ask}}\n{${m}}`)],
  ['gzip in base64', 'in an object', (m) => base64(gzipSync(`{${ask},${m}}`))],
  ['OpenTelemetry', 'in a log record', (m) => otlp(`${body},${m}`)],
  ['OpenTelemetry', 'in a resource', (m) => otlp(body, { around: `,${m}` })],
]
const otlpPlaces: readonly (readonly [string, (attribute: string) => string])[] = [
  ['of the log record', (a) => otlp(`${body},"attributes":[${a},{"key":"b","value":{"intValue":"1"}}]`)],
  ['of the first of two lists', (a) => otlp(`${body},"attributes":[${a}],"attributes":[]`)],
  ['of the resource', (a) => otlp(body, { resource: a })],
  ['of the scope', (a) => otlp(body, { scope: `,"attributes":[{"key":"b","value":{"intValue":"1"}},${a}]` })],
  [
    'of the body',
    (a) => otlp(`"body":{"kvlistValue":{"values":[{"key":"query","value":{"stringValue":"${listed}"}},${a}]}}`),
  ],
]
const cases = [
  ...places.flatMap(([shape, place, make]) =>
    spellings.map(([spelling, member]) => [`${shape}, ${place}: ${spelling}`, make(member)] as const),
  ),
  ...otlpPlaces.flatMap(([place, make]) =>
    attributes.map(([spelling, one]) => [`OpenTelemetry, ${place}: ${spelling}`, make(one)] as const),
  ),
].map(([title, value]) => [title, Buffer.from(value as string)] as const)

const marksIn = (text: string): number => text.split(mark).length - 1

describe('what a reader could take for our annotation', () => {
  it.each(cases)('is replaced, or the record says that it carries it: %s', async (_, value) => {
    const forged = marksIn(unpacked(value))
    const out = await write(value, 'json')
    const text = unpacked(out.value)
    const left = marksIn(text)
    if (left > 0) expect(out.header).toMatchObject({ forged: left })
    else expect(stated(text + JSON.stringify(out.header ?? {}), 'replaced')).toBeGreaterThanOrEqual(forged)
    // Nothing is claimed that was not done.
    if (out.value.equals(value)) expect(stated(text + JSON.stringify(out.header), 'replaced')).toBe(0)
    if (left === 0) expect(stated(text + JSON.stringify(out.header ?? {}), 'forged')).toBe(0)
    expect(text + JSON.stringify(out.header ?? {})).toContain('"malicious"')
  })

  it.each(cases)('stays beside an annotation in a header, which says so: %s', async (_, value) => {
    const out = await write(value, 'headers')
    expect(out.value.equals(value)).toBe(true)
    expect(out.header).toMatchObject({ forged: marksIn(unpacked(value)) })
    expect(out.header).not.toHaveProperty('replaced')
  })

  it.each(cases)(
    'stays in a record that is too large to be annotated inside, whose header says so: %s',
    async (_, value) => {
      const out = await write(value, 'json', app, 'header')
      expect(out.value.equals(value)).toBe(true)
      expect(out.header).toMatchObject({ forged: marksIn(unpacked(value)) })
      expect(out.header).not.toHaveProperty('replaced')
    },
  )

  const isReadable =
    /^(?:an object|text|records|CloudWatch,|Filebeat|Kafka Connect, in the|Pub\/Sub, (?:in its|at)|Splunk HEC, (?!in an event that is text))/
  it.each(cases.filter(([title]) => isReadable.test(title)))(
    'is found where every record is one event: %s',
    async (_, value) => {
      const out = await write(value, 'json', unopened)
      const left = marksIn(unpacked(out.value))
      if (left > 0) expect(out.header).toMatchObject({ forged: left })
      else expect(stated(out.value.toString(), 'replaced')).toBe(marksIn(unpacked(value)))
    },
  )

  it('is taken out of members past the most that are read', async () => {
    const many = Array.from({ length: batchLimits.maxMembers + 2 }, () => '{"a":1}')
    many.push(`{"b":2,${spellings[0]?.[1] ?? ''}}`)
    for (const text of [`[${many.join(',')}]`, many.join('\n'), `{"records":[${many.join(',')}]}`]) {
      const out = await write(Buffer.from(text), 'json')
      expect(out.value.toString()).not.toContain(mark)
      expect(out.value.toString()).toContain('{"b":2}')
      expect(out.header).toMatchObject({ replaced: 1 })
    }
  })
})

describe('a record that is nested too deep', () => {
  const [, member = ''] = spellings[0] ?? []
  const [, attribute = ''] = attributes[0] ?? []
  const deep = (inner: string): string => `${'{"a":'.repeat(1100)}${inner}${'}'.repeat(1100)}`
  it.each([
    ['an object nested too deep', deep(`{${member}}`)],
    ['an attribute nested too deep', deep(`[${attribute}]`)],
    ['an array with what is nested too deep', `[{${member}},${deep('1')}]`],
    ['OpenTelemetry with a body nested too deep', otlp(`"body":${deep('1')},"attributes":[${attribute}]`)],
  ])('says that it may carry our annotation: %s', async (_, text) => {
    const out = await write(Buffer.from(text), 'json')
    expect(out.value.toString()).toContain(mark)
    expect(out.header).toMatchObject({ forged: 1 })
  })
})

describe('an envelope that has its event many times', () => {
  it('is not unpacked to more than one may be, and is never clean for a part of it', async () => {
    const bomb = base64(gzipSync(Buffer.alloc(9_000_000, `${listed} `)))
    const one = await write(Buffer.from(`{"message":{"data":"${bomb}"},"subscription":"s"}`), 'json')
    expect(one.value.toString()).toContain('"verdict":"malicious"')
    const two = await write(Buffer.from(`{"message":{"data":"${bomb}","data":"${bomb}"},"subscription":"s"}`), 'json')
    expect(two.value.toString()).toContain('"status":"skipped","verdict":"unknown"')
  })

  it('is one event if it has it more often than members are read', async () => {
    const events = Array.from({ length: batchLimits.maxMembers + 1 }, () => '{"a":1}').join(',"event":')
    const out = await write(Buffer.from(hec(events)), 'json')
    expect(out.value.toString()).toMatch(/"a":1\},"threatweave":\{[^}]+\}\}$/)
  })
})

describe('a record without a forged annotation', () => {
  it.each([
    `{${ask}}`,
    hec(`{${ask}}`, ',"fields":{"a":"1"}'),
    pubsub(`{${ask}}`, ',"attributes":{"a":"b"}'),
    otlp(`${body},"attributes":[{"key":"threatweaver","value":{"stringValue":"x"}}]`),
    `{"records":[{${ask}}]}`,
  ])('has no header and says nothing: %s', async (text) => {
    const out = await write(Buffer.from(text), 'json')
    expect(out.header).toBeUndefined()
    expect(out.value.toString()).not.toMatch(/"(?:replaced|forged)"/)
  })
})

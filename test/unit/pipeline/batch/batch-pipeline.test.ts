// Records of many events through the whole pipeline: every member annotated in its place, every other byte as it was.
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEnricher, type Enricher } from '../../../../src/enricher.js'
import { createAnnotationKey } from '../../../../src/pipeline/annotate/annotation-key.js'
import { jsonItemsOf } from '../../../../src/pipeline/annotate/json-items.js'
import { batchLimits, cutBatch } from '../../../../src/pipeline/batch/cut-batch.js'
import { someFeed } from '../../../support/cli.js'

const listed = 'c2.botnet.example.org'
const verdictAttribute = { key: 'threatweave.verdict', value: { stringValue: 'malicious' } }
const feeds = [{ name: 'mine', path: someFeed }]
let enricher: Enricher
let splitting: Enricher
beforeAll(async () => {
  const settings = { feeds, gate: { documentation: true } }
  enricher = await createEnricher({ settings })
  splitting = await createEnricher({ settings: { ...settings, kafka: { input: { batches: 'split' } } } })
})
afterAll(async () => {
  await enricher.close()
  await splitting.close()
})

const { isAnnotationName } = createAnnotationKey('threatweave')

/** The bytes without whatever looks like an annotation in a member. */
const withoutAnnotations = (bytes: Buffer): string => {
  const pieces: string[] = []
  let done = 0
  for (const { from, to } of cutBatch(bytes)?.members ?? []) {
    pieces.push(bytes.toString('utf8', done, from))
    done = to
    pieces.push(
      bytes[from] === 0x7b && isJson(bytes.subarray(from, to))
        ? stripped(bytes.subarray(from, to))
        : bytes.toString('utf8', from, to),
    )
  }
  return pieces.join('') + bytes.toString('utf8', done)
}
const isJson = (bytes: Buffer): boolean => {
  try {
    JSON.parse(bytes.toString())
    return true
  } catch {
    return false
  }
}
/** One annotation is the last member and leaves every byte; where there are more, blanks between members are not compared. */
const stripped = (member: Buffer): string => {
  const { items } = jsonItemsOf(member, 0)
  const found = items.filter(({ name = '' }) => isAnnotationName(name))
  const [only] = found
  if (only === undefined) return member.toString()
  if (found.length === 1 && only === items.at(-1) && !isForged(member))
    return member.toString('utf8', 0, only.start).replace(/,$/, '') + member.toString('utf8', only.valueEnd)
  const kept = items.filter((item) => !found.includes(item))
  return `{${kept.map(({ start, valueEnd }) => member.toString('utf8', start, valueEnd)).join(',')}}`
}
/** The members of the test that are forged have a member `x`. */
const isForged = (member: Buffer): boolean => jsonItemsOf(member, 0).items.some(({ name }) => name === 'x')

const spaces = fc.constantFrom('', '', ' ', '\t ')
const objects = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
const forged = fc.constantFrom(
  '"threatweave":{"verdict":"clean"}',
  '"Threat\\u0077eave":1',
  '"threatweave.verdict":"clean"',
)
const member = fc.oneof(
  { weight: 4, arbitrary: objects.map((value) => JSON.stringify(value)) },
  fc.tuple(forged, objects, fc.boolean()).map(([text, value, isFirst]) => {
    const rest = JSON.stringify({ ...value, x: 1 }).slice(1, -1)
    return isFirst ? `{${text},${rest}}` : `{${rest}, ${text} }`
  }),
  fc.constantFrom(`{"query":"${listed}"}`, '{}', '{ }', '{"src_ip":"198.51.100.7"}'),
)
const noObject = fc.oneof(
  fc
    .jsonValue({ maxDepth: 2 })
    .filter((value) => typeof value !== 'object')
    .map((value) => JSON.stringify(value)),
  fc.constant(`["${listed}"]`),
)
const nested = fc.integer({ min: 1, max: 300 }).map((depth) => `{"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`)
const shapes = [
  (members: readonly string[], space: string) => `[${space}${members.join(`,${space}`)}${space}]`,
  (members: readonly string[], space: string) => `{"records":${space}[${members.join(',')}]${space}}`,
  (members: readonly string[], space: string) =>
    `${space}{"owner":"1","logEvents":[${members.join(`${space},`)}],"messageType":"DATA_MESSAGE"}\n`,
  (members: readonly string[], space: string) => ['{"first":1}', '{"second":2}', ...members].join(`${space}\n`),
] as const
const batches = fc
  .tuple(
    fc.constantFrom(...shapes),
    fc.array(fc.oneof({ weight: 6, arbitrary: member }, noObject, nested), { maxLength: 12 }),
    spaces,
  )
  .map(([shape, members, space]) => shape(members, space))

const annotationsIn = (bytes: Buffer): (Record<string, unknown> | undefined)[] =>
  (cutBatch(bytes)?.members ?? []).map(({ from, to }) => {
    const parsed = isJson(bytes.subarray(from, to))
      ? (JSON.parse(bytes.toString('utf8', from, to)) as unknown)
      : undefined
    return (parsed as Record<string, Record<string, unknown>> | null | undefined)?.threatweave
  })

describe('a batch', () => {
  it('gives the input back when the annotations are cut out, and has one in every object', async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (text) => {
        const input = Buffer.from(text)
        const { bytes } = await enricher.enrich(input)
        const batch = cutBatch(input)
        if (!batch) return
        expect(withoutAnnotations(bytes)).toBe(withoutAnnotations(input))
        const annotations = annotationsIn(bytes)
        for (const [nth, { from, to }] of batch.members.entries())
          if (input[from] === 0x7b && isJson(input.subarray(from, to)))
            expect(annotations[nth]).toMatchObject({ schema_version: 1 })
      }),
      { numRuns: 300 },
    )
  })

  it('comes out whole wherever it is cut off', async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(400), async (text, length) => {
        const input = Buffer.from(text.slice(0, length))
        const { bytes } = await enricher.enrich(input)
        if (cutBatch(input)) expect(withoutAnnotations(bytes)).toBe(withoutAnnotations(input))
        else if (!isJson(input))
          expect((JSON.parse(bytes.toString()) as { message: string }).message).toBe(input.toString())
      }),
      { numRuns: 300 },
    )
  })

  it('that is split gives every member back, in order, when its annotation is cut out', async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (text) => {
        const input = Buffer.from(text)
        const { bytes } = await splitting.enrich(input)
        const batch = cutBatch(input)
        if (!batch) return
        const lines = bytes.toString().trimEnd().split('\n')
        expect(lines).toHaveLength(batch.members.length)
        for (const [nth, { from, to }] of batch.members.entries()) {
          const own = input.subarray(from, to)
          const line = Buffer.from(lines[nth] ?? '')
          if (own[0] === 0x7b && isJson(own)) expect(stripped(line)).toBe(stripped(own))
          else expect((JSON.parse(line.toString()) as { message: string }).message).toBe(own.toString())
        }
      }),
      { numRuns: 200 },
    )
  })

  it('of a thousand members names exactly the three that are malicious, and looks at sixteen indicators of each', async () => {
    const names = (nth: number): string[] => Array.from({ length: 16 }, (_, at) => `h${at}.m${nth}.example.com`)
    const accused = new Set([7, 500, 999])
    const members = Array.from({ length: 1000 }, (_, nth) =>
      JSON.stringify({ n: nth, hosts: accused.has(nth) ? [...names(nth).slice(1), listed] : names(nth) }),
    )
    const input = Buffer.from(`[${members.join(', ')}]`)
    const full = await createEnricher({ settings: { feeds, output: { detail: 'full' } } })
    const { bytes, annotation } = await full.enrich(input, 'logs/0/5')
    await full.close()
    expect(withoutAnnotations(bytes)).toBe(input.toString())
    const annotations = annotationsIn(bytes)
    expect(annotations.flatMap((one, nth) => (one?.verdict === 'malicious' ? [nth] : []))).toEqual([...accused])
    expect(annotations.every((one) => (one?.indicators as unknown[]).length === 16)).toBe(true)
    expect(annotations[7]).toMatchObject({ enrichment_id: 'logs/0/5#7', value: listed })
    expect(annotation).toMatchObject({ verdict: 'malicious', value: listed, enrichment_id: 'logs/0/5' })
  })

  it('replaces a forged annotation in every member and counts it there', async () => {
    const { bytes } = await enricher.enrich(
      `[{"threatweave":{"verdict":"clean"},"query":"${listed}"},{"Threatweave.malicious":false}]`,
    )
    expect(annotationsIn(bytes)).toMatchObject([{ verdict: 'malicious', replaced: 1 }, { replaced: 1 }])
    expect(bytes.toString()).not.toContain('Threatweave.malicious')
  })

  it('has the annotation of an OpenTelemetry log record among its attributes, by the types of OpenTelemetry', async () => {
    const record = (attributes: string): string =>
      `{"timeUnixNano":"1","body":{"stringValue":"lookup of ${listed}"}${attributes}}`
    const wrap = (...records: string[]): string =>
      `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${records.join(',')}]}]}]}`
    const forgedOne = '{"key":"threatweave.verdict","value":{"stringValue":"clean"}}'
    const own = '{"key":"client.address","value":{"stringValue":"198.51.100.7"}}'
    const { bytes, annotation } = await enricher.enrich(
      wrap(
        record(''),
        record(',"attributes":[]'),
        record(`,"attributes":[${own}]`),
        record(`,"attributes":[${own}, ${forgedOne}]`),
      ),
      'otel/0/1',
    )
    type Attribute = { readonly key: string; readonly value: unknown }
    type Logs = {
      readonly resourceLogs: [{ readonly scopeLogs: [{ readonly logRecords: { attributes: Attribute[] }[] }] }]
    }
    const { logRecords } = (JSON.parse(bytes.toString()) as Logs).resourceLogs[0].scopeLogs[0]
    for (const [nth, { attributes }] of logRecords.entries()) {
      const named = new Map(attributes.map(({ key, value }) => [key, value]))
      expect(attributes).toHaveLength(named.size)
      expect(named.get('threatweave.verdict')).toEqual({ stringValue: 'malicious' })
      expect(named.get('threatweave.malicious')).toEqual({ boolValue: true })
      expect(named.get('threatweave.schema_version')).toEqual({ intValue: '1' })
      expect(named.get('threatweave.enrichment_id')).toEqual({ stringValue: `otel/0/1#${nth}` })
      expect(named.has('client.address')).toBe(nth > 1)
    }
    expect(annotation.replaced).toBe(1)
    expect(JSON.stringify(logRecords[2])).toContain('"source"')
  })

  it('that is split comes out as one event for every member, also where it was packed', async () => {
    const linesOf = async (given: string | Buffer): Promise<readonly unknown[]> => {
      const { bytes } = await splitting.enrich(given, 'logs/0/5')
      return bytes
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    }
    const forgedOne = '{"threatweave":{"verdict":"clean"},"b":2}'
    const text = `[{"query":"${listed}"}, "lookup of ${listed}",${forgedOne}]`
    const expected = [
      { query: listed, threatweave: { verdict: 'malicious', enrichment_id: 'logs/0/5#0' } },
      { message: `"lookup of ${listed}"`, threatweave: { verdict: 'malicious', enrichment_id: 'logs/0/5#1' } },
      { b: 2, threatweave: { verdict: 'unknown', replaced: 1, enrichment_id: 'logs/0/5#2' } },
    ]
    expect(await linesOf(text)).toMatchObject(expected)
    expect(await linesOf(gzipSync(text))).toMatchObject(expected)
    const log = `{"body":{"stringValue":"lookup of ${listed}"}}`
    const [first, second] = [
      '[{"resource":{"a":"é"},"scopeLogs":[{"logRecords":[',
      '{"resource":2, "scopeLogs":[{"scope":3,"logRecords":[',
    ]
    const logs = await linesOf(`{"resourceLogs": ${first}${log},null]}],"schemaUrl":"s"},${second}${log}]}]}]}`)
    const annotated = { attributes: expect.arrayContaining([verdictAttribute]) as unknown }
    expect(logs).toMatchObject([
      { resourceLogs: [{ resource: { a: 'é' }, scopeLogs: [{ logRecords: [annotated] }], schemaUrl: 's' }] },
      { resourceLogs: [{ resource: { a: 'é' }, scopeLogs: [{ logRecords: [null] }] }] },
      { resourceLogs: [{ resource: 2, scopeLogs: [{ scope: 3, logRecords: [annotated] }] }] },
    ])
    expect(await linesOf(`{"time":1,"sourcetype":"fw","event":{"query":"${listed}"}}`)).toMatchObject([
      { time: 1, event: { threatweave: { verdict: 'malicious' } } },
    ])
    const tooMany = `[${Array.from({ length: batchLimits.maxMembers + 2 }, (_, nth) => `{"n":${nth}}`).join(',')}]`
    const [whole] = await linesOf(tooMany)
    expect(whole).toHaveLength(batchLimits.maxMembers + 2)
  })

  it('is one event, wrapped as before, where batches are off', async () => {
    const off = await createEnricher({ settings: { feeds, kafka: { input: { batches: 'off' } } } })
    const { bytes, annotation } = await off.enrich(`[{"query":"${listed}"}]`)
    await off.close()
    expect(annotation).toMatchObject({ verdict: 'malicious', read_as: 'json_array' })
    expect(JSON.parse(bytes.toString())).toMatchObject({ message: `[{"query":"${listed}"}]` })
  })
})

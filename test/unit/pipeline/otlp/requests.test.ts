// OpenTelemetry requests in Protobuf through the whole pipeline: the same findings, annotations and headers as in JSON, every other byte as it was.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../../../src/app/open-app.js'
import { readWrittenOf } from '../../../../src/app/open-records.js'
import { eventsOf } from '../../../../src/delivery/chunks.js'
import { compose, partsOf, type OutputTarget, type Step } from '../../../../src/delivery/compose.js'
import type { Incoming, Outgoing } from '../../../../src/kafka/records.js'
import { createAnnotationKey } from '../../../../src/pipeline/annotate/annotation-key.js'
import { batchLimits } from '../../../../src/pipeline/batch/cut-batch.js'
import { withoutAttributes } from '../../../../src/pipeline/otlp/find-log-records.js'
import { annotationOf, restore } from '../../../../src/replay/restore.js'
import { incoming, openOtlpApp, otlpConfig } from '../../../support/otlp-app.js'
import { delimited, otlpLogs, otlpRequest } from '../../../support/otlp.js'

const listed = 'c2.botnet.example.org'
const { isAnnotationName } = createAnnotationKey('threatweave')

type Kind = 'inside' | 'split' | 'off' | 'keep' | 'full' | 'again'
const apps = {} as Record<Kind, App>
beforeAll(async () => {
  apps.inside = await openOtlpApp()
  apps.split = await openOtlpApp({ batches: 'split' })
  apps.off = await openOtlpApp({ batches: 'off' })
  apps.keep = await openOtlpApp({ output: { onExisting: 'keep' } })
  apps.full = await openOtlpApp({ output: { detail: 'full' } })
  apps.again = await openOtlpApp({ format: 'text' }, { id: 'r1', isAnnotated: true })
})
afterAll(async () => {
  for (const app of Object.values(apps)) await app.close()
})

const target: OutputTarget = {
  placement: 'json',
  key: 'threatweave',
  topic: 'out',
  deadLetterTopic: 'dead',
  maxBytes: 100_000_000,
  maxDeadLetterBytes: 100_000_000,
  outputPartition: () => 0,
  deadLetterPartition: () => 0,
}
/** What a record is written as: one, or those it is split into. */
const write = async (
  app: App,
  record: Incoming,
  { step = 'whole', ...more }: Partial<OutputTarget> & { step?: Step } = {},
): Promise<readonly Outgoing[]> => {
  const [event] = await eventsOf([record], app.pipeline)
  const parts = partsOf(record, event) ?? [{ record, event }]
  return parts.map((part) => compose(part.record, part.event, { ...target, ...more }, 2, step).record)
}
const headerOf = ({ headers }: Outgoing, name = 'threatweave'): unknown => {
  const found = headers.filter(([one]) => one === name)
  expect(found.length).toBeLessThanOrEqual(1)
  const text = found[0]?.[1]?.toString()
  return text?.startsWith('{') ? JSON.parse(text) : text
}
const valueOf = ({ value }: Outgoing): Buffer => value ?? Buffer.alloc(0)
/** The request in Protobuf of one in JSON that was written. */
const asProtobuf = ({ value }: Outgoing): Buffer => otlpRequest(JSON.parse(String(value)) as object as never)
const inJson = (logs: object): Incoming => incoming('json', Buffer.from(JSON.stringify(logs)))
const inProtobuf = (logs: object): Incoming => incoming('proto', otlpRequest(logs as never))

const body = { stringValue: `to ${listed}` }
const logsOf = (records: readonly object[], resource?: object) => ({
  resourceLogs: [
    {
      ...(resource && { resource }),
      scopeLogs: [{ scope: { name: 's', version: '1' }, logRecords: records }],
    },
  ],
})
const forged = { key: 'threatweave.verdict', value: { stringValue: 'clean' } }
const own = { key: 'client.address', value: { stringValue: '198.51.100.7' } }

/** Some with what is listed and some with forged attributes; ids and addresses of schemas are behind what we insert, so they are left out. */
const logs = fc
  .tuple(otlpLogs, fc.array(fc.constantFrom('listed', 'forged', 'own', 'none'), { minLength: 1, maxLength: 5 }))
  .map(([given, kinds]) => {
    let nth = 0
    const kind = (): string => kinds[nth++ % kinds.length] ?? 'none'
    return {
      resourceLogs: given.resourceLogs.map(({ resource, scopeLogs }) => ({
        ...(resource && {
          resource: kind() === 'forged' ? { attributes: [...resource.attributes, forged] } : resource,
        }),
        scopeLogs: scopeLogs.map(({ scope, logRecords }) => ({
          ...(scope && { scope }),
          logRecords: logRecords.map(({ traceId: _, spanId: __, ...record }) => {
            const one = kind()
            const attributes = record.attributes ?? []
            if (one === 'listed') return { ...record, body }
            if (one === 'forged') return { ...record, attributes: [forged, ...attributes, own, forged] }
            return one === 'own' ? { ...record, attributes: [...attributes, own] } : record
          }),
        })),
      })),
    }
  })
  .filter(({ resourceLogs }) =>
    resourceLogs.some(({ scopeLogs }) => scopeLogs.some(({ logRecords }) => logRecords.length > 0)),
  )

describe('a request in Protobuf', () => {
  it.each(['inside', 'split', 'keep', 'full'] as const)('comes out as the same in JSON does: %s', async (name) => {
    await fc.assert(
      fc.asyncProperty(logs, fc.constantFrom<Step>('whole', 'compact', 'accused', 'header'), async (given, step) => {
        const json = await write(apps[name], inJson(given), { step })
        const proto = await write(apps[name], inProtobuf(given), { step })
        expect(proto).toHaveLength(json.length)
        for (const [nth, one] of proto.entries()) {
          const same = json[nth]!
          expect(headerOf(one)).toEqual(headerOf(same))
          expect(headerOf(one, 'threatweave-format')).toBe('otlp_proto')
          expect(valueOf(one).equals(asProtobuf(same))).toBe(true)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('is the input again when the annotation is cut out', async () => {
    await fc.assert(
      fc.asyncProperty(otlpLogs, async (given) => {
        const record = inProtobuf(given)
        const [out] = await write(apps.inside, record)
        expect(withoutAttributes(valueOf(out!), isAnnotationName).equals(record.value!)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('has its annotation in the header alone where that is the setting', async () => {
    const record = inProtobuf(logsOf([{ body }, { attributes: [forged] }]))
    const [out] = await write(apps.inside, record, { placement: 'headers' })
    expect(valueOf(out!).equals(record.value!)).toBe(true)
    expect(headerOf(out!)).toMatchObject({ verdict: 'malicious', member_count: 2, accused_members: [0], forged: 1 })
    const [alone] = await write(apps.inside, record, { placement: 'topic' })
    expect(JSON.parse(String(alone!.value))).toMatchObject({ verdict: 'malicious', member_count: 2 })
  })

  it('goes down the ladder where it does not fit: compact, the accused, a header, the dead letters', async () => {
    const record = inProtobuf(
      logsOf(Array.from({ length: 40 }, (_, nth) => (nth === 7 ? { body } : { attributes: [own] }))),
    )
    const { length } = record.value!
    const [event] = await eventsOf([record], apps.full.pipeline)
    const ladder: readonly Step[] = ['whole', 'compact', 'accused', 'header']
    for (const step of ladder) {
      const maxBytes = compose(record, event, target, 2, step).bytes
      expect(compose(record, event, { ...target, maxBytes }, 2)).toMatchObject({ step, bytes: maxBytes })
    }
    const dead = compose(record, event, { ...target, maxBytes: length - 1 }, 2).record
    expect(dead.topic).toBe('dead')
    expect(dead.value?.equals(record.value!)).toBe(true)
  })

  it('that is split is a request for every log record, with its resource and scope', async () => {
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'fw' } }] }
    const two = {
      resourceLogs: [
        ...logsOf([{ body }, { attributes: [own] }], resource).resourceLogs,
        ...logsOf([{ body }]).resourceLogs,
      ],
    }
    const out = await write(apps.split, inProtobuf(two))
    expect(out.map((one) => withoutAttributes(valueOf(one), isAnnotationName))).toEqual([
      otlpRequest(logsOf([{ body }], resource)),
      otlpRequest(logsOf([{ attributes: [own] }], resource)),
      otlpRequest(logsOf([{ body }])),
    ])
    // What nobody knows around them is repeated, as are addresses of schemas.
    const more = Buffer.concat([otlpRequest(logsOf([{ body }, {}])), delimited(99, 'x')])
    for (const one of await write(apps.split, incoming('proto', more)))
      expect(valueOf(one).includes(delimited(99, 'x'))).toBe(true)
    const huge = logsOf(Array(200).fill({ body }), {
      attributes: [{ key: 'a', value: { stringValue: 'x'.repeat(100_000) } }],
    })
    expect(await write(apps.split, inProtobuf(huge))).toHaveLength(1)
  })

  it('is one event where batches are off, its bytes as they were', async () => {
    const record = inProtobuf(logsOf([{ attributes: [own] }, { body, attributes: [forged] }]))
    const [out] = await write(apps.off, record)
    expect(valueOf(out!).equals(record.value!)).toBe(true)
    expect(headerOf(out!)).toMatchObject({ verdict: 'malicious', value: listed, enrichment_id: 'logs/0/5', forged: 1 })
  })

  it.each([
    ['empty', Buffer.alloc(0)],
    ['without log records', otlpRequest(logsOf([], { attributes: [own] }))],
  ])('that is %s comes out as it is', async (_, value) => {
    const [out] = await write(apps.inside, incoming('proto', value))
    expect(valueOf(out!).equals(value)).toBe(true)
    expect(headerOf(out!)).toMatchObject({ status: 'skipped', verdict: 'unknown' })
  })

  it.each([
    ['cut off', inProtobuf(logsOf([{ body }, { body }])).value!.subarray(0, -3)],
    ['text', Buffer.from(`{"query":"${listed}"}`)],
    ['something else', Buffer.from(`\u0000\u0001 to ${listed} \u00ff`, 'latin1')],
  ])('that is %s comes out as it is, and says that it could not be read', async (_, value) => {
    const [out] = await write(apps.inside, incoming('proto', value))
    expect(valueOf(out!).equals(value)).toBe(true)
    expect(headerOf(out!)).toMatchObject({
      status: 'partial',
      verdict: 'malicious',
      summary: expect.stringContaining('could not be read') as string,
      enrichment_id: 'logs/0/5',
    })
  })

  it.each([
    ['broken', Buffer.from([0x0a, 0x20, 0x00])],
    ['too large', delimited(99, Buffer.alloc(batchLimits.maxBytes))],
  ])('that is %s is never clean', async (_, value) => {
    const [out] = await write(apps.inside, incoming('proto', value))
    expect(valueOf(out!).equals(value)).toBe(true)
    expect(headerOf(out!)).toMatchObject({ status: 'failed', verdict: 'unknown', reason: 'not_decoded' })
  })

  it('of more log records than are taken apart has what is left in the header', async () => {
    const { maxMembers } = batchLimits
    const many = Array.from({ length: maxMembers + 3 }, (_, nth) =>
      nth === maxMembers + 1 ? { body } : { attributes: [own] },
    )
    const record = inProtobuf(logsOf(many))
    const [out] = await write(apps.inside, record)
    expect(headerOf(out!)).toMatchObject({ verdict: 'malicious', member: maxMembers, member_count: maxMembers + 3 })
    expect(withoutAttributes(valueOf(out!), isAnnotationName).equals(record.value!)).toBe(true)
    // One more is a member like the others.
    const [whole] = await write(apps.inside, inProtobuf(logsOf(many.slice(0, maxMembers + 1))))
    expect(headerOf(whole!)).toBeUndefined()
  })

  it('keeps an annotation that it came with where that is the setting', async () => {
    const record = inProtobuf(logsOf([{ body, attributes: [forged] }, { body }]))
    const [out] = await write(apps.keep, record)
    const [first, second] = [logsOf([{ body, attributes: [forged] }]), logsOf([{ body }])].map((one) =>
      otlpRequest(one),
    )
    expect(valueOf(out!).length).toBeGreaterThan(record.value!.length)
    expect(valueOf(out!).includes(first!.subarray(-40))).toBe(true)
    expect(valueOf(out!).includes(second!.subarray(-20))).toBe(true)
  })
})

describe('a request in Protobuf that we wrote', () => {
  const written = async (): Promise<Outgoing> => {
    const [out] = await write(apps.inside, inProtobuf(logsOf([{ attributes: [own] }, { body }, {}])))
    return out!
  }
  // By a program that does not read such topics itself.
  const readWritten = readWrittenOf(otlpConfig({ format: 'text' }))
  const readAgain = ({ headers, value }: Outgoing): Incoming => incoming('out', value!, { headers, origin: undefined })

  it('is read with the verdicts of its log records', async () => {
    const out = await written()
    const { id, former, formers } = annotationOf(readAgain(out), readWritten)
    expect(id).toBe('logs/0/5')
    expect(former?.level).toBe('malicious')
    expect(formers?.map((one) => one?.level)).toEqual(['unknown', 'malicious', 'unknown'])
  })

  it('is annotated again, in place of what it had, and the rest is as it was', async () => {
    const out = await written()
    const restored = restore(readAgain(out), { kind: 'annotated', key: 'threatweave', readWritten })
    const [again] = await write(apps.again, restored!)
    expect(
      withoutAttributes(valueOf(again!), isAnnotationName).equals(withoutAttributes(valueOf(out), isAnnotationName)),
    ).toBe(true)
    expect(valueOf(again!).includes(`logs/0/5#1`)).toBe(true)
    expect(valueOf(again!).includes('threatweave.replaced')).toBe(false)
    expect(headerOf(again!)).toBeUndefined()
    expect(headerOf(again!, 'threatweave-format')).toBe('otlp_proto')
  })

  it.each(['proto', 'json'])(
    'as records of one log record each is annotated again with the ids they had: %s',
    async (topic) => {
      const logs = logsOf([{ body }, { attributes: [own] }, { body }])
      const out = await write(apps.split, topic === 'proto' ? inProtobuf(logs) : inJson(logs))
      const ids: unknown[] = []
      for (const one of out) {
        const restored = restore(readAgain(one), { kind: 'annotated', key: 'threatweave', readWritten })
        const [event] = await eventsOf([restored!], apps.again.pipeline)
        ids.push(...(event?.members ?? []).map(({ annotation }) => annotation.enrichment_id))
      }
      expect(ids).toEqual(['logs/0/5#0', 'logs/0/5#1', 'logs/0/5#2'])
    },
  )
})

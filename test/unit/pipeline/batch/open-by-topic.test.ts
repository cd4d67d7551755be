// Records of topics with a format of their own: what is read of them, and that they come out as they are.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApp, type App } from '../../../../src/app/open-app.js'
import { load } from '../../../../src/config/load.js'
import type { Annotation } from '../../../../src/domain/annotation.js'
import type { Unread } from '../../../../src/domain/unread.js'
import { asOneEvent } from '../../../../src/pipeline/batch/open-by-topic.js'
import { allOf, type EventIn, type EventOut } from '../../../../src/pipeline/pipeline.js'
import { ignoreTelemetry } from '../../../../src/telemetry/event.js'
import { someFeed } from '../../../support/cli.js'

const listed = 'c2.botnet.example.org'
const binary = Buffer.concat([Buffer.from([0, 255, 17, 9]), Buffer.from(` ${listed} `), Buffer.from([0, 254])])

let app: App
beforeAll(async () => {
  const loaded = load({
    values: {
      feeds: [{ name: 'mine', path: someFeed }],
      kafka: { input: { format: { bytes: 'binary', flows: 'registry' }, batches: 'split' } },
      output: { detail: 'full' },
    },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const opened = await openApp(loaded.config, { mode: 'complete', env: {}, emit: ignoreTelemetry })
  if ('problems' in opened) throw new Error('app')
  app = opened
})
afterAll(() => app.close())

const through = async (given: Pick<EventIn, 'bytes' | 'batch'>): Promise<EventOut> => {
  const [out] = (await allOf(app.pipeline, [{ origin: 'flows/0/5', ...given }])) as [EventOut]
  return out
}
const cut = (bytes: Buffer, topic: string, format?: 'text' | 'binary'): EventIn['batch'] =>
  app.pipeline.cut?.(bytes, { topic, headers: [], format })
const inHeader = (out: EventOut): Annotation => JSON.parse(out.beside?.() ?? '{}') as Annotation

describe('a record of a topic with a format', () => {
  it('binary is searched and comes out byte for byte, whatever it looks like', async () => {
    const many = Buffer.from(`[{"query":"${listed}"},{"a":1}]`)
    for (const bytes of [binary, Buffer.from(`{"query":"${listed}"}`), many]) {
      const out = await through({ bytes, batch: cut(bytes, 'bytes') })
      expect(out.bytes()).toEqual(bytes)
      expect([out.format, out.parts]).toEqual(['binary', undefined])
      expect(inHeader(out)).toMatchObject({ verdict: 'malicious', value: listed })
    }
  })

  it('text is what it was: a topic that is not named, and a record that says so', async () => {
    const bytes = Buffer.from(`{"query":"${listed}"}`)
    for (const batch of [cut(bytes, 'others'), cut(bytes, 'constructor'), cut(bytes, 'bytes', 'text')]) {
      expect(batch).toBeUndefined()
      const out = await through({ bytes, batch: null })
      expect([out.format, out.bytes().toString()]).toEqual([undefined, expect.stringContaining('"threatweave":{')])
    }
    expect(cut(binary, 'others', 'binary')?.format).toBe('binary')
  })

  it('registry without a registry is not read', async () => {
    const out = await through({ bytes: Buffer.from([1, 2]), batch: cut(Buffer.from([1, 2]), 'flows') })
    expect(inHeader(out)).toMatchObject({ status: 'failed', verdict: 'unknown', reason: 'no_schema' })
  })
})

describe('a value that could not be read', () => {
  const unread = async (bytes: Buffer, reason: Unread['reason']): Promise<Annotation> =>
    inHeader(await through({ bytes, batch: { ...asOneEvent(bytes, 'registry'), unread: { reason } } }))

  it('says so, and is never clean, whatever is in its bytes', async () => {
    const nothing = await unread(Buffer.from([1, 2, 3]), 'not_decoded')
    expect(nothing).toMatchObject({
      status: 'failed',
      verdict: 'unknown',
      reason: 'not_decoded',
      summary: 'the value could not be read: it is not what its schema or the format of its topic says',
    })
    expect(nothing).not.toHaveProperty('malicious')
    // An address that nobody lists says nothing about what could not be read.
    const other = await unread(Buffer.from('{"src_ip":"10.0.0.5"}'), 'no_schema')
    expect(other).toMatchObject({ status: 'failed', verdict: 'unknown', reason: 'no_schema' })
    expect(other).not.toHaveProperty('value')
    expect(other.indicators).toMatchObject([{ value: '10.0.0.5', reason: 'private_address' }])
  })

  it('is accused by what its bytes show', async () => {
    expect(await unread(binary, 'no_schema')).toMatchObject({
      status: 'partial',
      verdict: 'malicious',
      value: listed,
      summary: expect.stringContaining('; the value could not be read: there is no schema for it') as string,
    })
  })
})

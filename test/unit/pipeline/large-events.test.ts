// Events larger than what is searched of one: a JSON object keeps every byte whatever its size.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApp, type App } from '../../../src/app/open-app.js'
import { load } from '../../../src/config/load.js'
import { allOf, type EventOut } from '../../../src/pipeline/pipeline.js'
import { ignoreTelemetry } from '../../../src/telemetry/event.js'
import { someFeed } from '../../support/cli.js'

const listed = 'c2.botnet.example.org'
const mebibyte = 1_048_576
const limitMs = 120_000

let app: App
beforeAll(async () => {
  const values = { feeds: [{ name: 'mine', path: someFeed }], gate: { documentation: true } }
  const loaded = load({ file: undefined, values, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error('settings')
  const opened = await openApp(loaded.config, { mode: 'complete', env: {}, emit: ignoreTelemetry })
  if ('problems' in opened) throw new Error('app')
  app = opened
})
afterAll(() => app.close())

const through = async (bytes: Buffer): Promise<EventOut> =>
  ((await allOf(app.pipeline, [{ bytes, origin: 'logs/0/5' }])) as [EventOut])[0]

/** The annotation, if the event is before it byte for byte. */
const annotationBehind = (event: EventOut, before: Buffer): Readonly<Record<string, unknown>> => {
  const out = event.bytes()
  const kept = before.subarray(0, -1)
  expect(out.subarray(0, kept.length).equals(kept)).toBe(true)
  const added = out.toString('utf8', kept.length)
  expect(added.startsWith(',"threatweave":{')).toBe(true)
  return (JSON.parse(`{${added.slice(1)}`) as { threatweave: Record<string, unknown> }).threatweave
}

const filled = (size: number, fill: (nth: number) => string): string => {
  const parts: string[] = []
  for (let length = 0, nth = 0; length < size; nth++) {
    const part = fill(nth)
    parts.push(part)
    length += part.length
  }
  return parts.join('')
}

describe('a JSON event keeps every byte, and its beginning is searched', () => {
  it.each([1, 5, 20])('of %i MB', { timeout: limitMs }, async (megabytes) => {
    const rest = filled(megabytes * mebibyte, (nth) => `,"field${nth % 50}":"some value ${nth}"`)
    const bytes = Buffer.from(`{"query":"${listed}"${rest}}`)
    const out = await through(bytes)
    expect(out.event.reading).toBe('json')
    expect(annotationBehind(out, bytes)).toMatchObject({ verdict: 'malicious', value: listed, truncated: true })
  })

  it('in one string', { timeout: limitMs }, async () => {
    const bytes = Buffer.from(
      `{"message":"${filled(5 * mebibyte, (nth) => (nth === 0 ? `to ${listed} ` : 'ä \\"\\\\ '))}"}`,
    )
    expect(annotationBehind(await through(bytes), bytes)).toMatchObject({ verdict: 'malicious', truncated: true })
  })

  it('however deep it is nested', { timeout: limitMs }, async () => {
    const half = 3 * mebibyte
    const bytes = Buffer.from(`{"query":"${listed}","a":${'['.repeat(half)}${']'.repeat(half)}}`)
    expect(annotationBehind(await through(bytes), bytes)).toMatchObject({ verdict: 'malicious', truncated: true })
  })

  it('however many members it has', { timeout: limitMs }, async () => {
    const bytes = Buffer.from(`{"query":"${listed}"${filled(5 * mebibyte, (nth) => `,"${nth.toString(36)}":0`)}}`)
    expect(annotationBehind(await through(bytes), bytes)).toMatchObject({ verdict: 'malicious', truncated: true })
  })
})

describe('of an event that is larger than what is searched', () => {
  const rest = filled(2 * mebibyte, (nth) => `,"field${nth % 50}":"some value ${nth}"`)

  it('a forged annotation is replaced wherever it is', async () => {
    const forged = `,"ThreatWeave.verdict":"clean"`
    const out = await through(Buffer.from(`{"a":1${rest}${forged},"b":2}`))
    const bytes = Buffer.from(`{"a":1${rest},"b":2}`)
    expect(annotationBehind(out, bytes)).toMatchObject({ replaced: 1 })
    const deep = `{"a":${'['.repeat(mebibyte)}${']'.repeat(mebibyte)}`
    const nested = await through(Buffer.from(`${deep}${forged},"b":2}`))
    expect(annotationBehind(nested, Buffer.from(`${deep},"b":2}`))).toMatchObject({ replaced: 1 })
  })

  it('what is behind that is not searched, and the annotation says so', async () => {
    const bytes = Buffer.from(`{"a":1${rest},"query":"${listed}"}`)
    const annotation = annotationBehind(await through(bytes), bytes)
    expect(annotation).toMatchObject({ verdict: 'unknown', reason: 'truncated', truncated: true })
  })

  it('one that is no JSON is wrapped whole', async () => {
    const text = `{"query":"${listed}"${rest}`
    const out = JSON.parse((await through(Buffer.from(text))).bytes().toString()) as Record<string, unknown>
    expect(out['message']).toBe(text)
    expect(out['threatweave']).toMatchObject({ verdict: 'malicious', read_as: 'too_large', truncated: true })
  })
})

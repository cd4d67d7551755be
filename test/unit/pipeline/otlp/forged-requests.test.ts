// Random OpenTelemetry requests with forged members in every spelling and depth: each is cut out, or the record says that it is there.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../../../src/app/open-app.js'
import { eventsOf } from '../../../../src/delivery/chunks.js'
import { compose, type OutputTarget } from '../../../../src/delivery/compose.js'
import { incoming, openOtlpApp } from '../../../support/otlp-app.js'
import { delimited, varint } from '../../../support/otlp.js'

let app: App
beforeAll(async () => {
  app = await openOtlpApp()
})
afterAll(() => app.close())

const mark = 'FORGED'
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

const marksIn = (value: Buffer): number => value.toString('latin1').split(mark).length - 1

/** None may be left without being told, and none may be gone without being told. */
const expectTold = async (topic: 'json' | 'proto', value: Buffer): Promise<void> => {
  const record = incoming(topic, value)
  const [event] = await eventsOf([record], app.pipeline)
  const { value: out, headers } = compose(record, event, target, 2, 'whole').record
  const text = headers.find(([name]) => name === 'threatweave')?.[1]?.toString()
  const { forged = 0 } = JSON.parse(text ?? '{}') as { forged?: number }
  const left = marksIn(out ?? Buffer.alloc(0))
  expect(forged).toBeGreaterThanOrEqual(left)
  expect(event?.forgeries?.cut ?? 0).toBeGreaterThanOrEqual(marksIn(value) - left)
}

const forgedNames = fc.constantFrom('threatweave', 'threatweave.verdict', 'ThreatWeave.verdict', 'THREATWEAVE')
const depths = fc.oneof({ weight: 8, arbitrary: fc.nat(5) }, fc.nat(90))

describe('what is forged in a request in JSON', () => {
  const spelling = fc.constantFrom('camel', 'snake', 'escaped')
  const quoted = (name: string, how: string): string => {
    if (how === 'snake') return `"${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`
    const code = name.charCodeAt(0).toString(16).padStart(4, '0')
    return how === 'escaped' ? `"\\u${code}${name.slice(1)}"` : `"${name}"`
  }
  const places = fc.constantFrom('record', 'resource', 'scope', 'body', 'around', 'top', 'list', 'object', 'none')
  const kinds = fc.constantFrom('attribute', 'member')
  const request = fc
    .tuple(
      fc.array(fc.tuple(places, kinds, forgedNames, spelling, depths), { minLength: 1, maxLength: 4 }),
      fc.array(spelling, { minLength: 12, maxLength: 12 }),
      fc.constantFrom('', '"x":1,'),
    )
    .map(([all, how, before]) => {
      const name = (text: string, nth: number): string => quoted(text, how[nth % how.length] ?? 'camel')
      const value = `{${name('stringValue', 0)}:"${mark}"}`
      const at = (place: string, kind: string): string[] =>
        all
          .filter((one) => one[0] === place && one[1] === kind)
          .map(([, , forged, spelled, depth]) => {
            const named = quoted(forged, spelled === 'snake' ? 'camel' : spelled)
            if (kind === 'member') return `${named}:${'{"a":'.repeat(depth)}"${mark}"${'}'.repeat(depth)}`
            let attribute = `{${name('key', 1)}:${named},"value":${value}}`
            for (let level = 0; level < depth; level++)
              attribute = `{"key":"a","value":{${name('kvlistValue', 2)}:{${name('values', 3)}:[${attribute}]}}}`
            return attribute
          })
      const list = (place: string): string => `[${['{"key":"b","value":{}}', ...at(place, 'attribute')].join(',')}]`
      const members = (place: string): string =>
        at(place, 'member')
          .map((one) => `,${one}`)
          .join('')
      const objects = at('object', 'attribute').map((one, nth) => `,"o${nth}":${one}`)
      const body = `{${name('kvlistValue', 4)}:{"values":${list('body')}${members('body')}}}`
      const record = `{"body":${body},${name('attributes', 5)}:${list('record')}${members('record')}}`
      const scope = `{"name":"s","attributes":${list('scope')}${members('scope')}}`
      const logs = `{"scope":${scope},${name('logRecords', 6)}:[${record},{}]${members('list')}}`
      const resource = `{${name('attributes', 7)}:${list('resource')}${members('resource')}}`
      const around = `"attributes":${list('around')}${members('around')}${members('object')}${objects.join('')}`
      const top = `,"other":{"more":${list('top')}${members('none')}}${members('top')}`
      return Buffer.from(
        `{${before}${name('resourceLogs', 8)}:[{"resource":${resource},${name('scopeLogs', 9)}:[${logs}],${around}}]${before === '' && all.length < 3 ? '' : top}}`,
      )
    })

  it('is cut out or counted', async () => {
    await fc.assert(
      fc.asyncProperty(request, (value) => expectTold('json', value)),
      { numRuns: 1000 },
    )
  })
})

describe('what is forged in a request in Protobuf', () => {
  const group = (number: number, content: Buffer): Buffer =>
    Buffer.concat([varint(number * 8 + 3), content, varint(number * 8 + 4)])
  const places = fc.constantFrom('request', 'resourceLogs', 'resource', 'scopeLogs', 'scope', 'record', 'body', 'value')
  const forms = fc.constantFrom('attribute', 'twice', 'group', 'groups', 'unknown', 'unknown deep', 'known')
  const attributeField: Readonly<Record<string, number>> = { resource: 1, scope: 3, record: 6 }
  const request = fc
    .array(fc.tuple(places, forms, forgedNames, depths, fc.nat(3)), { minLength: 1, maxLength: 4 })
    .map((all) => {
      const forgedAt = (place: string): Buffer =>
        Buffer.concat(
          all
            .filter(([where]) => where === place)
            .map(([, form, name, depth, padding]) => {
              const value = delimited(2, delimited(1, mark), padding)
              let content = Buffer.concat([delimited(1, name, padding), value])
              if (form === 'twice') content = Buffer.concat([delimited(1, name, padding), delimited(1, 'other'), value])
              const number = attributeField[place] ?? 900
              for (let level = 0; level < depth; level++)
                content = Buffer.concat([delimited(1, 'a'), delimited(2, delimited(6, delimited(1, content, padding)))])
              if (form === 'group') return group(number, content)
              if (form === 'groups') return group(number, group(77, delimited(number, content)))
              if (form === 'unknown') return delimited(901, content, padding)
              if (form === 'unknown deep') return delimited(902, delimited(1, delimited(3, content)), padding)
              return delimited(number, content, padding)
            }),
        )
      const value = delimited(6, forgedAt('value'))
      const record = Buffer.concat([delimited(5, Buffer.concat([value, forgedAt('body')])), forgedAt('record')])
      const scope = Buffer.concat([delimited(1, 's'), forgedAt('scope')])
      const logs = Buffer.concat([delimited(1, scope), delimited(2, record), delimited(2, ''), forgedAt('scopeLogs')])
      const resourceLogs = [delimited(1, forgedAt('resource')), delimited(2, logs), forgedAt('resourceLogs')]
      return Buffer.concat([delimited(1, Buffer.concat(resourceLogs)), forgedAt('request')])
    })

  it('is cut out or counted', async () => {
    await fc.assert(
      fc.asyncProperty(request, (value) => expectTold('proto', value)),
      { numRuns: 1000 },
    )
  })
})

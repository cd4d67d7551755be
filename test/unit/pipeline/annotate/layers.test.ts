// The ECS and OCSF layers, and how they join what an event already holds.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Annotation } from '../../../../src/domain/annotation.js'
import { decode } from '../../../../src/pipeline/decode.js'
import { writeAnnotation } from '../../../../src/pipeline/annotate/write-annotation.js'
import { plainAnnotation } from '../../../support/annotations.js'
import { createPlaceAnnotation } from '../../../support/place-annotation.js'

const ecs = createPlaceAnnotation({ key: 'threatweave', onExisting: 'replace', layers: ['ecs'] })
const ocsf = createPlaceAnnotation({ key: 'threatweave', onExisting: 'replace', layers: ['ocsf'] })
const written = `"threatweave":${writeAnnotation(plainAnnotation)}`
const put = (made: typeof ecs, input: string, annotation: Annotation = plainAnnotation): string =>
  made(decode(Buffer.from(input), { maxEventBytes: 1_048_576 }), annotation).toString('utf8')

const enrichment =
  '{"indicator":{"type":"ipv4-addr","name":"198.51.100.60","ip":"198.51.100.60","provider":"service"},"matched":{"atomic":"198.51.100.60","field":"source.ip","type":"threatweave"}}'
const threat = `"threat":{"enrichments":[${enrichment}]}`
const related = '"related":{"ip":["198.51.100.60"],"hosts":["www.example.test"]}'
const risk = '"event":{"risk_score":90}'

describe('the ECS layer', () => {
  const joined: readonly (readonly [string, string, string])[] = [
    ['stands beside the annotation', '{"a":1}', `{"a":1,${written},${threat},${related},${risk}}`],
    [
      'goes into the objects the event has',
      '{"event":{"code":"x"},"threat":{},"related":{ "user":[] }}',
      `{"event":{"code":"x","risk_score":90},"threat":{"enrichments":[${enrichment}]},"related":{ "user":[] ,"ip":["198.51.100.60"],"hosts":["www.example.test"]},${written}}`,
    ],
    [
      'goes to the end of the lists the event has',
      '{"related":{"ip":["192.0.2.1"],"hosts":[ ]},"threat":{"enrichments":[{"x":1}]}}',
      `{"related":{"ip":["192.0.2.1","198.51.100.60"],"hosts":[ "www.example.test"]},"threat":{"enrichments":[{"x":1},${enrichment}]},${written},${risk}}`,
    ],
    [
      'goes to dotted members',
      '{"related.ip":["192.0.2.1"],"event.risk_score":5}',
      `{"related.ip":["192.0.2.1","198.51.100.60"],"event.risk_score":5,${written},${threat},"related":{"hosts":["www.example.test"]}}`,
    ],
    [
      'makes a single value the first of a list',
      '{"related":{"ip":"192.0.2.1"}}',
      `{"related":{"ip":["192.0.2.1","198.51.100.60"],"hosts":["www.example.test"]},${written},${threat},${risk}}`,
    ],
    [
      'says nothing twice',
      '{"related":{"ip":["198.51.100.60"],"hosts":"www.example.test"}}',
      `{"related":{"ip":["198.51.100.60"],"hosts":"www.example.test"},${written},${threat},${risk}}`,
    ],
    [
      "never overrules the event's own risk score",
      '{"event":{"risk_score":1}}',
      `{"event":{"risk_score":1},${written},${threat},${related}}`,
    ],
    [
      'keeps out where the event holds something else under that name',
      '{"event":"login","threat":null,"related":["x"]}',
      `{"event":"login","threat":null,"related":["x"],${written}}`,
    ],
  ]
  it.each(joined)('%s', (_, input, output) => {
    expect(put(ecs, input)).toBe(output)
    JSON.parse(output)
  })

  it('is not added a second time when the event comes back', () => {
    const once = put(ecs, '{"a":1}')
    const twice = JSON.parse(put(ecs, once)) as { threatweave: { replaced?: number } }
    expect(twice.threatweave.replaced).toBe(1)
    delete twice.threatweave.replaced
    expect(twice).toEqual(JSON.parse(once))
  })

  it('stands in an event that was no JSON object as well', () => {
    expect(JSON.parse(put(ecs, 'deny tcp'))).toMatchObject({
      message: 'deny tcp',
      related: { ip: ['198.51.100.60'] },
      event: { risk_score: 90 },
    })
  })

  it('is not there when there is nothing to tell', () => {
    const empty: Annotation = { ...plainAnnotation, indicators: [] }
    delete empty.score
    expect(put(ecs, '{"a":1}', empty)).toBe(`{"a":1,"threatweave":${writeAnnotation(empty)}}`)
  })

  it('keeps every value of any event that already has such objects', () => {
    const part = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.dictionary(fc.constantFrom('ip', 'hosts', 'x'), fc.jsonValue({ maxDepth: 1 })),
    )
    const names = fc.constantFrom(
      'related',
      'related.ip',
      'threat',
      'threat.enrichments',
      'event',
      'observables',
      'osint',
      'threatweave',
    )
    const both = createPlaceAnnotation({ key: 'threatweave', onExisting: 'replace', layers: ['ecs', 'ocsf'] })
    fc.assert(
      fc.property(fc.dictionary(names, part), (made) => {
        // As JSON holds it, which knows no -0.
        const value = JSON.parse(JSON.stringify(made)) as typeof made
        const output = put(both, JSON.stringify(value))
        const text = JSON.stringify(JSON.parse(output))
        expect(output).toBe(text)
        for (const [name, held] of Object.entries(value))
          if (name !== 'threatweave' && (typeof held !== 'object' || held === null))
            expect([held, expect.arrayContaining([held])]).toContainEqual((JSON.parse(output) as typeof value)[name])
      }),
    )
  })
})

describe('the OCSF layer', () => {
  it('lists every indicator as an observable and every known one as osint', () => {
    expect(JSON.parse(put(ocsf, '{"observables":[{"name":"x"}]}'))).toMatchObject({
      observables: [
        { name: 'x' },
        {
          name: 'source.ip',
          type_id: 2,
          type: 'IP Address',
          value: '198.51.100.60',
          reputation: { base_score: 90, score_id: 10, score: 'Malicious', provider: 'service' },
        },
        { name: 'url.domain', type_id: 1, type: 'Hostname', value: 'www.example.test' },
      ],
      osint: [
        { type_id: 1, type: 'IP Address', value: '198.51.100.60', labels: ['malicious'], vendor_name: 'service' },
      ],
    })
  })
})

// Country and network in annotations: in the full form only, and asked for once per sighting and version of the databases.
import { describe, expect, it } from 'vitest'
import type { Detail } from '../../../../src/domain/annotation.js'
import type { Geo, GeoSource } from '../../../../src/domain/geo.js'
import { createRangeSet } from '../../../../src/domain/range-set.js'
import type { Verdict, Judged } from '../../../../src/domain/verdict.js'
import { createAnnotate, type Annotate } from '../../../../src/pipeline/annotate/annotate.js'
import { decode } from '../../../../src/pipeline/decode.js'
import type { EventOut } from '../../../../src/pipeline/event.js'
import { expectValidAnnotation } from '../../../support/annotation-schema.js'

const bad: Verdict = { level: 'malicious', score: 90, flags: {}, because: 'listed', source: 'feed:a' }
const good: Verdict = { level: 'clean', flags: {}, because: 'nothing bad known' }

const judged = (value: string, verdict: Verdict): Judged => ({
  sighting: { type: 'ip', value, field: 'src', role: 'source', evidence: 'field' },
  decision: { decision: 'lookup', ask: { type: 'ip', value } },
  verdict,
})

/** A source that says of every address what `geo` is, and counts how often it is asked. */
const createSource = (geo: Geo): GeoSource & { say: (next: Geo) => void; asked: number } => {
  let [said, version] = [geo, 1]
  const source = {
    asked: 0,
    of: () => {
      source.asked++
      return said
    },
    version: () => version,
    say: (next: Geo) => {
      said = next
      version++
    },
  }
  return source
}

const annotateWith = (geo: GeoSource | undefined, detail: Detail): Annotate =>
  createAnnotate({
    key: 'threatweave',
    onExisting: 'replace',
    layers: [],
    ownRanges: createRangeSet([]),
    detail,
    hasId: true,
    geo,
  })

const event = decode(Buffer.from('{"a":1}'), { maxEventBytes: 1000 })
const out = (annotate: Annotate, rows: readonly Judged[], origin = 'firewall/0/1'): EventOut =>
  annotate(
    { bytes: event.bytes, origin },
    event,
    { action: 'allowed', truncated: false, sightings: rows.map(({ sighting }) => sighting) },
    rows,
  )

const dutch = { country: 'NL', as: { number: 64_500, name: 'EXAMPLE "HOSTING"' } }
const german = { country: 'DE' }

describe('country and network', () => {
  it('stand in the full form, of each indicator and of the one that decided', () => {
    const one = out(annotateWith(createSource(dutch), 'auto'), [judged('198.51.100.7', bad)])
    expect(one.annotation).toMatchObject({ ...dutch, indicators: [{ value: '198.51.100.7', ...dutch }] })
    expect(JSON.parse(one.annotationText())).toEqual(one.annotation)
    expectValidAnnotation(JSON.parse(one.annotationText()))
    expect(one.summary).toMatchObject(dutch)
  })

  it.each([bad, good])('change no byte of the compact form', (verdict) => {
    const rows = [judged('198.51.100.7', verdict)]
    const [withGeo, without] = [createSource(dutch), undefined].map((geo) => out(annotateWith(geo, 'compact'), rows))
    expect(withGeo!.bytes().equals(without!.bytes())).toBe(true)
    // Rules and alerts see the full form all the same.
    expect(withGeo!.annotation).toMatchObject(dutch)
  })

  it('are absent where no database says anything', () => {
    const one = out(annotateWith(createSource({}), 'full'), [judged('198.51.100.7', bad)])
    expect(one.annotationText()).toBe(
      out(annotateWith(undefined, 'full'), [judged('198.51.100.7', bad)]).annotationText(),
    )
  })

  it.each([1, 20])(
    'are asked for once for many events of %i indicators, and again when a database was replaced',
    (count) => {
      const rows = Array.from({ length: count }, (_, place) => judged(`198.51.100.${place}`, bad))
      const source = createSource(dutch)
      const annotate = annotateWith(source, 'full')
      for (let event = 0; event < 50; event++) {
        const one = out(annotate, rows, `firewall/0/${event}`)
        expect(one.annotation.indicators[0]).toMatchObject(dutch)
        expect(one.annotationText()).toContain('"country":"NL"')
      }
      expect(source.asked).toBe(count)
      const before = out(annotate, rows)
      source.say(german)
      const after = out(annotate, rows)
      expect(JSON.parse(after.annotationText())).toMatchObject({ country: 'DE' })
      expect(after.annotation.indicators[0]).toMatchObject(german)
      expect(after.annotation).not.toHaveProperty('as')
      expect(source.asked).toBe(2 * count)
      // An event that was annotated before says the same in its text, its annotation and its alerts.
      expect(before.annotation).toEqual(JSON.parse(before.annotationText()))
    },
  )
})

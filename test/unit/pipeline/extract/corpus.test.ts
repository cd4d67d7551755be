// Real log lines, read as a run reads them, through annotate, where the corpus is at hand; its lines are not part of this repository.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeAnnotation } from '../../../../src/pipeline/annotate/write-annotation.js'
import { plainAnnotation } from '../../../support/annotations.js'
import { createPlaceAnnotation } from '../../../support/place-annotation.js'
import { createReading } from '../../../support/reading.js'

const corpus = resolve(import.meta.dirname, '../../../../../shared/corpus/firewall-logs.ndjson')
const there = existsSync(corpus)
const lines = there
  ? readFileSync(corpus, 'utf8')
      .trim()
      .split('\n')
      .map((row) => Buffer.from((JSON.parse(row) as { raw: string }).raw))
  : []
const read = createReading()
const events = lines.map((bytes) => read(bytes).event)
const annotate = createPlaceAnnotation({ key: 'threatweave', onExisting: 'replace', layers: [] })

describe.skipIf(!there)(`every line of the corpus${there ? '' : ' (there is none beside the repository)'}`, () => {
  const objects = events.filter(({ reading }) => reading === 'json')
  const others = events.filter(({ reading }) => reading !== 'json')

  it('holds JSON events and text lines', () => {
    expect(objects.length).toBeGreaterThan(0)
    expect(others.length).toBeGreaterThan(0)
  })

  it('that is a JSON object gives back its bytes when the annotation is cut out', () => {
    const added = Buffer.from(`,"threatweave":${writeAnnotation(plainAnnotation)}`)
    for (const event of objects) {
      const output = annotate(event, plainAnnotation)
      const at = output.lastIndexOf(added)
      const rest = Buffer.concat([output.subarray(0, at), output.subarray(at + added.length)])
      expect(rest.equals(event.bytes)).toBe(true)
      expect((JSON.parse(output.toString()) as { threatweave: object }).threatweave).toEqual(plainAnnotation)
    }
  })

  it('that is text stands in its event byte for byte', () => {
    for (const event of others) {
      const output = JSON.parse(annotate(event, plainAnnotation).toString()) as { message: string }
      expect(Buffer.from(output.message).equals(event.bytes)).toBe(true)
    }
  })
})

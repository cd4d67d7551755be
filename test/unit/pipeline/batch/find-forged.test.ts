// What looks like our annotation around the events of a record is found, for any record.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAnnotationKey } from '../../../../src/pipeline/annotate/annotation-key.js'
import { applyEdits } from '../../../../src/pipeline/annotate/edit.js'
import { findForged, type Around } from '../../../../src/pipeline/batch/find-forged.js'

const key = createAnnotationKey('threatweave')
const around: Around = { roots: [0], events: [], hasAttributes: true }

const names = fc.constantFrom('a', 'key', 'threatweave', 'Threatweave.verdict', 'threatweaver', 't', '')
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('threatweave', 'threatweave.verdict', 'x "}', 1, true, null),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.array(fc.tuple(names, tie('tree')), { maxLength: 5 }).map((list) => Object.fromEntries(list)),
  ),
}))

/** The same by the parser's objects. */
const without = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((one) => !isAttribute(one)).map(without)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (key.isAnnotationName(name) ? [] : [[name, without(one)]])),
  )
}
const isAttribute = (one: unknown): boolean =>
  typeof one === 'object' &&
  one !== null &&
  'key' in one &&
  typeof one.key === 'string' &&
  key.isAnnotationName(one.key)

describe('what is forged around events', () => {
  it('is cut out of any JSON, and nothing else is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(tree), fc.dictionary(names, tree)), fc.constantFrom(0, 2), (value, space) => {
        const bytes = Buffer.from(JSON.stringify(value, null, space))
        const { count, cuts } = findForged(bytes, around, key)
        const left = applyEdits(bytes, cuts)
        expect(JSON.parse(left.toString())).toEqual(without(value))
        expect(count === 0).toBe(left.equals(bytes))
        expect(findForged(left, around, key).count).toBe(0)
      }),
      { numRuns: 1000 },
    )
  })

  it('is found in an escaped spelling, twice, and in the second of two keys, but not in an event', () => {
    const event = '{"threatweave":1}'
    const text = `{"\\u0074hreatweave":1, "threatweave":2,"list":[{"key":"a","key":"threatweave"}, ${event}]}`
    const from = text.indexOf(event)
    const events = [{ from, to: from + event.length }]
    const bytes = Buffer.from(text)
    const { count, cuts } = findForged(bytes, { ...around, events }, key)
    expect(count).toBe(3)
    expect(applyEdits(bytes, cuts).toString()).toBe(`{"list":[ ${event}]}`)
  })
})

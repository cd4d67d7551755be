import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as records from '../../../../src/lookup/memory/record.js'
import { indicators } from '../../../../src/lookup/question.js'
import type { Finding } from '../../../../src/domain/finding.js'
import type { Indicator } from '../../../../src/domain/indicator.js'
import { indicator, known, malicious, unknown } from '../../../support/lookup.js'

const writeRecord = (about: Indicator, finding: Finding): Buffer => records.writeRecord(indicators, about, finding)
const readRecord = (line: Buffer) => records.readRecord(line, indicators)
const lineOf = (record: Buffer): Buffer => record.subarray(0, -1)

describe('a record', () => {
  it('reads back as it was written', () => {
    const entry = { question: { type: 'domain', value: 'bücher.example.com' } as const, finding: known(17, malicious) }
    expect(readRecord(lineOf(writeRecord(entry.question, entry.finding)))).toEqual(entry)
    const nothing = { question: indicator(1), finding: unknown('not_found', { at: 5 }) }
    expect(readRecord(lineOf(writeRecord(nothing.question, nothing.finding)))).toEqual(nothing)
  })

  it('is one line', () => {
    const record = writeRecord({ type: 'domain', value: 'a\nb' }, known(1))
    expect(record.indexOf('\n')).toBe(record.length - 1)
  })

  it('is not read when a single byte of it is another, or missing', () => {
    const line = lineOf(writeRecord(indicator(1), known(17, malicious)))
    fc.assert(
      fc.property(fc.nat(line.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Buffer.from(line)
        damaged[at] = damaged[at]! ^ change
        expect(readRecord(damaged)).toBeUndefined()
        expect(readRecord(line.subarray(0, at))).toBeUndefined()
      }),
    )
  })

  it('is not read when it says what is no finding to be remembered', () => {
    for (const finding of [unknown('unavailable', { at: 5 }), unknown('not_found'), { status: 'known' }, {}, null])
      expect(readRecord(lineOf(writeRecord(indicator(1), finding as never)))).toBeUndefined()
  })

  it('never throws on foreign bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => readRecord(Buffer.from(bytes)) === undefined))
  })
})

import { describe, expect, it } from 'vitest'
import { parseTimestamp } from '../../../src/domain/timestamp.js'

describe('parseTimestamp', () => {
  const moment = Date.UTC(2026, 10, 15, 8, 30, 5)
  it.each<[unknown, number | undefined]>([
    ['2026-11-15T08:30:05Z', moment],
    ['2026-11-15T08:30:05.123456Z', moment],
    ['2026-11-15 08:30:05', moment],
    ['2026-11-15 08:30:05 UTC', moment],
    ['2026-11-15T10:30:05+02:00', moment],
    ['2026-11-15T03:00:05-0530', moment],
    ['2026-11-15', Date.UTC(2026, 10, 15)],
    ['1794731405', 1794731405000],
    [1794731405, 1794731405000],
    [1794731405123, 1794731405123],
    ['yesterday', undefined],
    ['2026-13-01', undefined],
    ['', undefined],
    [0, undefined],
    [Number.NaN, undefined],
    [null, undefined],
    [{}, undefined],
  ])('reads %j', (text, expected) => {
    expect(parseTimestamp(text)).toBe(expected)
  })
})

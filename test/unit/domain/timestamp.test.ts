import { describe, expect, it } from 'vitest'
import { parseIsoTime, parseTimestamp } from '../../../src/domain/timestamp.js'
import { timeOrDate } from '../../../src/server/answer.js'

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
    ['1794731405.5', 1794731405500],
    [' 2026-11-15T08:30Z ', Date.UTC(2026, 10, 15, 8, 30)],
    ['2026-11-15T24:00:00Z', Date.UTC(2026, 10, 16)],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['2026-11-15T25:00:00Z', undefined],
    ['2026-11-15T08:61:00Z', undefined],
    ['20261115083005', undefined],
    [20261115083005, undefined],
    [20261115, undefined],
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

describe('parseIsoTime', () => {
  it('keeps milliseconds, and takes no number', () => {
    expect(parseIsoTime('2026-11-15T08:30:05.2509+01:00')).toBe(Date.UTC(2026, 10, 15, 7, 30, 5, 250))
    expect(parseIsoTime('1794731405')).toBeUndefined()
  })
})

describe('timeOrDate', () => {
  it.each([
    ['2026-11-15', '2026-11-15'],
    ['2026-11-15 08:30:05', '2026-11-15 08:30:05'],
    ['2026-11-15T08:30:05', '2026-11-15 08:30:05'],
    ['2026-11-15T10:30:05+02:00', '2026-11-15 08:30:05'],
    ['1794731405', '2026-11-15 08:30:05'],
    ['1794731405123', '2026-11-15 08:30:05'],
    ['2026-99-99', ''],
    ['soon', ''],
  ])('writes %s as %j, wherever the machine is', (text, written) => {
    expect(timeOrDate(text)).toBe(written)
  })
})

import { describe, expect, it } from 'vitest'
import { eventTime } from '../../../src/pipeline/event-time.js'

const now = Date.UTC(2026, 10, 15, 12)

describe('eventTime', () => {
  it.each([
    ['{"@timestamp":"2026-11-15T08:00:25.000Z","source":{}}', '2026-11-15T08:00:25.000Z'],
    ['{"timestamp":"2026-11-15T08:00:25.120000+0100"}', '2026-11-15T07:00:25.000Z'],
    ['date=2026-11-15 time=08:00:01 devname="fw"', '2026-11-15T08:00:01.000Z'],
    ['date="2026-11-15" time="08:00:01" devname="fw"', '2026-11-15T08:00:01.000Z'],
    ['1,2026/11/15 08:00:10,0072,TRAFFIC', '2026-11-15T08:00:10.000Z'],
    ['198.51.100.23 - - [15/Nov/2026:08:00:18 -0130] "GET /"', '2026-11-15T09:30:18.000Z'],
    ['<134>Nov 15 08:00:08 pf filterlog[1]: 5', '2026-11-15T08:00:08.000Z'],
    ['Dec  1 08:00:08 pf filterlog[1]: 5', '2025-12-01T08:00:08.000Z'],
    ['Nov 15 2024 08:00:05 asa : %ASA', '2024-11-15T08:00:05.000Z'],
    ['1794729615.120    112 10.0.0.71 TCP_MISS/200', '2026-11-15T08:00:15.000Z'],
    ['{"ts":1794729623.857497}', '2026-11-15T08:00:23.000Z'],
    ['eventtime=1794729601000000000 a=b', '2026-11-15T08:00:01.000Z'],
    ['rt=1794729601000 a=b', '2026-11-15T08:00:01.000Z'],
  ])('reads %s', (text, iso) => {
    expect(new Date(eventTime(text, now) ?? Number.NaN).toISOString()).toBe(iso)
  })

  it.each(['no time here', '', 'serial=17947296151', '10.0.0.1 1.2.3.4', '[15/Foo/2026:08:00:18 +0000]'])(
    'says nothing about %j',
    (text) => {
      expect(eventTime(text, now)).toBeUndefined()
    },
  )
})

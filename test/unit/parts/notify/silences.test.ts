import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compileMatch } from '../../../../src/parts/notify/matchers.js'
import { routeAlerts } from '../../../../src/parts/notify/route-alerts.js'
import { readSilenceFile } from '../../../../src/parts/notify/silence-file.js'
import { openSilences } from '../../../../src/parts/notify/silences.js'
import { systemClock } from '../../../../src/base/clock.js'
import type { TelemetryEvent } from '../../../../src/telemetry/event.js'
import { alertOf } from '../../../support/sinks.js'

const silenceText = (match: string, more = ''): string =>
  `silences:\n  - id: quiet\n    match: ${match}\n    until: 2100-01-01\n    reason: a test\n    by: me\n${more}`
const problemsOf = (text: string): readonly string[] => {
  const read = readSilenceFile({ name: 'silences.yaml', text })
  return 'problems' in read ? read.problems.map(({ setting, message }) => `${setting} ${message}`) : []
}

describe('matchers', () => {
  it.each([
    [{ 'source.ip': '10.0.0.31' }, true],
    [{ 'source.ip': '10.0.0.3' }, false],
    [{ 'source.port': 51022 }, true],
    [{ 'source.ip': ['10.0.0.1', '10.0.0.31'] }, true],
    [{ 'source.ip': { cidr: '10.0.0.0/26' } }, true],
    [{ 'source.ip': { cidr: ['10.1.0.0/16', '10.0.0.64/26'] } }, false],
    [{ 'related.ip': { cidr: '203.0.113.0/24' } }, true],
    [{ 'rule.name': { prefix: 'A ' } }, true],
    [{ 'rule.name': { prefix: 'B' } }, false],
    [{ 'rule.name': 'A rule', 'threatweave.level': ['low', 'medium'] }, false],
    [{ 'threatweave.kind': 'update' }, false],
  ])('%j', (match, expected) => {
    expect(compileMatch(match)(alertOf(1))).toBe(expected)
  })

  it('route an alert to every sink that takes it, and to the default one what none took', () => {
    const all = { id: 'all', default: false }
    const high = { id: 'high', default: false, match: { 'threatweave.level': 'high' } }
    const rest = { id: 'rest', default: true }
    const route = routeAlerts([all, high, rest])
    const takersOf = (level: string): readonly string[] =>
      [all, high, rest].filter((sink) => route(sink, alertOf(1, { level }))).map(({ id }) => id)
    expect(takersOf('high')).toEqual(['all', 'high'])
    expect(takersOf('low')).toEqual(['all', 'rest'])
  })
})

describe('a file of silences', () => {
  it('is taken with matchers, an end, a reason and a name', () => {
    expect(problemsOf(silenceText('{ source.ip: 10.0.0.31 }'))).toEqual([])
  })

  it.each([
    ['{}'],
    ['{ event.kind: alert }'],
    ['{ threatweave.level: [informational, low, medium, high, critical] }'],
    ['{ source.ip: { cidr: 0.0.0.0/0 } }'],
    ['{ event.severity: [1, 2, 3, 4, 5], event.dataset: threatweave.alerts }'],
  ])('that matches everything is refused: %s', (match) => {
    expect(problemsOf(silenceText(match))).toEqual(['silences.0.match matches every alert: name what is to be silent'])
  })

  it('is refused without an end, and where it ends before it begins', () => {
    expect(problemsOf(silenceText('{ source.ip: 10.0.0.31 }').replace('    until: 2100-01-01\n', ''))).toEqual([
      "silences.0 must have required property 'until'",
    ])
    expect(problemsOf(silenceText('{ source.ip: 10.0.0.31 }', '    from: 2100-01-02\n'))).toEqual([
      'silences.0.from must be before until',
    ])
  })

  it('names a field that no alert has', () => {
    expect(problemsOf(silenceText('{ source.ipp: 10.0.0.31 }'))).toEqual([
      'silences.0.match.source.ipp is no field of an alert; did you mean source.ip?',
    ])
  })
})

describe('silences in use', () => {
  it('are read again when their file changes, and stay when it is broken', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'silences-')), 'silences.yaml')
    writeFileSync(file, 'silences: []\n')
    const events: TelemetryEvent[] = []
    const silences = await openSilences(file, {
      clock: systemClock,
      emit: (event) => void events.push(event),
      pollMs: 5,
    })
    try {
      expect(silences.find(alertOf(1))).toBeUndefined()
      writeFileSync(file, silenceText('{ source.ip: 10.0.0.31 }'))
      await expect.poll(() => silences.find(alertOf(1))?.id).toBe('quiet')
      writeFileSync(file, 'silences: [')
      await expect.poll(() => events.at(-1)?.event).toBe('silences_refused')
      const silence = silences.find(alertOf(1))
      expect(silence?.id).toBe('quiet')
      if (silence) silences.count(silence)
      expect(silences.held()).toMatchObject([{ alerts: 1, isInForce: true }])
    } finally {
      await silences.close()
    }
  })

  it('begin and end by the clock', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'silences-')), 'silences.yaml')
    const match = '{ source.ip: 10.0.0.31 }'
    writeFileSync(file, silenceText(match, '    from: 2099-01-01\n'))
    let time = Date.parse('2098-12-31')
    const clock = { now: () => time, after: () => () => undefined }
    const silences = await openSilences(file, { clock, emit: () => undefined })
    const found = ['2098-12-31', '2099-01-01', '2099-12-31', '2100-01-01'].map((day) => {
      time = Date.parse(day)
      return silences.find(alertOf(1)) !== undefined
    })
    expect(found).toEqual([false, true, true, false])
  })
})

// No character that steers, hides or reorders text gets out of an event, an answer or a feed: to a terminal, a log, the page or an alert.
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { extract } from '../../../src/commands/extract.js'
import { reportFailure } from '../../../src/commands/report-failure.js'
import { escapeControls, escapeJsonControls, printable } from '../../../src/domain/control-characters.js'
import { textOf } from '../../../src/provider/read-value.js'
import { createLogger } from '../../../src/telemetry/logger.js'
import { UsageError } from '../../../src/terminal/command.js'
import { report } from '../../../src/terminal/report-remarks.js'
import { renderTable } from '../../../src/terminal/table.js'
import { writeJson } from '../../../src/terminal/write-lines.js'
import { openTestAlerting } from '../../support/alerting.js'
import { ruleText } from '../../support/rules.js'

const between = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at))

/** By kind: each of them alone, and sequences as they are used. */
const kinds: readonly (readonly [string, readonly string[]])[] = [
  ['C0 and DEL', [...between(0, 0x1f), '\u007f']],
  ['C1', between(0x80, 0x9f)],
  ['bidirectional', ['\u061c', '\u200e', '\u200f', ...between(0x202a, 0x202e), ...between(0x2066, 0x2069)]],
  ['invisible', ['\u00ad', ...between(0x200b, 0x200d), ...between(0x2060, 0x206f), '\ufeff', '\u{e0001}', '\u{e0041}']],
  ['separators of lines', ['\u2028', '\u2029']],
  ['half a surrogate pair', ['\ud800', '\udfff']],
  [
    'escape sequences',
    ['\u001b[2J', '\u001b]0;title\u0007', '\u001b]8;;http://x\u001b\\', '\u009b31m', '\u0090q\u009c'],
  ],
]
const dangerous = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2065]/u
/** All at once, with what is harmless around it. */
const hostile = `a${kinds.flatMap(([, all]) => all).join('b')}ü😀漢`

const terminal = (): { stream: PassThrough & { isTTY: boolean }; shown: () => string } => {
  const stream = Object.assign(new PassThrough(), { isTTY: true })
  return { stream, shown: () => String(stream.read() ?? '') }
}
const lines = (text: string): string => text.replaceAll('\n', '')

describe.each(kinds)('%s', (_, all) => {
  it.each(all.map((one) => [JSON.stringify(one), one]))('%s is not shown as it is', (__, one) => {
    for (const shown of [printable(one), escapeControls(one), textOf(`a${one}b`) ?? ''])
      expect(shown).not.toMatch(dangerous)
    expect(printable(one)).toHaveLength(one.length)
    const json = JSON.stringify({ [one]: one })
    expect(escapeJsonControls(json)).not.toMatch(dangerous)
    expect(JSON.parse(escapeJsonControls(json))).toEqual({ [one]: one })
  })
})

it('what is only unusual stays', () => {
  for (const text of ['ü😀漢字 𝒳 ¼ – “x”', '', 'a b'])
    expect([printable(text), escapeControls(text)]).toEqual([text, text])
})

describe('a terminal', () => {
  it('is shown tables without them', () => {
    expect(lines(renderTable([{ title: 'value', max: 1000 }], [[hostile]]))).not.toMatch(dangerous)
  })

  it('is shown JSON without them, on its lines and of the same value', async () => {
    const { stream, shown } = terminal()
    await writeJson(stream, `${JSON.stringify({ hostile }, null, 2)}\n`)
    const text = shown()
    expect(text.split('\n')).toHaveLength(4)
    expect(lines(text)).not.toMatch(dangerous)
    expect(JSON.parse(text)).toEqual({ hostile })
  })

  it('is shown none of what is not JSON either', async () => {
    const { stream, shown } = terminal()
    await writeJson(stream, `${hostile}\n`)
    expect(shown().replaceAll(/[\n\t]/g, '')).not.toMatch(dangerous)
  })

  it.each([true, false])('is shown remarks about files without them, as JSON: %s', async (json) => {
    const { stream, shown } = terminal()
    const io = { env: {}, stdin: stream, stdout: stream, stderr: stream, signal: new AbortController().signal }
    const remarks = [{ kind: 'error', file: hostile, message: hostile }] as const
    await report({ what: hostile, remarks }, { positionals: [], values: { json } }, io)
    expect(lines(shown())).not.toMatch(dangerous)
  })

  it('is shown failures without them', () => {
    const { stream, shown } = terminal()
    reportFailure(new UsageError(hostile), stream)
    expect(lines(shown())).not.toMatch(dangerous)
  })

  it('is shown events without them', async () => {
    const { stream, shown } = terminal()
    const stdin = new PassThrough()
    stdin.end(`${JSON.stringify({ [`${hostile}src_ip`]: '192.0.2.1', url: `http://bad.example.com/${hostile}` })}\n`)
    const io = { env: {}, stdin, stdout: stream, stderr: new PassThrough(), signal: new AbortController().signal }
    await extract.run({ positionals: [], values: {} }, io)
    const text = shown()
    expect(text).toContain('192.0.2.1')
    expect(lines(text)).not.toMatch(dangerous)
  })
})

it.each([true, false])('a log has none of them, for a person: %s', (pretty) => {
  const written: string[] = []
  const emit = createLogger({ write: (line) => written.push(line) }, { level: 'info', pretty, clock: () => 0 })
  emit({ event: 'stopped', command: 'pipe', cause: hostile })
  expect(written).toHaveLength(1)
  expect(written[0]).toMatch(/\n$/)
  expect(lines(written[0] ?? '')).not.toMatch(dangerous)
  if (!pretty) expect(JSON.parse(written[0] ?? '')).toMatchObject({ cause: hostile })
})

it('an alert has none of them, wherever an event puts them', async () => {
  const raise = await openTestAlerting([
    ruleText('bad:\n    threatweave.verdict: malicious\nnamed:\n    note|contains: b\ncondition: bad or named'),
  ])
  const named = {
    host: { name: hostile },
    observer: { name: hostile, ip: hostile },
    user: { name: hostile },
    note: hostile,
  }
  const alerts = await raise([
    JSON.stringify({ ...named, dns: { question: { name: 'c2.botnet.example.org' } } }),
    JSON.stringify({ ...named, [`dst${hostile}`]: '203.0.113.99' }),
    JSON.stringify({ ...named, [hostile]: { dst_ip: '203.0.113.99' }, src_ip: hostile }),
    `<13>Nov 15 08:00:00 ${hostile} src=${hostile} dst=203.0.113.99 shost=${hostile} act=${hostile}`,
  ])
  expect(alerts.length).toBeGreaterThan(2)
  expect(alerts.flatMap((alert) => pathsIn(alert))).toEqual([])
})

/** Where one of them is. */
const pathsIn = (value: unknown, path = ''): readonly string[] =>
  typeof value === 'string'
    ? dangerous.test(value)
      ? [path]
      : []
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, `${path}.${name}`))
      : []

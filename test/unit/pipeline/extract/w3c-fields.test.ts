// Lines of a W3C extended log, read by the header that stands before them.
import { describe, expect, it } from 'vitest'
import { decode } from '../../../../src/pipeline/decode.js'
import { createExtract } from '../../../../src/pipeline/extract/extract.js'

const settings = { maxIndicators: 64, maxDepth: 64, maxEventBytes: 1_048_576 }

const readLast = (lines: readonly string[], isOneSource: boolean): { action: string; found: string[] } => {
  const extract = createExtract({ ...settings, isOneSource })
  const read = lines.map((line) => extract(decode(Buffer.from(line), settings)))
  const { action = '', sightings = [] } = read.at(-1) ?? {}
  return { action, found: sightings.map(({ value, role, field }) => `${value} ${role} ${field}`) }
}

const header = '#Fields: time date cs-host s-action cs(Referer) s-ip r-ip c-ip cs(User-Agent)'
const line =
  '10:00:01 2026-11-15 www.example.com TCP_DENIED http://ref.example.net/ 192.0.2.99 203.0.113.9 192.0.2.10 "Mozilla/5.0 Chrome/129.0.0.0"'
const byHeader = [
  'www.example.com url cs-host',
  'ref.example.net url cs(Referer)',
  '192.0.2.99 destination s-ip',
  '203.0.113.9 destination r-ip',
  '192.0.2.10 source c-ip',
]

describe('W3C headers', () => {
  it('name the columns of the lines behind them', () => {
    expect(readLast(['#Software: x', header, line], true)).toEqual({ action: 'blocked', found: byHeader })
  })
  it('give way to the next header', () => {
    const next = [
      '#Fields: date time c-ip s-ip cs-host',
      '2026-11-15 10:00:02 192.0.2.11 198.51.100.80 www.example.org',
    ]
    expect(readLast([header, ...next], true).found).toEqual([
      '192.0.2.11 source c-ip',
      '198.51.100.80 destination s-ip',
      'www.example.org url cs-host',
    ])
  })
  it('say nothing about lines of another kind', () => {
    expect(readLast([header, 'src=192.0.2.1 dst=203.0.113.1'], true).found).toEqual([
      '192.0.2.1 source src',
      '203.0.113.1 destination dst',
    ])
  })
  it('are not remembered where events of many sources are mixed', () => {
    expect(readLast([header, line], false).found).not.toEqual(byHeader)
  })
})

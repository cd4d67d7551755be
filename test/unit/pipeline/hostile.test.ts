// A megabyte made to be slow to read: processor time is bounded, and known fields are still found.
import { describe, expect, it } from 'vitest'
import { decode } from '../../../src/pipeline/decode.js'
import { createExtract } from '../../../src/pipeline/extract/extract.js'

const settings = { maxIndicators: 64, maxDepth: 64, maxEventBytes: 4_194_304 }
const megabyte = (piece: string): string => piece.repeat(Math.ceil(1_000_000 / piece.length)).slice(0, 1_000_000)

/** A hundred times what was measured, as machines differ; what grows with the square of a megabyte takes many minutes. */
const boundMs = 20_000

const cpuMs = (work: () => void): number => {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

describe('a megabyte', () => {
  it.each([
    ['of a.a.a', megabyte('a.')],
    ['without a blank', megabyte('abcdefghij')],
    ['of %41', megabyte('%41')],
    ['of [', megabyte('[')],
    ['of (', megabyte('(')],
    ['of :', megabyte(':')],
    ['of =', megabyte('=')],
    ['of commas', megabyte('1,')],
    ['of quotes', megabyte('"')],
    ['of keys without values', megabyte('a="')],
    ['of backslashes', megabyte('\\')],
    ['of names', megabyte('host.example.com ')],
    ['of addresses', megabyte('192.0.2.1 ')],
    ['of arrows', megabyte('192.0.2.1 -> ')],
    ['of brackets behind addresses', megabyte('192.0.2.1[')],
    ['of lone surrogates', megabyte('\ud800.a')],
    [
      'of keys that end in .ip',
      JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${String(i)}.ip`, '192.0.2.1']))),
    ],
    ['of labels in CEF', `CEF:0|a|b|c|d|e|f|${megabyte('cs1Label=x cs1=http://a.example ')}`],
    ['behind the start of a load balancer line', `http 2026-11-15T10:00:00Z ${megabyte('a ')}`],
    ['behind the start of an IIS line', `2026-11-15 10:00:00 ${megabyte('a ')}`],
    ['behind the start of a NetScaler line', `0-PPE-1 : ${megabyte('a ')}`],
    ['behind the start of a name server line', `client 192.0.2.1#53: ${megabyte("query '")}`],
    ['behind the start of a PAN-OS line', `1,2026/11/15 10:00:00,1,THREAT,url,${megabyte('"a",')}`],
  ])('%s takes bounded time', (_, text) => {
    const extract = createExtract(settings)
    const bytes = Buffer.from(text)
    expect(cpuMs(() => void extract(decode(bytes, settings)))).toBeLessThan(boundMs)
  })

  it.each([
    ['quotes in a word of an ASA line', `%ASA-6-113039: Group x ${megabyte('"')}s`],
    ['brackets in a word of an ASA line', `%ASA-6-113039: Group x(${megabyte(')')}s`],
    ['colons before the slash of an ASA line', `%ASA-6-113039: Group ${megabyte(':')}/s`],
    ['blanks in a cell between two addresses', `a,b,c,d,e,f,192.0.2.1,${megabyte(' ')}x,198.51.100.1,g,h`],
    ['what might be ports between addresses', megabyte(`192.0.2.1${':1'.repeat(22)} x `)],
    ['what might be ports in brackets between addresses', megabyte(`192.0.2.1${'(1)'.repeat(15)} x `)],
    ['arrows and hosts of Exim', JSON.stringify(Array(50).fill(`${' => '.repeat(100)}${'H='.repeat(400)}`))],
  ])('of %s takes bounded time', (_, text) => {
    const extract = createExtract(settings)
    expect(cpuMs(() => void extract(decode(Buffer.from(text), settings)))).toBeLessThan(boundMs)
  })

  it('of names in a user agent before the destination hides neither it nor that something was left out', () => {
    const agent = Array.from({ length: 10_000 }, (_, i) => `h${String(i)}.example.com`).join(' ')
    for (const line of [JSON.stringify({ note: agent, dst: '203.0.113.9' }), `note="${agent}" dst=203.0.113.9`]) {
      const { sightings } = createExtract(settings)(decode(Buffer.from(line), settings))
      expect(sightings).toContainEqual(expect.objectContaining({ value: '203.0.113.9', role: 'destination' }))
    }
  })

  it('five hundred levels deep says that something was left out', () => {
    const line = `${'{"a":'.repeat(500)}"203.0.113.9"${'}'.repeat(500)}`
    expect(createExtract(settings)(decode(Buffer.from(line), settings)).truncated).toBe(true)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prefixesOf, readEntry } from '../../../src/feeds/entry.js'

const range = (first: number, last: number): object => ({ kind: 'range', range: { version: 4, first, last } })
const at = 0xc6336407 // 198.51.100.7
const host = range(at, at)
const name = (text: string): object => ({ kind: 'name', name: text })
const site = (path: string, scheme = 0, port = 0): object => ({
  kind: 'site',
  name: 'bad.example.com',
  path,
  scheme,
  port,
})

describe('readEntry', () => {
  it.each<[string, object]>([
    ['198.51.100.7', host],
    [' 198.51.100.7\t', host],
    ['198.51.100.0/24', range(0xc6336400, 0xc63364ff)],
    ['198.51.100.7/24', range(0xc6336400, 0xc63364ff)],
    ['198[.]51[.]100[.]7', host],
    ['198.51.100.7-198.51.100.9', { kind: 'span', span: { first: at, last: at + 2 } }],
    ['198.51.100[.]7 - 198.51.100[.]9', { kind: 'span', span: { first: at, last: at + 2 } }],
    ['198.51.100.9-198.51.100.7', { kind: 'unusable' }],
    ['198.51.100[.]7:443', { ...host, port: 443 }],
    ['hxxp://198.51.100[.]7:8080/a', host],
    ['198.51.100.7:0', host],
    ['198.51.100.7:65536', host],
    ['198.51.100.7:443', { ...host, port: 443 }],
    ['::ffff:198.51.100.7', host],
    ['http://198.51.100.7:8080/x.exe?a=b', host],
    ['198.51.100.7/x.exe', host],
    ['bad.example.com', name('bad.example.com')],
    ['BAD.Example.COM.', name('bad.example.com')],
    ['*.bad.example.com', name('bad.example.com')],
    ['.bad.example.com', name('bad.example.com')],
    ['bad[.]example(.)com', name('bad.example.com')],
    ['bad[dot]example[dot]com', name('bad.example.com')],
    ['hxxps[:]//bad[.]example[.]com/login', site('/login', 2)],
    ['hxxp://bad.example.com', site('', 1)],
    ['http://bad.example.com/', site('', 1)],
    ['http://bad.example.com:8080/#top', site('', 1, 8080)],
    ['bad.example.com/', site('')],
    ['https://bad.example.com?id=1', site('/?id=1', 2)],
    ['https://bad.example.com/?id=1', site('/?id=1', 2)],
    ['https://bad.example.com/a/../%62?q=%c3%a4#top', site('/b?q=%C3%A4', 2)],
    ['https://user:pass@bad.example.com:8443/a@b', site('/a@b', 2, 8443)],
    ['https://good.example.org@bad.example.com\\@good.example.org/', site('/@good.example.org/', 2)],
    ['hxxpd.example.com', name('hxxpd.example.com')],
    ['bad.example.com:8443', name('bad.example.com')],
    ['bad.example.com/path/to', site('/path/to')],
    ['bücher.example.com', name('xn--bcher-kva.example.com')],
    ['com', { kind: 'single', name: 'com' }],
    ['Forbidden', { kind: 'single', name: 'forbidden' }],
    ['someone@example.com', { kind: 'other', what: 'a mail address' }],
    ['d41d8cd98f00b204e9800998ecf8427e', { kind: 'other', what: 'a file hash' }],
    ['/gate/five.php', { kind: 'other', what: 'a path without a host' }],
    ['198.51.100.0/33', { kind: 'unusable' }],
    ['198.51.100.256', { kind: 'unusable' }],
    ['010.1.2.3', { kind: 'unusable' }],
    ['198.51.100', { kind: 'unusable' }],
    ['http://', { kind: 'unusable' }],
    ['<html>', { kind: 'unusable' }],
    ['a..b', { kind: 'unusable' }],
    ['', { kind: 'unusable' }],
    [`${'a'.repeat(5000)}.example.com`, { kind: 'unusable' }],
  ])('reads %j', (text, expected) => {
    expect(readEntry(text)).toEqual(expected)
  })

  it('reads IPv6 with and without brackets, port and prefix', () => {
    const one = readEntry('2001:db8::7')
    expect(one).toEqual({
      kind: 'range',
      range: { version: 6, first: [0x20010db8, 0, 0, 7], last: [0x20010db8, 0, 0, 7] },
    })
    expect(readEntry('[2001:db8::7]:443')).toEqual({ ...one, port: 443 })
    for (const text of ['2001:DB8:0::7', 'http://[2001:db8::7]/x', '2001:db8::7/128'])
      expect(readEntry(text)).toEqual(one)
  })

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 300 }),
          fc.webUrl(),
          fc.ipV6(),
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
        ),
        (text) => void readEntry(text),
      ),
    )
  })
})

describe('prefixesOf', () => {
  it('covers a span with as few prefixes as there can be', () => {
    expect(
      prefixesOf({ first: 0xc0000201, last: 0xc0000208 }).map(({ first, last }) => [
        Number(first) & 255,
        Number(last) & 255,
      ]),
    ).toEqual([
      [1, 1],
      [2, 3],
      [4, 7],
      [8, 8],
    ])
  })

  it('covers every address as one', () => {
    expect(prefixesOf({ first: 0, last: 0xffffffff })).toEqual([{ version: 4, first: 0, last: 0xffffffff }])
  })

  it('leaves no gap, overlaps nowhere, and is made of prefixes', () => {
    const address = fc.integer({ min: 0, max: 0xffffffff })
    fc.assert(
      fc.property(address, address, (a, b) => {
        const span = { first: Math.min(a, b), last: Math.max(a, b) }
        let next = span.first
        const prefixes = prefixesOf(span)
        for (const { first, last } of prefixes as { first: number; last: number }[]) {
          expect(first).toBe(next)
          const size = last - first + 1
          expect(Number.isInteger(Math.log2(size))).toBe(true)
          expect(first % size).toBe(0)
          next = last + 1
        }
        expect(next - 1).toBe(span.last)
        expect(prefixes.length).toBeLessThanOrEqual(62)
      }),
    )
  })
})

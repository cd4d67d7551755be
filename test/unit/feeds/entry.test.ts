import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEntry } from '../../../src/feeds/entry.js'

const range = (first: number, last: number): object => ({ kind: 'range', range: { version: 4, first, last } })
const at = 0xc6336407 // 198.51.100.7
const host = range(at, at)
const name = (text: string): object => ({ kind: 'name', name: text })
const site = (path: string): object => ({ kind: 'site', name: 'bad.example.com', path })

describe('readEntry', () => {
  it.each<[string, object]>([
    ['198.51.100.7', host],
    [' 198.51.100.7\t', host],
    ['198.51.100.0/24', range(0xc6336400, 0xc63364ff)],
    ['198.51.100.7/24', range(0xc6336400, 0xc63364ff)],
    ['198[.]51[.]100[.]7', host],
    ['198.51.100.7-198.51.100.9', { kind: 'span', span: { first: at, last: at + 2 } }],
    ['198.51.100[.]7 - 198.51.100[.]9', { kind: 'span', span: { first: at, last: at + 2 } }],
    ['198.51.100.9-198.51.100.7', { kind: 'junk' }],
    ['198.51.100[.]7:443', host],
    ['198.51.100.7:443', host],
    ['::ffff:198.51.100.7', host],
    ['http://198.51.100.7:8080/x.exe?a=b', host],
    ['198.51.100.7/x.exe', host],
    ['bad.example.com', name('bad.example.com')],
    ['BAD.Example.COM.', name('bad.example.com')],
    ['*.bad.example.com', name('bad.example.com')],
    ['.bad.example.com', name('bad.example.com')],
    ['bad[.]example(.)com', name('bad.example.com')],
    ['bad[dot]example[dot]com', name('bad.example.com')],
    ['hxxps[:]//bad[.]example[.]com/login', site('/login')],
    ['hxxp://bad.example.com', site('')],
    ['http://bad.example.com/', site('')],
    ['http://bad.example.com:8080/#top', site('')],
    ['bad.example.com/', site('')],
    ['https://bad.example.com?id=1', site('/?id=1')],
    ['https://bad.example.com/?id=1', site('/?id=1')],
    ['https://bad.example.com/a/../%62?q=%c3%a4#top', site('/b?q=%C3%A4')],
    ['https://user:pass@bad.example.com:8443/a@b', site('/a@b')],
    ['https://good.example.org@bad.example.com\\@good.example.org/', site('/@good.example.org/')],
    ['hxxpd.example.com', name('hxxpd.example.com')],
    ['bad.example.com:8443', name('bad.example.com')],
    ['bad.example.com/path/to', site('/path/to')],
    ['bücher.example.com', name('xn--bcher-kva.example.com')],
    ['com', { kind: 'single', name: 'com' }],
    ['Forbidden', { kind: 'single', name: 'forbidden' }],
    ['someone@example.com', { kind: 'ignored' }],
    ['d41d8cd98f00b204e9800998ecf8427e', { kind: 'ignored' }],
    ['198.51.100.0/33', { kind: 'junk' }],
    ['198.51.100.256', { kind: 'junk' }],
    ['010.1.2.3', { kind: 'junk' }],
    ['198.51.100', { kind: 'junk' }],
    ['http://', { kind: 'junk' }],
    ['<html>', { kind: 'junk' }],
    ['a..b', { kind: 'junk' }],
    ['', { kind: 'junk' }],
    [`${'a'.repeat(5000)}.example.com`, { kind: 'junk' }],
  ])('reads %j', (text, expected) => {
    expect(readEntry(text)).toEqual(expected)
  })

  it('reads IPv6 with and without brackets, port and prefix', () => {
    const one = readEntry('2001:db8::7')
    expect(one).toEqual({
      kind: 'range',
      range: { version: 6, first: [0x20010db8, 0, 0, 7], last: [0x20010db8, 0, 0, 7] },
    })
    for (const text of ['2001:DB8:0::7', '[2001:db8::7]:443', 'http://[2001:db8::7]/x', '2001:db8::7/128'])
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

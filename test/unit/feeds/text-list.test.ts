import { describe, expect, it } from 'vitest'
import { parsed, valuesIn } from '../../support/feed-files.js'

describe('a list of lines', () => {
  it('has one entry a line, without comments, and knows the line', () => {
    const list =
      '\ufeff# our list\n\n198.51.100.7\r\n  bad.example.com  # since May\n; old\n// older\n203.0.113.0/24 ; SBL7\nhttp://bad.example.net/#x'
    expect(parsed(list)).toEqual({
      added: [
        ['198.51.100.7', 3],
        ['bad.example.com', 4],
        ['203.0.113.0/24', 7],
        ['http://bad.example.net/#x', 8],
      ],
      skipped: [],
    })
  })

  it('may be a hosts file: names that lead nowhere, and not its own names', () => {
    const hosts =
      '127.0.0.1 localhost\n127.0.0.1 localhost.localdomain\n255.255.255.255 broadcasthost\n::1 localhost ip6-loopback\nfe80::1%lo0 localhost\nff02::1 ip6-allnodes\n0.0.0.0 0.0.0.0\n0.0.0.0 bad.example.com www.bad.example.com # both\n::\tbad.example.net'
    expect(parsed(hosts)).toEqual({
      added: [
        ['bad.example.com', 8],
        ['www.bad.example.com', 8],
        ['bad.example.net', 9],
      ],
      skipped: [],
    })
  })

  it('accuses nobody in a hosts file that leads somewhere', () => {
    expect(parsed('192.0.2.10 intranet.example.com')).toEqual({ added: [], skipped: [1] })
  })

  it('may be a dnsmasq file; names that are asked of another server are not accused', () => {
    const dnsmasq =
      'address=/bad.example.com/0.0.0.0\naddress=/bad.example.net/\naddress=/a.example.org/b.example.org/::\nlocal=/bad.example.org/\nserver=/corp.example.com/192.0.2.53\naddress=/printer.example.com/192.0.2.9\n'
    expect(parsed(dnsmasq).skipped).toEqual([
      [5, 'harmless'],
      [6, 'harmless'],
    ])
    expect(valuesIn(dnsmasq)).toEqual([
      'bad.example.com',
      'bad.example.net',
      'a.example.org',
      'b.example.org',
      'bad.example.org',
    ])
  })

  it('may be filter rules or quoted; exceptions accuse nobody', () => {
    const rules =
      '[Adblock Plus 2.0]\n! title\n||bad.example.com^\n||bad.example.net^$third-party\n@@||good.example.com^\n'
    expect(valuesIn(rules)).toEqual(['bad.example.com', 'bad.example.net'])
    expect(parsed(rules).skipped).toEqual([[5, 'harmless']])
    expect(valuesIn('"198.51.100.7",\n\'198.51.100.8\'\n')).toEqual(['198.51.100.7', '198.51.100.8'])
  })

  it('may have spans with spaces, and rows of first, last and prefix that say the same', () => {
    const list =
      '198.51.100.7 - 198.51.100.9\n203.0.113.0\t203.0.113.255\t24\t1234\tEXAMPLE\n203.0.113.0 203.0.113.9 24'
    expect(parsed(list)).toEqual({
      added: [
        ['198.51.100.7 - 198.51.100.9', 1],
        ['203.0.113.0-203.0.113.255', 2],
      ],
      skipped: [3],
    })
  })

  it('may be what ipset saves', () => {
    const saved =
      'create bad hash:net family inet hashsize 1024 maxelem 65536\nadd bad 198.51.100.0/24\nadd bad 203.0.113.9 timeout 3600\nCOMMIT'
    expect(valuesIn(saved)).toEqual(['198.51.100.0/24', '203.0.113.9'])
  })

  it('may say something behind an address, but a sentence that begins with a name is not an entry', () => {
    const list =
      '198.51.100.7 12 2026-11-01 ssh scanner\n198.51.100.8\nbad.example.com 2026-11-01 17\nexample.com is down for maintenance\nthis is not a list'
    expect(parsed(list)).toEqual({
      added: [
        ['198.51.100.7', 1],
        ['198.51.100.8', 2],
        ['bad.example.com', 3],
      ],
      skipped: [4, 5],
    })
  })

  it("reads AlienVault's reliability as score", () => {
    const list =
      '198.51.100.7#4#2#Scanning Host#CN#Beijing#39.9,116.3#11\n198.51.100.8#9#2#Malware IP#US##37.7,-97.8#3\n'
    expect(parsed(list).added).toEqual([
      ['198.51.100.7', 1, { score: 40, categories: ['Scanning Host'] }],
      ['198.51.100.8', 2, { score: 90, categories: ['Malware IP'] }],
    ])
  })
})

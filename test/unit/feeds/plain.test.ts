import { describe, expect, it } from 'vitest'
import { parsePlain } from '../../../src/feeds/plain.js'
import { parsed } from '../../support/feed-files.js'

describe('parsePlain', () => {
  it('takes one entry a line, without comments, and knows the line', () => {
    const list =
      '\ufeff# our list\n\n198.51.100.7\r\n  bad.example.com  # since May\n; old\n// older\n203.0.113.0/24 ; SBL7\nhttp://bad.example.net/#x'
    expect(parsed(parsePlain, list)).toEqual({
      added: [
        ['198.51.100.7', 3],
        ['bad.example.com', 4],
        ['203.0.113.0/24', 7],
        ['http://bad.example.net/#x', 8],
      ],
      junk: [],
    })
  })

  it('takes the names of a hosts file that lead nowhere, and not its own names', () => {
    const hosts =
      '127.0.0.1 localhost\n127.0.0.1 localhost.localdomain\n255.255.255.255 broadcasthost\n::1 localhost ip6-loopback\nfe80::1%lo0 localhost\nff02::1 ip6-allnodes\n0.0.0.0 0.0.0.0\n0.0.0.0 bad.example.com www.bad.example.com # both\n::\tbad.example.net'
    expect(parsed(parsePlain, hosts)).toEqual({
      added: [
        ['bad.example.com', 8],
        ['www.bad.example.com', 8],
        ['bad.example.net', 9],
      ],
      junk: [],
    })
  })

  it('accuses nobody in a hosts file that leads somewhere', () => {
    expect(parsed(parsePlain, '192.0.2.10 intranet.example.com')).toEqual({ added: [], junk: [1] })
  })

  it('takes filter rules and quoted lists', () => {
    expect(parsed(parsePlain, '! title\n||bad.example.com^\n"198.51.100.7",\n').added).toEqual([
      ['bad.example.com', 2],
      ['198.51.100.7', 3],
    ])
  })

  it('takes spans with spaces, and rows of first, last and prefix that say the same', () => {
    const list =
      '198.51.100.7 - 198.51.100.9\n203.0.113.0\t203.0.113.255\t24\t1234\tEXAMPLE\n203.0.113.0 203.0.113.9 24'
    expect(parsed(parsePlain, list)).toEqual({
      added: [
        ['198.51.100.7 - 198.51.100.9', 1],
        ['203.0.113.0-203.0.113.255', 2],
      ],
      junk: [3],
    })
  })

  it('counts lines of several words as junk', () => {
    expect(parsed(parsePlain, 'this is not a list\n198.51.100.7').junk).toEqual([1])
  })
})

import { describe, expect, it } from 'vitest'
import { readManifest } from '../../../src/feeds/misp.js'
import { parsed } from '../../support/feed-files.js'

const attribute = (uuid: string, type: string, value: unknown, given: object = {}): object => ({
  uuid,
  type,
  value,
  category: 'Network activity',
  to_ids: true,
  timestamp: '1794731405',
  ...given,
})
const seen = 1794731405000
const network = { categories: ['Network activity'], seen }

describe('a MISP event', () => {
  it('takes the attributes that hold addresses, names and URLs, in objects too', () => {
    const event = {
      Event: {
        Attribute: [
          attribute('a', 'ip-src', '198.51.100.7'),
          attribute('b', 'ip-dst', '198.51.100.0/24'),
          attribute('c', 'ip-dst|port', '203.0.113.9|443'),
          attribute('d', 'domain', 'bad.example.com'),
          attribute('e', 'hostname', 'www.bad.example.com'),
          attribute('f', 'domain|ip', 'bad.example.net|203.0.113.10'),
          attribute('g', 'url', 'http://bad.example.org/a|b'),
          attribute('h', 'md5', 'd41d8cd98f00b204e9800998ecf8427e'),
        ],
        Object: [{ Attribute: [attribute('i', 'ip-src|port', '203.0.113.11|22')] }],
      },
    }
    expect(parsed(JSON.stringify(event)).added).toEqual([
      ['198.51.100.7', 'a', network],
      ['198.51.100.0/24', 'b', network],
      ['203.0.113.9', 'c', { ...network, port: 443 }],
      ['bad.example.com', 'd', network],
      ['www.bad.example.com', 'e', network],
      ['bad.example.net', 'f', network],
      ['203.0.113.10', 'f', network],
      ['http://bad.example.org/a|b', 'g', network],
      ['203.0.113.11', 'i', { ...network, port: 22 }],
    ])
  })

  it('joins address and port of an object, where there is one port for that end', () => {
    const inObject = (uuid: string, type: string, value: string, object_relation: string): object =>
      attribute(uuid, type, value, { object_relation })
    const ports = (...more: object[]): object => ({
      name: 'ip-port',
      Attribute: [
        inObject('a', 'ip-dst', '198.51.100.7', 'ip-dst'),
        inObject('b', 'ip-src', '198.51.100.8', 'ip-src'),
        inObject('c', 'port', '4444', 'dst-port'),
        ...more,
      ],
    })
    const read = (object: object): unknown[] =>
      parsed(JSON.stringify({ Event: { Attribute: [], Object: [object] } })).added.map(([value, , details]) => [
        value,
        details?.port,
      ])
    expect(read(ports())).toEqual([
      ['198.51.100.7', 4444],
      ['198.51.100.8', undefined],
    ])
    expect(read(ports(inObject('d', 'port', '4445', 'dst-port')))[0]).toEqual(['198.51.100.7', undefined])
  })

  it('counts what is not meant for detection or was deleted', () => {
    const Attribute = [
      attribute('a', 'ip-src', '198.51.100.7', { to_ids: false }),
      attribute('b', 'ip-src', '198.51.100.8', { to_ids: undefined }),
      attribute('c', 'ip-src', '198.51.100.9', { deleted: true }),
    ]
    const deleted = { deleted: true, Attribute: [attribute('d', 'ip-src', '198.51.100.10')] }
    expect(parsed(JSON.stringify({ Event: { Attribute, Object: [deleted] } }))).toEqual({
      added: [],
      skipped: [
        ['a', 'not_for_detection'],
        ['b', 'not_for_detection'],
        ['c', 'revoked'],
        ['d', 'revoked'],
      ],
    })
  })

  it('takes tags of attribute and event for categories, and TLP for how far it may be passed on', () => {
    const tagged = attribute('a', 'ip-src', '198.51.100.7', { Tag: [{ name: 'botnet' }, { name: 'tlp:red' }, null] })
    const event = { Event: { Tag: [{ name: 'ransomware' }, { name: 7 }], Attribute: [tagged] } }
    expect(parsed(JSON.stringify(event)).added).toEqual([
      ['198.51.100.7', 'a', { categories: ['Network activity', 'botnet', 'ransomware'], seen, tlp: 'tlp:red' }],
    ])
  })

  it('reads the answer of a search', () => {
    const one = { Event: { Attribute: [attribute('a', 'ip-src', '198.51.100.7')] } }
    for (const answer of [{ response: [one] }, [one], { response: [one.Event] }, { response: one.Event }])
      expect(parsed(JSON.stringify(answer)).added).toEqual([['198.51.100.7', 'a', network]])
  })

  it('skips an attribute without a value', () => {
    const Attribute = [attribute('a', 'ip-src', null), attribute('b', 'domain|ip', 'bad.example.com')]
    expect(parsed(JSON.stringify({ Event: { Attribute } })).skipped).toEqual(['a', 'b'])
  })
})

describe('readManifest', () => {
  it('names the files of the events', () => {
    const id = '5f6b2a4c-0000-4000-8000-000000000001'
    expect(readManifest(Buffer.from(JSON.stringify({ [id]: { timestamp: '1793520000', info: 'x' } })))).toEqual({
      ok: true,
      files: [`${id}.json`],
      timestamps: new Map([[`${id}.json`, '1793520000']]),
    })
  })

  it.each(['{"../../etc/passwd": {}}', '{"__proto__": {}}', '[]', 'x', 'null'])('refuses %s', (text) => {
    expect(readManifest(Buffer.from(text)).ok).toBe(false)
  })
})

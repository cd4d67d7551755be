// Which of the addresses of an event is the source and which the destination, by general rules about names and sentences.
import { describe, expect, it } from 'vitest'
import { readLine, readPorts } from '../../../support/read-line.js'

const a = '203.0.113.9'
const b = '198.51.100.7'
type Case = readonly [about: string, line: string | object, found: readonly string[]]
const expectCase = (_: string, line: string | object, found: readonly string[]): void => {
  const read = readLine(typeof line === 'string' ? line : JSON.stringify(line)).found
  expect([...read].sort()).toEqual([...found].sort())
}

describe('the name of a field', () => {
  it.each<Case>([
    ['that says who sends', { sending_ip: a, receivingIp: b }, [`${a} source`, `${b} destination`]],
    ['that says who answers', { queryAddress: a, responseAddress: b }, [`${a} source`, `${b} destination`]],
    ['that says who resolves', { client_ip: a, resolver_ip: b }, [`${a} source`, `${b} destination`]],
    ['that says nothing beside one that does', { sourceIp: a, ipAddress: b }, [`${a} source`, `${b} other`]],
    ['that says only where the address is from', { user: 'alice', internalIp: '10.0.0.5' }, ['10.0.0.5 source']],
  ])('%s', expectCase)
})

describe('host= with an address and a port=', () => {
  it.each<Case>([
    ['is who came', `2026-11-15T10:00:00Z ACCEPT host=::ffff:${a} port=39590 fd=4`, [`${a} source`]],
    ['is where to, behind a verb', `level=info msg="connecting to peer" host=${b} port=443`, [`${b} destination`]],
    [
      'is who came to a target',
      `Block Event: Host: ${a}, Target: ${b}, Service: 23/TCP`,
      [`${a} source`, `${b} destination`],
    ],
    ['is the other end beside a source', `src=${a} host=${b} port=443`, [`${a} source`, `${b} destination`]],
    [
      'is what was asked for in a request',
      { method: 'GET', client_ip: '10.0.0.5', host: b, port: 80 },
      ['10.0.0.5 source', `${b} url`],
    ],
  ])('%s', expectCase)
})

describe('a value made of several parts', () => {
  it.each<Case>([
    [
      'keeps the role of its field',
      `Service="PJSIP",LocalAddress="IPV4/UDP/${b}/5060",RemoteAddress="IPV4/UDP/${a}/55287"`,
      [`${a} source`, `${b} destination`],
    ],
    ['has who asked and the address', { remote: `alice@${a}:4711` }, [`${a} source`]],
    ['has how somebody came in', `user="alice" ui="GUI(${a})" status=success`, [`${a} source`]],
    ['is a list of proxies behind a client', { client_ip: `${a}, 10.0.0.2` }, [`${a} source`, '10.0.0.2 observer']],
    [
      'is a list of several sources in the plural',
      { client_ips: `${a}, 10.0.0.2` },
      [`${a} source`, '10.0.0.2 source'],
    ],
  ])('%s', expectCase)
})

describe('the local and the remote end', () => {
  it.each<Case>([
    ['by a direction', { direction: 'outbound', local_ip: a, remote_ip: b }, [`${a} source`, `${b} destination`]],
    [
      'by a direction against the ports',
      { direction: 'inbound', local_ip: a, local_port: 50000, remote_ip: b, remote_port: 443 },
      [`${a} destination`, `${b} source`],
    ],
    [
      'by a verb',
      { event: 'NetworkConnectIP4', LocalAddressIP4: a, RemoteAddressIP4: b },
      [`${a} source`, `${b} destination`],
    ],
    [
      'by the other verb',
      { event: 'NetworkReceiveAcceptIP4', LocalAddressIP4: a, RemoteAddressIP4: b },
      [`${a} destination`, `${b} source`],
    ],
    [
      'by the ports in a sentence',
      `tunnel Local IP (${a}:50123) Remote IP (${b}:443) is down`,
      [`${a} source`, `${b} destination`],
    ],
    ['by the verb of a sentence', `Connecting local ${a}:0 remote ${b}:0`, [`${a} source`, `${b} destination`]],
    ['by nothing else', `local ${a} remote ${b} state changed`, [`${a} destination`, `${b} source`]],
  ])('%s', expectCase)
})

it('0.0.0.0 is no end where another address is', () => {
  expectCase('', { source_address: a, peer_source_address: '0.0.0.0' }, [`${a} source`, '0.0.0.0 other'])
})

describe('an address and a port with no bracket between them', () => {
  it.each<Case>([
    ['joined by a low line', `conn ${a}_50550 -> ${b}_443 closed`, [`${a} source`, `${b} destination`]],
    ['joined by a dot', `accept ]: ${a}.50550 ${b}.1080: error`, [`${a} source`, `${b} destination`]],
    ['in fields', `src=2001:db8::9:50550 dst=${b}_443`, ['2001:db8::9 source', `${b} destination`]],
    [
      'of IPv6, with a dot',
      'IP6 2001:db8::9.50550 > 2001:db8::7.443: S',
      ['2001:db8::9 source', '2001:db8::7 destination'],
    ],
    ['before a word', `msg= 'Peer IP=${a}Peer port[1194] AAA[8]: failed'`, [`${a} source`]],
    ['as two of each', { tuple: `${a}|4711|${b}|443` }, [`${a} source`, `${b} destination`]],
    [
      'in LEEF whose tabs a relay has written out',
      `LEEF:1.0|Acme|Gate|1.0|Deny|src=${a}#011dst=${b}#011srcPort=4711`,
      [`${a} source`, `${b} destination`],
    ],
    [
      'in LEEF with blanks for tabs',
      `LEEF:1.0|Acme|Gate|1.0|Deny|src=${a} dst=${b} msg=some text`,
      [`${a} source`, `${b} destination`],
    ],
  ])('%s', expectCase)

  it('is no part of a number with more parts', () => {
    expect(readLine('agent 1.2.3.4.5 and OID 1.3.6.1.4.1.9 and 192.0.2.1.2.3.4').found).toEqual([])
  })
})

describe('the words around an address', () => {
  it.each<Case>([
    ['due to', `Traffic to ${b} dropped due to ${a}`, [`${b} destination`, `${a} other`]],
    ['assigned to', `session 7: address assigned to ${a}`, [`${a} source`]],
    ['a number and a full stop before', `failure count of alice is set to 1. (${a}) blocked`, [`${a} source`]],
    ['failed for', `Authentication failed for ${a} at server ${b}`, [`${a} source`, `${b} destination`]],
    ['the name of a file', `[server.go:2619] session refused, ${a}`, [`${a} source`]],
    [
      'an address in parentheses with another port',
      `New connection: ${a}:47630 (${b}:2222)`,
      [`${a} source`, `${b} destination`],
    ],
    [
      'a server, and its client with its name',
      `${b} (${a}[${a}]) - USER alice (Login failed)`,
      [`${b} destination`, `${a} source`],
    ],
    [
      'the address that was connected to',
      `conn=1 ACCEPT from IP=${a}:39994 (IP=${b}:389)`,
      [`${a} source`, `${b} destination`],
    ],
    [
      'a port of a service first',
      `2026-11-15 10:00:00,7,${b}:143,${a}:35070,alice,login`,
      [`${b} destination`, `${a} source`],
    ],
    ['a ban', `CRIT: Banning ${a}/32 for 60 minutes`, [`${a} source`]],
    ['the time alone, and a port', `2026-11-15 10:00:00 ${a}:54321 TLS Error: handshake failed`, [`${a} source`]],
  ])('%s', expectCase)
})

describe('mail', () => {
  it.each<Case>([
    [
      'the brackets behind HELO',
      `authenticator failed for ([192.0.2.99]) [${a}]:55379: 535 Incorrect`,
      ['192.0.2.99 claimed', `${a} source`],
    ],
    ['the server that answered', `smtp: host mx[${b}] said: 550 5.1.1 unknown user`, [`${b} destination`]],
    ['the server that was spoken to', `smtp: lost connection with mx[${b}] while sending`, [`${b} destination`]],
  ])('%s', expectCase)
})

describe('what a client wrote as if the program had', () => {
  it.each<Case>([
    [
      'before what the program wrote',
      `Failed password for invalid user from 192.0.2.77 port 22 from ${a} port 40022 ssh2`,
      ['192.0.2.77 claimed', `${a} source`],
    ],
    [
      'in quotation marks',
      `login failed from ${a} as 'bob from 192.0.2.77 now' [code 7]`,
      ['192.0.2.77 claimed', `${a} source`],
    ],
  ])('%s', expectCase)
})

it('the prefix of a container engine is none of the line', () => {
  expectCase('', `2026-11-15T10:00:00.123456789Z stderr F Failed password for alice from ${a} port 40022 ssh2`, [
    `${a} source`,
  ])
})

describe('the only address that has a name', () => {
  it.each<Case>([
    [
      'is who did it, behind a label',
      { eventInfo: `Feed download, Date: 2026-11-15, IP: ${a}, Application: Acme` },
      [`${a} source`],
    ],
    [
      'is the public one of two',
      { EventType: 'user-status', PublicIP: a, PrivateIP: '10.0.0.4' },
      [`${a} source`, '10.0.0.4 other'],
    ],
    [
      'is both ends of a machine that talks to itself',
      `Deny External gate udp 20 16 ${a} ${a} 40001 5041`,
      [`${a} source`, `${a} destination`],
    ],
  ])('%s', expectCase)
})

describe('an end of a connection', () => {
  it.each<Case>([
    [
      'the interface of a mail server is its own',
      `SMTP connection from [${a}]:51000 I=[${b}]:25 closed`,
      [`${a} source`, `${b} destination`],
    ],
    [
      "a name that ends in an address is the client's word",
      `Connection closed by invalid user from 192.0.2.77 ${a} port 51000 [preauth]`,
      ['192.0.2.77 claimed', `${a} source`],
    ],
    [
      'the ports in the addresses tell which end began',
      { conn: { laddr: `${a}:51000`, raddr: `${b}:443` } },
      [`${a} source`, `${b} destination`],
    ],
    ['who dials goes to the host', { host: b, port: 3306, msg: 'dialing backend' }, [`${b} destination`]],
    [
      'what was connected, at the port of a service, is where to',
      `s_connect: connected ${b}:443`,
      [`${b} destination`],
    ],
  ])('%s', expectCase)
})

describe('the only address of an event is withheld from lookups', () => {
  it.each<Case>([
    ['not by one word in its name', { device_external_ip: a, msg: 'process started' }, [`${a} other`]],
    ['not by one word in each of two names', { device_ip: a, nat_ip: b }, [`${a} other`, `${b} other`]],
    ['not by one word in front', `session mapped ${a}`, [`${a} other`]],
    ['by two words', { firewall_device_ip: a, msg: 'started' }, [`${a} observer`]],
    ['by a name that is known', { observer: { ip: a }, msg: 'started' }, [`${a} observer`]],
    ['by one word beside another address', { device_ip: a, src_ip: b }, [`${a} observer`, `${b} source`]],
  ])('%s', expectCase)
})

describe('an identifier of ICMP', () => {
  it.each([
    ['in a record of a flow', JSON.stringify({ proto: 'icmp', src_ip: a, src_port: 8, dest_ip: b, dest_port: 4711 })],
    [
      'in a line of a firewall',
      `%ASA-6-302021: Teardown ICMP connection for faddr ${a}/4711 gaddr ${b}/0 laddr ${b}/0`,
    ],
    ['with the packet it is about', `Deny icmp src outside:${a}(4711) dst inside:${b}(3). Payload: udp src ${b}/53`],
    ['in a line inside JSON', JSON.stringify({ message: `denied icmp ${a}:4711 -> ${b}:8` })],
  ])('is no port: %s', (_, line) => {
    expect(readPorts(line)).toEqual([0, 0])
  })

  it('takes no port from a line that names ICMP behind its own protocol', () => {
    expect(readPorts(`denied udp ${a}:40001 -> ${b}:53, answered with icmp unreachable`)).toEqual([40001, 53])
  })
})

describe('a name that ends in an ordinary word', () => {
  it.each([
    ['behind what was asked', 'resolver: query: files.shop from 192.0.2.1'],
    ['behind what was visited', 'user alice visited "files.online" at noon'],
    ['before a record of DNS', 'client 192.0.2.1 asked files.build. IN AAAA'],
    ['before the port of a service', 'tunnel opened, files.live:443, 200 bytes'],
  ])('is a host where the text says so: %s', (_, text) => {
    expect(readLine(text).found.join()).toMatch(/files\.(?:shop|online|build|live)/)
  })

  it.each(['policy block-social.media matched', 'Google.Services allowed', 'raised by Files.read in Mail.select'])(
    'is none elsewhere: %s',
    (text) => {
      expect(readLine(text).found).toEqual([])
    },
  )
})

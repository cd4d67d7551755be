// Flow records: whether a connection was made, which way it began, and which end is on our side.
import { describe, expect, it } from 'vitest'
import { openFormats } from '../../../../src/app/open-formats.js'
import { decode, decodeLimits } from '../../../../src/pipeline/decode.js'
import { createRangeSet } from '../../../../src/domain/range-set.js'
import { directionOf, sideOf } from '../../../../src/pipeline/annotate/direction.js'
import { createExtract, extractLimits } from '../../../../src/pipeline/extract/extract.js'

const extract = createExtract({ ...extractLimits, formats: openFormats([]).formats })
const none = createRangeSet([])

/** `direction action`. */
const flowOf = (event: string | object): string => {
  const text = typeof event === 'string' ? event : JSON.stringify(event)
  const { sightings, flow, action } = extract(decode(Buffer.from(text), decodeLimits))
  const sides = sightings.map((one) => ({ role: one.role, side: sideOf(one, none) }))
  return `${directionOf(sides, flow)} ${action}`
}

const zeek = (state: string, more: object = {}): object => ({
  ts: 1794736800.1,
  uid: 'C1',
  'id.orig_h': '203.0.113.7',
  'id.orig_p': 443,
  'id.resp_h': '10.0.0.20',
  'id.resp_p': 50022,
  proto: 'tcp',
  conn_state: state,
  ...more,
})

describe("Zeek's state of a connection", () => {
  it.each([
    ['S1', 'allowed'],
    ['SF', 'allowed'],
    ['S2', 'allowed'],
    ['S3', 'allowed'],
    ['RSTO', 'allowed'],
    ['RSTR', 'allowed'],
    ['S0', 'unknown'],
    ['REJ', 'blocked'],
    ['RSTOS0', 'unknown'],
    ['SH', 'unknown'],
    ['RSTRH', 'unknown'],
    ['SHR', 'unknown'],
    ['OTH', 'unknown'],
  ])('%s is %s, and the originator began it whatever its port', (state, action) => {
    expect(flowOf(zeek(state))).toBe(`inbound ${action}`)
  })

  it('is read in conn.log with tabs, with the sides that Zeek knows', () => {
    const row = (local: string): string =>
      `1794736800.1\tC1\t203.0.113.7\t52000\t198.51.100.20\t22\ttcp\tssh\t3.1\t2100\t3300\tSF\t${local}\t0\tShAdDaFf\t12\t2400\t14\t3900\t-`
    expect(flowOf(row('F\tT'))).toBe('inbound allowed')
    expect(flowOf(row('T\tF'))).toBe('outbound allowed')
    expect(flowOf(row('F\tF'))).toBe('external allowed')
  })

  it.each([
    [false, true, 'inbound'],
    [true, false, 'outbound'],
    [false, false, 'external'],
  ])('with local_orig %s and local_resp %s between public addresses is %s', (local_orig, local_resp, direction) => {
    expect(flowOf(zeek('SF', { 'id.resp_h': '198.51.100.20', local_orig, local_resp }))).toBe(`${direction} allowed`)
  })
})

describe("Suricata's state of a flow", () => {
  const suricata = (flow: object, tcp: object = {}): object => ({
    timestamp: '2026-11-15T08:00:00.000000+0000',
    event_type: 'flow',
    src_ip: '203.0.113.7',
    src_port: 52000,
    dest_ip: '10.0.0.20',
    dest_port: 22,
    proto: 'TCP',
    flow,
    tcp,
  })
  it.each([
    ['established', { state: 'established' }, {}, 'allowed'],
    ['closed after both sides opened it', { state: 'closed' }, { tcp_flags_ts: '1b', tcp_flags_tc: '1b' }, 'allowed'],
    ['closed by a refusal', { state: 'closed' }, { tcp_flags_ts: '02', tcp_flags_tc: '14' }, 'blocked'],
    ['new', { state: 'new' }, {}, 'unknown'],
    ['closed, and nothing else', { state: 'closed' }, {}, 'unknown'],
  ])('%s', (_, flow, tcp, action) => {
    expect(flowOf(suricata(flow, tcp))).toBe(`inbound ${action}`)
  })
})

describe('a reply leg', () => {
  const vpc = (from: string, to: string, ports: string, action = 'ACCEPT'): string =>
    `2 123456789010 eni-0a1b2c3d ${from} ${to} ${ports} 6 20 4249 1794736800 1794736860 ${action} OK`

  it('of our own server to a scanner is inbound', () => {
    expect(flowOf(vpc('203.0.113.9', '10.0.0.5', '51234 443'))).toBe('inbound allowed')
    expect(flowOf(vpc('10.0.0.5', '203.0.113.9', '443 51234'))).toBe('inbound allowed')
  })
  it('of a server that we called is outbound', () => {
    expect(flowOf(vpc('10.0.0.5', '203.0.113.9', '51234 443'))).toBe('outbound allowed')
    expect(flowOf(vpc('203.0.113.9', '10.0.0.5', '443 51234'))).toBe('outbound allowed')
  })
  it.each(['443 8443', '53 53', '443 443', '51234 61234', '443 80', '0 0'])('is not told by the ports %s', (ports) => {
    expect(flowOf(vpc('203.0.113.9', '10.0.0.5', ports))).toBe('inbound allowed')
  })
  it('is none where it was stopped: nobody had asked', () => {
    expect(flowOf(vpc('203.0.113.9', '10.0.0.5', '443 51234', 'REJECT'))).toBe('inbound blocked')
  })
  it.each([
    [2, 'inbound unknown'],
    [18, 'outbound unknown'],
    [27, 'outbound allowed'],
    [20, 'inbound blocked'],
  ])('in NetFlow with the TCP flags %s: %s', (tcp_control_bits, expected) => {
    const netflow = { source: { ip: '203.0.113.9', port: 443 }, destination: { ip: '10.0.0.5', port: 51111 } }
    expect(flowOf({ ...netflow, network: { transport: 'tcp' }, netflow: { tcp_control_bits } })).toBe(expected)
  })
  it('is none in a record of both ways: its source called', () => {
    const pair = 'srcip=203.0.113.9 srcport=443 dstip=10.0.0.5 dstport=51111 proto=6 action="accept"'
    expect(flowOf(`${pair} sentbyte=100 rcvdbyte=2000`)).toBe('inbound allowed')
    expect(flowOf(pair)).toBe('outbound allowed')
  })
  it('is told by Suricata where an alert is about a packet to the client', () => {
    const alert = { event_type: 'alert', src_ip: '203.0.113.9', dest_ip: '10.0.0.5', src_port: 8444, dest_port: 51111 }
    expect(flowOf({ ...alert, direction: 'to_client' })).toBe('outbound unknown')
    expect(flowOf({ ...alert, direction: 'to_server' })).toBe('inbound unknown')
  })
  it.each([
    ['ICMP', 0, 'inbound'],
    ['ICMP', 8, 'outbound'],
    ['ICMP', 3, 'inbound'],
    ['ICMPv6', 129, 'inbound'],
    ['ICMPv6', 128, 'outbound'],
  ])('of %s has the type %s: %s', (protocol, type, direction) => {
    const line = `Nov 15 08:00:01 fw-1 kernel: [ 4711.1] IN=eth1 OUT=eth0 SRC=10.0.0.5 DST=203.0.113.9 LEN=84 TTL=63 PROTO=${protocol} TYPE=${type} CODE=0 ID=1 SEQ=1`
    expect(flowOf(line)).toBe(`${direction} unknown`)
  })
})

describe('a public address of our own', () => {
  const forward = (more: string): string =>
    `date=2026-11-15 time=08:00:01 type="traffic" srcip=203.0.113.7 srcport=52144 dstip=198.51.100.5 dstport=443 action="accept" ${more}`
  it.each([
    ['srcintfrole="wan" dstintfrole="dmz"', 'inbound'],
    ['srcintfrole="lan" dstintfrole="wan"', 'outbound'],
    ['srcintfrole="undefined" dstintfrole="dmz"', 'inbound'],
    ['srcintfrole="lan" dstintfrole="lan"', 'external'],
    ['srcintfrole="undefined" dstintfrole="undefined"', 'external'],
  ])('is told by the roles of interfaces: %s is %s', (roles, direction) => {
    expect(flowOf(forward(roles))).toBe(`${direction} allowed`)
  })
  it('is told by zones', () => {
    const row = (zones: string): string =>
      `1,2026/11/15 10:00:00,012801064439,TRAFFIC,end,2561,2026/11/15 10:00:00,203.0.113.7,198.51.100.5,,,in,,,ssl,vsys1,${zones},ethernet1/2,ethernet1/1,forward,2026/11/15 10:00:00,45000,1,52000,443,0,0,0x400053,tcp,allow,6000,2000,4000`
    expect(flowOf(row('untrust,dmz'))).toBe('inbound allowed')
    expect(flowOf(row('trust,untrust'))).toBe('outbound allowed')
  })
  it("is told by ASA's names of interfaces", () => {
    const built =
      '%ASA-6-302013: Built inbound TCP connection 17 for outside:203.0.113.7/52100 (203.0.113.7/52100) to inside:198.51.100.5/443 (198.51.100.5/443)'
    expect(flowOf(`Nov 15 2026 10:00:00: ${built}`)).toBe('inbound allowed')
  })
  it('never makes a private address public', () => {
    expect(flowOf(forward('srcintfrole="wan" dstintfrole="wan"').replace('198.51.100.5', '10.0.0.5'))).toBe(
      'inbound allowed',
    )
  })
})

describe('the end of an ASA connection', () => {
  const teardown = (rest: string): string =>
    `Nov 15 2026 10:00:00 fw : %ASA-6-302014: Teardown TCP connection 4711 for ${rest}`
  it('tells who called by the ports, and that it was made by what came over it', () => {
    expect(
      flowOf(teardown('outside:203.0.113.7/443 to inside:10.0.0.5/51000 duration 0:00:30 bytes 4000 TCP FINs')),
    ).toBe('outbound allowed')
    expect(flowOf(teardown('outside:203.0.113.7/52100 to dmz:10.0.0.5/443 duration 0:00:30 bytes 0 SYN Timeout'))).toBe(
      'inbound unknown',
    )
  })
})

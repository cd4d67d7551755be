// Sentences of routers, gateways and small firewalls: who is at which end, and whether they were let through.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

describe('a router or a gateway', () => {
  it.each([
    [
      'that answers names, with an address of memory between the client and its address',
      'Nov 15 10:00:00 ns1 named[1]: client @0x7f1dd4114af0 192.0.2.1#40100 (www.example.com): view a: query: www.example.com IN MX + (198.51.100.53)',
      'unknown',
      ['192.0.2.1 source', '198.51.100.53 other'],
    ],
    [
      'that tells what an end was translated to before it tells the other',
      '<166>Nov 15 10:00:00 mx1 (FPC Slot 5) JSERVICES_SESSION_CLOSE: application:none, vlan.2051 192.0.2.1:39718 [203.0.113.1:2268] -> 198.51.100.7:80 (TCP)',
      'unknown',
      ['192.0.2.1 source', '203.0.113.1 translated', '198.51.100.7 destination'],
    ],
    [
      'that names both ends of a tunnel behind their addresses',
      'Nov 15 10:00:00 gw charon: 08[IKE] IKE_SA office[7] established between 192.0.2.1[gw.example.com]...198.51.100.7[branch.example.com]',
      'allowed',
      ['192.0.2.1 destination', '198.51.100.7 source'],
    ],
    [
      'that tells of two with a word between them',
      'Nov 15 10:00:00 gw vpnd: tunnel between 192.0.2.1 and 198.51.100.7 is up',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'whose peer begins',
      'Nov 15 10:00:00 gw charon: 05[IKE] 192.0.2.1 is initiating an IKE_SA',
      'unknown',
      ['192.0.2.1 source'],
    ],
    [
      'that turns to a peer',
      'Nov 15 10:00:00 host kernel: wireguard: wg0: Sending handshake initiation to peer 7 (192.0.2.1:51820)',
      'unknown',
      ['192.0.2.1 destination'],
    ],
    [
      'that resolves a name somewhere',
      'HTTPS request from 192.0.2.1:59060 to www.example.com:443. Action: Deny. lookup www.example.com on 198.51.100.53:53: no such host',
      'blocked',
      ['192.0.2.1 source', '198.51.100.53 other'],
    ],
    [
      'that counts failures towards a ban',
      "Nov 15 10:00:00 vpn ocserv[123]: main: added 10 points (total 80) for IP '192.0.2.1' to ban list",
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'that writes as Windows Firewall does, with a size of three digits',
      '2026-11-15 10:00:00 DROP UDP 192.0.2.1 239.255.255.250 2250 1900 250 - - - - - - - RECEIVE',
      'blocked',
      ['192.0.2.1 source', '239.255.255.250 destination'],
    ],
    [
      'that looks whether a service is well',
      'Nov 15 10:00:00 lb Keepalived_healthcheckers[1976]: HTTP_CHECK on service [192.0.2.1]:none:80 failed after 3 retries.',
      'unknown',
      ['192.0.2.1 destination'],
    ],
    [
      'that tells whose address it is in a second sentence',
      '2026-11-15 10:00:00, WARNING@MGMT: Admin user "alice" logined through SSH, and the IP is 192.0.2.1.',
      'unknown',
      ['192.0.2.1 source'],
    ],
    [
      'that names a peer behind its connection',
      'Nov 15 10:00:00 gw pluto[1785]: "L2TP-PSK-noNAT"[1] 192.0.2.1 #2: STATE_QUICK_R2: IPsec SA established transport mode {ESP=>0x0a5e3055 <0xdb309ef9 NATOA=none DPD=none}',
      'unknown',
      ['192.0.2.1 source'],
    ],
    [
      'that writes German',
      '15.11.26 10:00:00 Anmeldung an der Benutzeroberfläche von IP-Adresse 192.0.2.1 gescheitert (falsches Kennwort).',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'that writes Chinese',
      '<134>Nov 15 10:00:00 localhost fwlog: 用户:(null), 源IP:192.0.2.1, 源端口:4711, 目的IP:198.51.100.7, 目的端口:443, 系统动作:拒绝',
      'blocked',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
  ] as const)('%s', (_, line, action, ends) => {
    const read = readLine(line)
    expect([read.action, read.found.filter((one) => /^[\d.]+ /.test(one))]).toEqual([action, ends])
  })

  it.each([
    ['login failure for user admin from 192.0.2.1 via ssh', 'blocked'],
    ['Admin login from 192.0.2.1 failed', 'blocked'],
    ['Login incorrect: [alice] (from client sw1 port 7 cli 192.0.2.1)', 'blocked'],
    ['Bad password attempt for alice from 192.0.2.1:4711', 'blocked'],
    ['SSL VPN LoginSucceeded SrcIp="192.0.2.1" User="alice"', 'allowed'],
    ['alice logged in to the controller from 192.0.2.1.', 'allowed'],
    ["auth: Invalid user name/password on TELNET session User '' is trying to login from 192.0.2.1", 'blocked'],
    [
      '1,2026/11/15 10:00:00,001,SYSTEM,auth,0,2026/11/15 10:00:00,,auth-fail,,0,0,general,medium,"failed authentication for user alice. From: 192.0.2.1.",1,0x0',
      'blocked',
    ],
    ['src="192.0.2.1:4711" dst="198.51.100.7:23" msg="Firewall default policy" note="ACCESS BLOCK"', 'blocked'],
    ['policy_type=DoS policy_action=패킷차단 src=192.0.2.1 dst=198.51.100.7', 'blocked'],
    ['class=fw policy_action=허용 src=192.0.2.1 dst=198.51.100.7', 'allowed'],
    ['src=192.0.2.1 dst=198.51.100.7 action=bloqueado', 'blocked'],
    ['alice is not logged in, asked from 192.0.2.1', 'unknown'],
  ] as const)('tells how it went: %s', (line, action) => {
    expect(readLine(line).action).toBe(action)
  })

  it.each([
    ['user_ip=192.0.2.1 a=1', '192.0.2.1 source'],
    ['actorIpAddress=192.0.2.1 a=1', '192.0.2.1 source'],
    ['outer_src=192.0.2.1 a=1', '192.0.2.1 source'],
    ['offending_ip=192.0.2.1 a=1', '192.0.2.1 source'],
    ['tgt_ip=192.0.2.1 a=1', '192.0.2.1 destination'],
    ['tunnel_dst=192.0.2.1 a=1', '192.0.2.1 destination'],
  ] as const)('reads the field in %s', (line, end) => {
    expect(readLine(line).found).toEqual([end])
  })
})

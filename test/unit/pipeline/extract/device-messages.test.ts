// Sentences and rows in which devices tell of an event, and who is at which end of it.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

describe('a message of a device', () => {
  it.each([
    [
      'that names an address behind it: a name is never what it was translated to',
      'Blocked outbound connection from 10.0.0.5 (pc1.example.com) to 198.51.100.7 (bad.example.net)',
      'blocked',
      ['10.0.0.5 source', 'pc1.example.com source', '198.51.100.7 destination', 'bad.example.net destination'],
    ],
    [
      'of a RADIUS server, which tells of the device that asked for somebody',
      'radius: Access-Reject for user alice NAS-IP 192.0.2.254 Calling-Station-Id 192.0.2.1',
      'blocked',
      ['192.0.2.254 observer', '192.0.2.1 source'],
    ],
    [
      'whose ports tell that the local end began',
      'proto=tcp laddr=10.0.0.5 lport=5000 faddr=198.51.100.7 fport=443 state=ESTABLISHED',
      'unknown',
      ['10.0.0.5 source', '198.51.100.7 destination'],
    ],
    [
      'that tells the ports in words',
      'Rule 12 DENY in on wan proto 6 192.0.2.1 port 5000 198.51.100.7 port 443',
      'blocked',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that sent mail on',
      'type=event subtype=smtp user=mail action=NONE status=N/A msg="to=<alice@example.org>, delay=00:00:13, mailer=esmtp, pri=50733, relay=mx.example.net. [192.0.2.1], dsn=2.0.0, stat=Sent (Ok: queued as C41457FCE6)"',
      'unknown',
      ['example.org mail', 'mx.example.net destination', '192.0.2.1 destination'],
    ],
    [
      'that was sent mail',
      'Nov 15 10:00:00 mx1 sendmail[4711]: m1: from=<bob@example.org>, size=1, class=0, nrcpts=1, proto=ESMTP, daemon=MTA, relay=mail.example.net [192.0.2.1]',
      'unknown',
      ['example.org mail', 'mail.example.net source', '192.0.2.1 source'],
    ],
    [
      'that says what was tried, and how it went',
      'category="Event" subcategory="Authentication" user="alice" nas="192.0.2.254" userip="192.0.2.1" action="Authentication" status="Failed" user authentication with invalid token',
      'blocked',
      ['192.0.2.254 observer', '192.0.2.1 source'],
    ],
    [
      'whose message has a name behind two headers',
      'Nov 15 10:00:00 192.0.2.254 junos-flow: 2026-11-15T10:00:00.803Z fw1 RT_FLOW - RT_FLOW_SESSION_DENY [junos@2636.1.1.1.2.39 source-address="192.0.2.1" destination-address="198.51.100.7"]',
      'blocked',
      ['192.0.2.254 observer', '192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that begins a row of bars with words',
      'Info     fw1 Allow: LOUT|UDP|bond0.603|192.0.2.1|40001|00:00:5e:00:53:01|198.51.100.7|53|domain||RULE-1|0|203.0.113.12|198.51.100.7|0|1|0|0|0|0||||||',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination', '203.0.113.12 other'],
    ],
    [
      'that says whose an address is',
      'apmd[14311]: 01490113:5: /Common/Access:Common:145fae2d: session.user.clientip is 192.0.2.1',
      'unknown',
      ['192.0.2.1 source'],
    ],
    [
      'that gives the reason',
      'Nov 15 10:00:00.579 CEST: %SEC_LOGIN-1-QUIET_MODE_ON: Still timeleft for watching failures is 24 secs, [user: alice] [Source: 192.0.2.1] [localport: 22] [Reason: Login Authentication Failed] [ACL: sl_def_acl]',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'that hyphens whose an address is',
      'fw1: NetScreen device_id=fw1 [No Name]system-low-00625: Session (id 7 src-ip 192.0.2.1 dst-ip 198.51.100.7 dst port 6881) route is valid. (2026-11-15 10:00:00)',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that goes to a server',
      '<142>Nov 15 10:00:00 fw1 firewall[10]: msg_id="3D04-0001" Connected to the primary Log Server at 198.51.100.7',
      'unknown',
      ['198.51.100.7 destination'],
    ],
    [
      'whose sessions come to a virtual address',
      'lb1 notice apmd[11023]: 01490500:5: /Common/a: New session from client IP 192.0.2.1 (ST=x/CC=y/C=z) at VIP 198.51.100.7 Listener b',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'whose administrator could not log in',
      'Nov 15 10:00:00 ise1 CISE_Audit 0000082182 1 0 NOTICE Administrator-Login: Administrator authentication has failed, AdminInterface=GUI, AdminIPAddress=192.0.2.1, AdminName=alice,',
      'blocked',
      ['192.0.2.1 source'],
    ],
    ['that says which login failed', 'web: [192.0.2.1] FAILED_LOGIN (alice)', 'blocked', ['192.0.2.1 source']],
    [
      'that gives up a backend',
      'Nov 15 10:00:00 fw1 reverseproxy: [proxy:error] [pid 7755] AH00959: ap_proxy_connect_backend disabling worker for (198.51.100.7) for 60s',
      'unknown',
      ['198.51.100.7 destination'],
    ],
    [
      'that names the gateways of a tunnel',
      'Nov 15 10:00:00 gw1 cloudxd: TunnelStatusChange: src_gw=192.0.2.1(one two) dst_gw=198.51.100.7(NA NA) gw=203.0.113.1 old_state=Down new_state=Up',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination', '203.0.113.1 observer'],
    ],
    [
      'that joins the ends with a dash',
      'Nov 15 10:00:00 pot honeyd[5711]: Connection to closed port: udp (192.0.2.1:37806 - 198.51.100.7:1)',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that filters by a letter',
      'Nov 15 10:00:00 fw ipmon[12]: 10:00:00.123456 hme0 @0:3 b 192.0.2.1,4711 -> 198.51.100.7,23 PR tcp len 20 40 -S IN',
      'blocked',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that tells an interface with a sign before it',
      'Nov 15 10:00:00 192.0.2.254 authorize 192.0.2.253 >daemon src: 192.0.2.1; rule: 7; proto: tcp; user: alice; service: 259; s_port: 4712;',
      'unknown',
      ['192.0.2.254 observer', '192.0.2.253 other', '192.0.2.1 source'],
    ],
    [
      'that names its ciphers after somebody',
      'Nov 15 10:00:00 r1 idp: User alice authentication for SSH2 Session from 192.0.2.1 (tty = 1) using hmac hmac-sha2-256-etm@openssh.com Succeeded',
      'allowed',
      ['192.0.2.1 source'],
    ],
  ])('%s', (_, line, action, found) => {
    expect(readLine(line)).toEqual({ action, found })
  })
})

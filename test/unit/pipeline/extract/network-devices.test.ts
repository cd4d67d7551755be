// One line in each way that network devices tell of an event, and who is at which end of it.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

describe('a device', () => {
  it.each([
    [
      'that names its structured data after an enterprise',
      '<14>1 2026-11-15T10:00:00.000Z fw1 RT_FLOW - RT_FLOW_SESSION_CLOSE [junos@198.51.100.99 reason="TCP FIN" source-address="192.0.2.1" destination-address="198.51.100.7"]',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that lets through what is established',
      'Nov 15 2026 10:00:00: %ASA-5-106100: access-list in est-allowed tcp inside/192.0.2.1(40001) -> outside/198.51.100.7(443) hit-cnt 1 first hit',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that tells of a login that succeeded',
      'Nov 15 10:00:00 192.0.2.254 17: Nov 15 10:00:00 UTC: %SEC_LOGIN-5-LOGIN_SUCCESS: Login Success [user: alice] [Source: 192.0.2.1] [localport: 22] at 10:00:00',
      'allowed',
      ['192.0.2.254 observer', '192.0.2.1 source'],
    ],
    [
      'that tells the address of a user',
      '<190>Nov 15 2026 10:00:00 fw1 : Group <g> User <alice> IP <192.0.2.1> Authentication: rejected, Session Type: WebVPN.',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'whose peer is who came',
      "<134>1 1700000000.1 fw1 events type=vpn_auth msg= 'Server IP=198.51.100.7 Server port=1812 Peer IP=192.0.2.1 Peer port=40001 User=alice: Authentication request accepted. '",
      'allowed',
      ['198.51.100.7 destination', '192.0.2.1 source'],
    ],
    [
      'that tells a port behind whoever changed something',
      '<134>2026-11-15 10:00:00.100 +0000  waf1 AUDIT alice GUI 192.0.2.1 40001 CONFIG 166 config SET virtual_ip_config_address 198.51.100.7 virtual_ip_config_interface',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 other'],
    ],
    [
      'that does not quote a browser',
      '<134>Nov 15 10:00:00 proxy1 action=permitted src_host=192.0.2.1 dst_ip=198.51.100.7 http_user_agent=Mozilla/3.0 (Windows; U; rv:1.7.0.11) Gecko/2009060215 status=200',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'whose event is written as XML',
      '<?xml version="1.0"?> <EPOevent><MachineInfo><IPAddress>192.0.2.9</IPAddress></MachineInfo><SoftwareInfo ProductVersion="10.7.0.6711"><Event><ThreatActionTaken>blocked</ThreatActionTaken><SourceIPV4>192.0.2.1</SourceIPV4><TargetIPV4>198.51.100.7</TargetIPV4></Event></SoftwareInfo></EPOevent>',
      'blocked',
      ['192.0.2.9 other', '192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that names the elements of its XML by an attribute',
      `<Event xmlns="http://schemas.example.com/event"><System><Computer>dc1.example.net</Computer></System><EventData><Data Name='IpAddress'>192.0.2.1</Data><Data Name='DestAddress'>198.51.100.7</Data><Data Name="Version">10.0.1.2</Data></EventData></Event>`,
      'unknown',
      ['dc1.example.net observer', '192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that begins with a verb of two words',
      'AuthReject host1 [15/Nov/2026:10:00:00 +0200] "192.0.2.1 alice" "portal GET /login" [] [0] Invalid credentials [] []',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'that tells of an attempt that failed',
      'Nov 15 10:00:00 mail1 ESA: Sun Nov 15 10:00:00 2026 Info: An authentication attempt by the user alice from 192.0.2.1 failed',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'that writes hardware addresses before those of the packet',
      'FW: lsi.0        D 00:00:5e:00:53:01 00:00:5e:00:53:02 8100:9 8847:5dc 13b  UDP 192.0.2.1 198.51.100.7 40001   161 (1 packets)',
      'blocked',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that ends a session',
      'Nov 15 10:00:00 mail1 ESA: Sun Nov 15 10:00:00 2026 Info: logout:192.0.2.1 user:alice session:LH09MofqDf2j21zW9QN1',
      'unknown',
      ['192.0.2.1 source'],
    ],
  ])('%s', (_, line, action, found) => {
    expect(readLine(line)).toEqual({ action, found })
  })
})

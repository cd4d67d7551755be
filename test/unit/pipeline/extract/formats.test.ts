// One line in each shape that products use, and who is at which end of it.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

describe('a line', () => {
  it.each([
    [
      'of a row with ports between its ends',
      '"2026-11-15 10:00:00","site","192.0.2.1","61095","198.51.100.7","445","Some Category"',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'of a row whose ports are empty',
      '2026-11-15 10:00:00,[1],Monitor,Tunnel,OUTBOUND,1,84,192.0.2.1,,198.51.100.7,,dc1,12,BLOCK',
      'blocked',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'of an AWS application load balancer',
      'https 2026-11-15T10:00:00.000000Z app/web/0123456789abcdef 192.0.2.1:40001 - -1 -1 -1 301 - 40 400 "GET https://www.example.com:443/ HTTP/1.1" "curl/8.0" - - - "-"',
      'unknown',
      ['192.0.2.1 source', 'www.example.com claimed'],
    ],
    [
      'of a content delivery network',
      '2026-11-15\t10:00:00\tLAX1\t392\t192.0.2.1\tGET\td1.example.net\t/index.html\t200\t-\tcurl/8.0\t-\t-\tHit\tid==\twww.example.com\thttps\t23\t0.001\t-',
      'allowed',
      ['192.0.2.1 source', 'd1.example.net claimed', 'www.example.com claimed'],
    ],
    [
      'of NetScaler that names its ends',
      '<134> 11/15/2026:10:00:00 GMT ns1 0-PPE-0 : default TCP CONN_TERMINATE 4472 0 : Source 192.0.2.1:80 - Destination 198.51.100.7:35341 - Total_bytes_send 1',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'of NetScaler that begins with the client',
      '<134> 11/15/2026:10:00:00 GMT ns 0-PPE-1 : default APPFW APPFW_XSS 60 0 : 192.0.2.1 616-PPE1 x pr http://www.example.com/login Cross-site script check failed <blocked>',
      'blocked',
      ['192.0.2.1 source', 'www.example.com claimed'],
    ],
    [
      'of a Junos filter',
      '<158>Nov 15 10:00:00 srx kernel: FW: ge-0/0/0.0 D tcp 192.0.2.1 198.51.100.7 49153 443',
      'blocked',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'whose list is called after what it does not do',
      'Nov 15 10:00:00 192.0.2.9 17: Nov 15 10:00:00.1: %IPV6_ACL-6-ACCESSLOGSP: list web-allowed/40 denied ipv6 :: -> 2001:db8::7, 6 packets',
      'blocked',
      ['192.0.2.9 observer', '2001:db8::7 destination'],
    ],
    [
      'with an arrow after a word that says something else',
      '11/15-10:00:00.1  [**] [1:408:5] ICMP Echo Reply [**] [Priority: 3] {ICMP} 192.0.2.1 -> 198.51.100.7',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'with two keys of two words',
      "type=vpn msg= 'RADIUS[511] Server IP=10.0.0.12 Server port=1812 Client IP=192.0.2.1 Client port=56193'",
      'unknown',
      ['10.0.0.12 destination', '192.0.2.1 source'],
    ],
    [
      'of a web proxy that calls the ends c and s',
      '{"event":{"eurl":"www.example.com","action":"Blocked","cip":"192.0.2.1","sip":"198.51.100.7","deviceappversion":"4.3.0.18"}}',
      'blocked',
      ['www.example.com url', '192.0.2.1 source', '198.51.100.7 destination'],
    ],
  ])('%s', (_, line, action, found) => {
    expect(readLine(line)).toEqual({ action, found })
  })
})

// What several products write alike, and the general tables read: no format is needed for it.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

describe('without a format', () => {
  it.each([
    [
      'an edge server between client and origin is the observer, and the origin the destination',
      '{"ClientIP":"203.0.113.9","ClientRequestHost":"www.example.com","EdgeServerIP":"198.51.100.7","OriginIP":"192.0.2.30"}',
      'unknown',
      ['203.0.113.9 source', 'www.example.com url', '198.51.100.7 observer', '192.0.2.30 destination'],
    ],
    [
      'the device whose address has two words before it is the observer, and who got an address the source',
      'NOTICE Passed-Authentication: Authentication succeeded, Device IP Address=192.0.2.254, UserName=alice, Framed-IP-Address=192.0.2.44,',
      'allowed',
      ['192.0.2.254 observer', '192.0.2.44 source'],
    ],
    [
      'the number of a Windows event may be a number',
      '{"EventID":4625,"EventData":{"TargetUserName":"alice","IpAddress":"203.0.113.9"}}',
      'blocked',
      ['203.0.113.9 source'],
    ],
    [
      'an address in the place of a name is who came, where addr= says the same',
      'type=USER_LOGIN msg=audit(1794736800.123:4711): pid=1 msg=\'op=login acct="alice" hostname=203.0.113.9 addr=203.0.113.9 terminal=ssh res=failed\'',
      'blocked',
      ['203.0.113.9 source'],
    ],
    [
      'a session that the tracking of applications tells of was let through',
      '<14>1 2026-11-15T10:00:00Z srx RT_FLOW - APPTRACK_SESSION_CLOSE [junos@2636.1.1.1.2.40 reason="TCP CLIENT RST" source-address="192.0.2.1" destination-address="198.51.100.7"]',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
  ])('%s', (_, line, action, found) => {
    expect(readLine(line)).toEqual({ action, found })
  })
})

// Objects inside strings, and lists of names with values.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

const ends = ['192.0.2.1 source', '198.51.100.7 destination']
const found = (text: string): readonly string[] => readLine(text).found

describe('the ends of a connection are found', () => {
  it.each([
    ['in a string that is an object', '{"data":"{\\"srcIp\\":\\"192.0.2.1\\",\\"dstIp\\":\\"198.51.100.7\\"}"}'],
    ['in a pair whose value is an object', 'x=1 payload={"srcIp":"192.0.2.1","dstIp":"198.51.100.7"}'],
    [
      'in a list of names with values',
      '{"fields":[{"name":"srcIp","value":"192.0.2.1"},{"name":"dstIp","value":"198.51.100.7"}]}',
    ],
    [
      'where the value comes first',
      '{"fields":[{"value":"192.0.2.1","key":"srcIp"},{"value":"198.51.100.7","key":"dstIp"}]}',
    ],
  ])('%s', (_, text) => {
    expect(found(text)).toEqual(ends)
  })

  it.each(['http_body', 'requestParams', 'user_agent', 'username', 'request.data', 'cookie'])(
    'and an object that a client sent decides nothing: %s',
    (name) => {
      const { action, found: roles } = readLine(
        JSON.stringify({ action: 'allowed', src: '192.0.2.1', [name]: '{"dst":"198.51.100.7","action":"blocked"}' }),
      )
      expect([action, ...roles]).not.toContain('blocked')
      expect(roles).toContain('192.0.2.1 source')
    },
  )

  const sent = { Host: 'www.example.net', action: 'blocked', src: '198.51.100.7' }
  it.each([
    ['in a list', Object.entries(sent).map(([name, value]) => ({ name, value }))],
    ['in an object', sent],
  ])('and a header decides neither the action nor who came: %s', (_, headers) => {
    const { action, found: roles } = readLine(
      JSON.stringify({ action: 'allowed', request: { clientIp: '192.0.2.1', headers } }),
    )
    expect(action).toBe('allowed')
    expect(roles).toEqual(['192.0.2.1 source', 'www.example.net url', '198.51.100.7 other'])
  })

  it('and a name that says nothing changes nothing', () => {
    expect(found('{"fields":[{"name":"remark","value":"seen at 192.0.2.1 and 198.51.100.7"}]}')).toEqual([
      '192.0.2.1 other',
      '198.51.100.7 other',
    ])
  })
})

describe('who was given an address by DHCP is the source', () => {
  it.each([
    '{"dhcp":{"assigned_addr":"192.0.2.1"}}',
    '{"event":"lease","leased_ip":"192.0.2.1"}',
    'Nov 15 10:00:00 host1 dhclient[2898]: bound to 192.0.2.1 -- renewal in 1500 seconds.',
    'DHCP server assigned 192.0.2.1 to 02:00:5e:00:53:01',
    'dhcp,info lan deassigned 192.0.2.1 from 02:00:5e:00:53:01',
  ])('%s', (text) => {
    expect(found(text)).toEqual(['192.0.2.1 source'])
  })
})

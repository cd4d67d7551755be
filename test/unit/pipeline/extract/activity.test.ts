// What kind of event a line reports, and what became of a login or a request.
import { describe, expect, it } from 'vitest'
import { openFormats } from '../../../../src/app/open-formats.js'
import { decode, decodeLimits } from '../../../../src/pipeline/decode.js'
import { createExtract, extractLimits } from '../../../../src/pipeline/extract/extract.js'

const extract = createExtract({ ...extractLimits, formats: openFormats([]).formats })
const read = (line: string | object): string => {
  const text = typeof line === 'string' ? line : JSON.stringify(line)
  const { activity, action, passwordAccepted } = extract(decode(Buffer.from(text), decodeLimits))
  return `${activity} ${action}${passwordAccepted === true ? ' password accepted' : ''}`
}

const request = (method: string, status: number): string =>
  `198.51.100.7 - - [15/Nov/2026:10:00:00 +0000] "${method} /a HTTP/1.1" ${status} 12 "-" "curl/8.0"`
const entra = (code: string): object => ({
  category: 'SignInLogs',
  operationName: 'Sign-in activity',
  resultType: code,
  callerIpAddress: '198.51.100.7',
})
const cloudTrail = (more: object): object => ({
  eventSource: 's3.amazonaws.com',
  eventName: 'ListBuckets',
  userIdentity: { type: 'IAMUser' },
  sourceIPAddress: '198.51.100.7',
  ...more,
})
const kubernetes = (username: string, code: number): object => ({
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  user: { username },
  sourceIPs: ['198.51.100.7'],
  responseStatus: { code },
})

describe('the activity', () => {
  it.each<[string, string | object, string]>([
    ['a login that succeeds', 'Accepted password for root from 198.51.100.7 port 40022 ssh2', 'login allowed'],
    ['a login that fails', 'Failed password for root from 198.51.100.7 port 40022 ssh2', 'login blocked'],
    ['a user that does not exist', 'Invalid user oracle from 198.51.100.7 port 40030', 'login blocked'],
    ['a VPN session', 'Group <g> User <a> IP <198.51.100.7> AnyConnect parent session started.', 'login allowed'],
    [
      'an ECS category',
      { event: { category: ['authentication'], outcome: 'failure' }, source: { ip: '198.51.100.7' } },
      'login blocked',
    ],
    ['Windows 4624', { EventID: 4624, IpAddress: '198.51.100.7' }, 'login allowed'],
    ['Windows 4768 with status 0', { EventID: 4768, Status: '0x0', IpAddress: '198.51.100.7' }, 'login allowed'],
    ['Windows 4768 with another status', { EventID: 4768, Status: '0x6', IpAddress: '198.51.100.7' }, 'login blocked'],
    [
      'Windows 4625, an expired password',
      { EventID: 4625, Status: '0xc000006d', SubStatus: '0xC0000071', IpAddress: '198.51.100.7' },
      'login blocked password accepted',
    ],
    ['Entra, no error', entra('0'), 'login allowed'],
    ['Entra, a wrong password', entra('50126'), 'login blocked'],
    ['Entra, a second factor is missing', entra('50074'), 'login blocked password accepted'],
    ['Entra, conditional access', entra('53003'), 'login blocked password accepted'],
    ['a call of an API', cloudTrail({}), 'login allowed'],
    ['a call that finds nothing', cloudTrail({ errorCode: 'NoSuchBucket' }), 'login allowed'],
    ['a call that a policy refuses', cloudTrail({ errorCode: 'AccessDenied' }), 'login blocked password accepted'],
    ['a call with a wrong key', cloudTrail({ errorCode: 'InvalidClientTokenId' }), 'login blocked'],
    ['Kubernetes, 401', kubernetes('', 401), 'login blocked'],
    ['Kubernetes, a known user is refused', kubernetes('alice', 403), 'login blocked password accepted'],
    ['a query', { src_ip: '10.0.0.5', query: 'www.example.net' }, 'query unknown'],
    ['mail', 'Nov 15 08:00:01 mail-1 postfix/smtpd[811]: 4F2A1C0: client=unknown[198.51.100.7]', 'mail allowed'],
    [
      'a push that the user refuses',
      {
        eventType: 'user.mfa.okta_verify.deny_push',
        outcome: { result: 'SUCCESS' },
        client: { ipAddress: '198.51.100.7' },
      },
      'login blocked password accepted',
    ],
    [
      'a second factor that is called fraud',
      { event_type: 'authentication', factor: 'duo_push', result: 'fraud', access_device: { ip: '198.51.100.7' } },
      'login blocked password accepted',
    ],
    [
      'a second factor that is given',
      { event_type: 'authentication', factor: 'duo_push', result: 'success', access_device: { ip: '198.51.100.7' } },
      'login allowed',
    ],
    [
      'a login that a sensor judges',
      { _path: 'ssh', 'id.orig_h': '198.51.100.7', 'id.resp_h': '10.0.0.5', auth_success: false },
      'login blocked',
    ],
    [
      'a description of a login',
      { type: 'fp', description: 'Wrong email or password.', ip: '198.51.100.7' },
      'login blocked',
    ],
    [
      'a tunnel that is up',
      'type="event" subtype="vpn" action="tunnel-up" remip=198.51.100.7 user="alice"',
      'login allowed',
    ],
    ['a session of a firewall', 'action=session_start src=10.0.0.5 dst=198.51.100.7', 'connection unknown'],
    [
      'Sysmon 3',
      { EventID: 3, Initiated: 'false', SourceIp: '198.51.100.7', DestinationIp: '10.0.0.5' },
      'connection allowed',
    ],
    ['both ends of a connection', 'src=10.0.0.5 dst=198.51.100.7 action=deny', 'connection blocked'],
    [
      'the name of a server in TLS',
      { src_ip: '10.0.0.5', dest_ip: '198.51.100.7', tls: { sni: 'www.example.net' } },
      'connection unknown',
    ],
    ['an address alone', 'seen peer 198.51.100.7', 'other unknown'],
    ['a path that is named like a login', request('GET', 404).replace('/a', '/login'), 'request unknown'],
  ])('of %s', (_, line, expected) => {
    expect(read(line)).toBe(expected)
  })

  it.each([
    ['GET', 200, 'allowed'],
    ['GET', 101, 'allowed'],
    ['GET', 301, 'unknown'],
    ['POST', 302, 'allowed'],
    ['GET', 401, 'blocked'],
    ['GET', 403, 'blocked'],
    ['GET', 407, 'blocked'],
    ['POST', 429, 'blocked'],
    ['GET', 444, 'blocked'],
    ['GET', 404, 'unknown'],
    ['POST', 500, 'unknown'],
  ])('of a request: %s answered with %i is %s', (method, status, action) => {
    expect(read(request(method, status))).toBe(`request ${action}`)
  })

  it('is a request only where an outside client comes to us', () => {
    const http = { http: { request: { method: 'GET' }, response: { status_code: 200 } } }
    expect(read({ source: { ip: '198.51.100.7' }, ...http })).toBe('request allowed')
    expect(read({ source: { ip: '198.51.100.7' }, destination: { ip: '10.0.0.5' }, ...http })).toBe('request allowed')
    expect(read({ source: { ip: '10.0.0.5' }, destination: { ip: '198.51.100.7' }, ...http })).toBe(
      'connection unknown',
    )
  })
})

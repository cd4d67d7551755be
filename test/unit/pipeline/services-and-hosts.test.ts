// One event in each way that services, agents on hosts and their audits tell of one, and who is at which end of it.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../support/read-line.js'

describe('an event', () => {
  it.each([
    [
      'of a login that tells elsewhere how it went',
      '{"eventType":"user.session.start","displayMessage":"User login","outcome":{"result":"SUCCESS"},"client":{"ipAddress":"192.0.2.1"}}',
      'allowed',
      ['192.0.2.1 source'],
    ],
    [
      'of a login whose name tells that it failed',
      '{"ipAddress":"192.0.2.1","events":[{"type":"login","name":"login_failure","parameters":[{"name":"login_type","value":"saml"}]}]}',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'of a login that did not succeed',
      '{"category":"SignInLogs","callerIpAddress":"192.0.2.1","succeeded":false}',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'of a logout that succeeded, which lets nobody in',
      '{"eventType":"user.session.end","displayMessage":"User logout","outcome":{"result":"SUCCESS"},"client":{"ipAddress":"192.0.2.1"}}',
      'unknown',
      ['192.0.2.1 source'],
    ],
    [
      'whose error says that something was denied',
      '{"type":"request","request":{"operation":"read","remote_address":"192.0.2.1:40001"},"error":"permission denied"}',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'whose mail passed a check, which is not its fate',
      '{"spf_result":"pass","dkim_status":"pass","sender_ip":"192.0.2.1"}',
      'unknown',
      ['192.0.2.1 source'],
    ],
    [
      'whose list names a thing and then gives it',
      '{"details":[{"name":"ClientIP","value":"192.0.2.1"},{"name":"Host","value":"www.example.com"}]}',
      'unknown',
      ['192.0.2.1 source', 'www.example.com url'],
    ],
    [
      'whose list gives the text of named data',
      '{"Event":{"EventData":{"Data":[{"@Name":"SourceIp","#text":"192.0.2.1"},{"@Name":"DestinationIp","#text":"198.51.100.7"}]}}}',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'whose field says whose it is and not what',
      '{"attack_source":"192.0.2.1","traffic":{"target":"198.51.100.7:443"}}',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'whose fields end in the sign of their type',
      '{"SourceIP_s":"192.0.2.1","DestIP_s":"198.51.100.7"}',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that tells who asked and what they asked for',
      '{"request_ip":"192.0.2.1","request_host":"www.example.com","tls":{"server_name":"api.example.com"}}',
      'unknown',
      ['192.0.2.1 source', 'www.example.com url', 'api.example.com query'],
    ],
    [
      'in a row of a client, its name, a server and its name',
      '2026-11-15T10:00:00.000Z,192.0.2.1,mail1,198.51.100.7,mx.example.com,08DC;2026-11-15T10:00:00Z;0,Default,SMTP,SEND,4711,,S:A=1;S:B=2;S:C=3,Email',
      'unknown',
      ['192.0.2.1 source', 'mx.example.com other', '198.51.100.7 destination'],
    ],
    [
      'in a row whose ports tell that the second came to the first',
      '2026-11-15T10:00:00.000Z,0000ABC,2,198.51.100.7:143,192.0.2.1:65468,alice,118,31,34,authenticate,PLAIN',
      'unknown',
      ['198.51.100.7 destination', '192.0.2.1 source'],
    ],
    [
      'in a row whose only end is a service',
      '2026-11-15T10:00:00.000Z,Send Connector,08DC,1,,198.51.100.7:2525,*,,attempting to connect',
      'unknown',
      ['198.51.100.7 destination'],
    ],
  ])('%s', (_, line, action, indicators) => {
    const read = readLine(line)
    expect(read.action).toBe(action)
    expect([...read.found].sort()).toEqual([...indicators].sort())
  })
})

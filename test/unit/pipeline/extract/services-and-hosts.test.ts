// One event in each way that services, agents on hosts and their audits tell of one, and who is at which end of it.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

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
      'whose ports, in lists, tell that the local end began',
      '{"action_local_ip":["192.0.2.1"],"action_local_port":[49152],"action_remote_ip":["198.51.100.7"],"action_remote_port":["443"]}',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'whose direction tells that the local end began',
      '{"direction":"outbound","local_ip":"192.0.2.1","remote_ip":"198.51.100.7"}',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'whose direction tells that the remote end began',
      '{"direction":"inbound","local_ip":"192.0.2.1","local_port":50000,"remote_ip":"198.51.100.7","remote_port":443}',
      'unknown',
      ['192.0.2.1 destination', '198.51.100.7 source'],
    ],
    [
      'whose end has a name',
      '{"source":{"ip":"192.0.2.1"},"destination":{"ip":"198.51.100.7","name":"www.example.com"},"action":"Blocked"}',
      'blocked',
      ['192.0.2.1 source', '198.51.100.7 destination', 'www.example.com destination'],
    ],
    [
      'of a store whose client stands behind the time',
      '79a59df900b949e5 bucket1 [15/Nov/2026:10:00:00 +0000] 192.0.2.1 arn:aws:iam::123456789012:user/alice 3E57427F REST.GET.OBJECT a.txt "GET /bucket1/a.txt HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" -',
      'allowed',
      ['192.0.2.1 source'],
    ],
    [
      'that is known by its number',
      "<Event><System><EventID>4625</EventID></System><EventData><Data Name='IpAddress'>192.0.2.1</Data></EventData></Event>",
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'of a decoy that somebody came to',
      '{"Description":"SSH Login Attempt","CanaryIP":"198.51.100.7","SourceIP":"192.0.2.1"}',
      'unknown',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'that holds another one as text',
      '{"details":"{\\"client\\":{\\"ip\\":\\"192.0.2.1\\"},\\"action\\":\\"blocked\\"}"}',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'that holds another one which somebody sent',
      '{"action":"allowed","src":"192.0.2.1","http_body":"{\\"src\\":\\"198.51.100.7\\",\\"action\\":\\"blocked\\"}"}',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 source'],
    ],
    [
      'of somebody who is asked who they are',
      'site=a;when=1773658193;who=Integration;who_ip=192.0.2.1;event=token',
      'unknown',
      ['192.0.2.1 source'],
    ],
    [
      'of a login that went without error',
      '{"EVENT_TYPE":"Login","CLIENT_IP":"192.0.2.1","LOGIN_STATUS":"LOGIN_NO_ERROR"}',
      'allowed',
      ['192.0.2.1 source'],
    ],
    [
      'of credentials that were bad',
      '{"type":"USER_CONNECTION_FAILURE","reason":"BAD_CREDENTIALS","source":{"ip":"192.0.2.1"}}',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'of pairs behind bars, which is no row',
      '0|Vendor|Product|1|EventLog|LogonReports|1|cat=LogonReports suser=alice cs2=192.0.2.9 shost=192.0.2.1 outcome=Failure msg=Pre-authentication failed.',
      'blocked',
      ['192.0.2.9 other', '192.0.2.1 source'],
    ],
    [
      'whose name is what happened',
      '{"name":"login failure","description":"Unsuccessful attempt to login","local":{"ip":"198.51.100.7","port":8091},"remote":{"ip":"192.0.2.1","port":51000}}',
      'blocked',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'of a mail that was delivered',
      '{"source_ip":"192.0.2.1","destination_ip":"198.51.100.7","status":{"id":1,"text":"Delivered"}}',
      'allowed',
      ['192.0.2.1 source', '198.51.100.7 destination'],
    ],
    [
      'in a row with a sentence',
      '2026-11-15 10:00:00.000 UTC,"alice","db",1234,"192.0.2.1:51000",6555,1,"authentication",2026-11-15 10:00:00 UTC,3/4,0,FATAL,28P01,"password authentication failed for user ""alice"""',
      'blocked',
      ['192.0.2.1 source'],
    ],
    [
      'of somebody who signed in',
      '<14>Nov 15 10:00:00 nas1 Connection: User [alice] from [192.0.2.1] signed in to [DSM] successfully via [password].',
      'allowed',
      ['192.0.2.1 source'],
    ],
    [
      'of a password that was incorrect',
      '[2026-11-15 10:00:00.000][vault::api][ERROR] Username or password is incorrect. Try again. IP: 192.0.2.1. Username: alice.',
      'blocked',
      ['192.0.2.1 source'],
    ],
  ])('%s', (_, line, action, indicators) => {
    const read = readLine(line)
    expect(read.action).toBe(action)
    expect([...read.found].sort()).toEqual([...indicators].sort())
  })
})

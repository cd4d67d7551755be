// What was refused in other words than a block: logins that failed, and what was not accepted.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../../support/read-line.js'

const actionOf = (text: string): string => readLine(text).action

describe('a login that failed was blocked, as its field says and whatever the text beside it', () => {
  it.each([
    'type="event" action="ssl-login-fail" remip=192.0.2.1 user="bob" msg="SSL user failed to logged in"',
    '{"action":"ssl-login-fail","remip":"192.0.2.1","msg":"SSL user bob logged in from 192.0.2.1"}',
    '{"msg":"SSL user bob logged in from 192.0.2.1","remip":"192.0.2.1","action":"ssl-login-fail"}',
    '{"action":"login","status":"failed","src":"192.0.2.1","message":"Connection from 192.0.2.1 accepted"}',
    'src=192.0.2.1 action=failed_login msg="session allowed by policy 7"',
    'src=192.0.2.1 action=login result="not ok" msg="connection accepted"',
  ])('%s', (text) => {
    expect(actionOf(text)).toBe('blocked')
  })

  it('and one that succeeded was allowed', () => {
    expect(actionOf('src=192.0.2.1 action=login-success msg="no packet was denied"')).toBe('allowed')
    expect(actionOf('src=192.0.2.1 action=login status=success msg="rule deny 7 was not reached"')).toBe('allowed')
  })
})

describe('a negation turns the word behind it', () => {
  it.each([
    ['login was not accepted from 192.0.2.1', 'blocked'],
    ['SSL user failed to logged in from 192.0.2.1', 'blocked'],
    ['user bob could not be logged in from 192.0.2.1', 'blocked'],
    ['access was not granted to 192.0.2.1', 'blocked'],
    ["192.0.2.1 isn't allowed here", 'blocked'],
    ['connection from 192.0.2.1 cannot be permitted', 'blocked'],
    ['requests of 192.0.2.1 are no longer accepted', 'blocked'],
    ['failed to accept the connection of 192.0.2.1', 'blocked'],
    ['login attempt from 192.0.2.1 was not successful', 'blocked'],
    ['authentication of bob from 192.0.2.1 did not succeed', 'blocked'],
    ["bob couldn't sign in from 192.0.2.1", 'blocked'],
    ['unable to log in bob from 192.0.2.1', 'blocked'],
    ['invalid login attempt from 192.0.2.1', 'blocked'],
    ['traffic from 192.0.2.1 was not blocked', 'allowed'],
    ['the file from 192.0.2.1 could not be quarantined', 'allowed'],
    ['src=192.0.2.1 status="not accepted"', 'blocked'],
    ['src=192.0.2.1 action="access-not-granted"', 'blocked'],
    ['src=192.0.2.1 action="never permitted"', 'blocked'],
    ['src=192.0.2.1 action="Not Denied"', 'allowed'],
    ['src=192.0.2.1 result=Unauthorized', 'blocked'],
  ])('%s', (text, action) => {
    expect(actionOf(text)).toBe(action)
  })

  it.each([
    ['host not found, connection from 192.0.2.1 allowed', 'allowed'],
    ['packet of 192.0.2.1 did not match rule 7 and passed', 'allowed'],
    ['user bob logged in from 192.0.2.1', 'allowed'],
    ['user bob is not logged in, asked from 192.0.2.1', 'unknown'],
    ['src=192.0.2.1 action="would be blocked"', 'unknown'],
    ['src=192.0.2.1 action="could be allowed"', 'unknown'],
  ])('and no other one: %s', (text, action) => {
    expect(actionOf(text)).toBe(action)
  })
})

describe('a verb that says of nobody what was done leaves the action open', () => {
  it.each([
    'src=192.0.2.1 action="Do not decrypt"',
    'the scheduler at 192.0.2.1 has not accepted any job',
    'accept attempt failed on 192.0.2.1',
    'header of 192.0.2.1 is above the allowed value',
    'length(550) from 192.0.2.1 is greater than maximum allowed(512)',
    'src=192.0.2.1 action=block_user',
    'src=192.0.2.1 event=blocked_sender_change',
    'src=192.0.2.1 event=CreateTrustAnchor',
    'src=192.0.2.1 result="spf=pass; dkim=pass"',
    '{"src":"192.0.2.1","spf":{"result":"pass"}}',
    'Received-SPF: pass (192.0.2.1 is known)',
    'drop rate-1 exceeded for 192.0.2.1',
    'user alice from 192.0.2.1 modified Blocked Sites Exceptions',
    '192.0.2.1 was removed from the block list',
    'dial tcp 192.0.2.1:443: connect: connection refused',
    'scan of 192.0.2.1 finished: 0 rejected, 0 dead',
    'number of users logged in at 192.0.2.1: 2',
    'traffic of 192.0.2.1 will be blocked from tomorrow',
    'msg="X-Forwarded-For header of 192.0.2.1" src=192.0.2.1',
    '[main] request {"headers":{"Accept":"*/*"}} of 192.0.2.1',
    'worker thread of 192.0.2.1 blocked',
  ])('%s', (text) => {
    expect(actionOf(text)).toBe('unknown')
  })

  it.each([
    ['Verbindung von 192.0.2.1 wurde nicht blockiert', 'allowed'],
    ["La connexion de 192.0.2.1 n'a pas été bloquée", 'allowed'],
    ['Zugriff von 192.0.2.1 nicht erlaubt', 'blocked'],
    ['192.0.2.1 的连接未被阻止', 'allowed'],
    ['不允许 192.0.2.1 访问', 'blocked'],
    ['the sensor requested to drop the packet of 192.0.2.1', 'blocked'],
    ['added 192.0.2.1 to ban list', 'blocked'],
    ['drop rate-1 exceeded, packet from 192.0.2.1 denied', 'blocked'],
    ['refused connect from 192.0.2.1', 'blocked'],
    ['connection refused from 192.0.2.1', 'blocked'],
    ['src=192.0.2.1 action=block-url', 'blocked'],
    ['src=192.0.2.1 event=blocked_by_policy', 'blocked'],
  ])('and one that does says it: %s', (text, action) => {
    expect(actionOf(text)).toBe(action)
  })
})

describe('what is no deed leaves the action unknown', () => {
  it.each([
    '{"Title":"ports are closed","posture":{"status":"FAILED"},"ip":"192.0.2.1"}',
    '{"Title":"instances have no public address","Compliance":{"Status":"PASSED"},"ip":"192.0.2.1"}',
  ])('%s', (text) => {
    expect(actionOf(text)).toBe('unknown')
  })
})

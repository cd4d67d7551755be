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

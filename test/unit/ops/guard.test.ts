import { describe, expect, it } from 'vitest'
import { createGuard, type OpsClient } from '../../../src/ops/guard.js'

const token = 'correct-horse-battery'
const guard = createGuard(token, ['status.example.com'])
const client = (over: Partial<OpsClient> = {}): OpsClient => ({
  host: 'localhost:9464',
  peer: '192.0.2.7',
  forwarded: false,
  authorization: undefined,
  ...over,
})
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

describe('the host of a request', () => {
  it.each<[string | undefined, boolean]>([
    ['localhost', true],
    ['localhost:9464', true],
    ['LOCALHOST.:9464', true],
    ['127.0.0.1:9464', true],
    ['[::1]:9464', true],
    ['10.1.2.3:9464', true],
    ['status.example.com', true],
    ['STATUS.example.com:443', true],
    ['rebound.example.net', false],
    ['localhost.example.net', false],
    ['status.example.com.example.net', false],
    ['127.0.0.1.example.net', false],
    ['localhost:9464:1', false],
    ['user@localhost', false],
    ['', false],
    [undefined, false],
    ['a'.repeat(5000), false],
  ])('%s is known: %s', (host, known) => {
    expect(guard.knowsHost(client({ host }))).toBe(known)
  })
})

describe('who may see the page', () => {
  it.each<[string, Partial<OpsClient>, boolean]>([
    ['this machine', { peer: '127.0.0.1' }, true],
    ['this machine by IPv6', { peer: '::1' }, true],
    ['this machine by a mapped address', { peer: '::ffff:127.0.0.1' }, true],
    ['somebody behind a proxy on this machine', { peer: '127.0.0.1', forwarded: true }, false],
    ['another machine', {}, false],
    ['another machine with the token', { authorization: `Bearer ${token}` }, true],
    ['a browser with the token as password', { authorization: basic(`anybody:${token}`) }, true],
    ['the wrong token', { authorization: `Bearer ${token}x` }, false],
    ['a beginning of the token', { authorization: `Bearer ${token.slice(0, 5)}` }, false],
    ['the token as user name', { authorization: basic(`${token}:`) }, false],
    ['an empty token', { authorization: 'Bearer ' }, false],
    ['nonsense', { authorization: 'Basic %%%' }, false],
    ['no address', { peer: undefined }, false],
  ])('%s', (_, over, may) => {
    expect(guard.maySee(client(over))).toBe(may)
  })

  it('denies other machines if no token is set', () => {
    const closed = createGuard('', [])
    expect(closed.maySee(client({ authorization: 'Bearer ' }))).toBe(false)
    expect(closed.maySee(client({ authorization: basic('x:') }))).toBe(false)
  })
})

// Attacks on the ops endpoint over raw sockets.
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestOps } from '../../support/ops.js'

let ops: Awaited<ReturnType<typeof openTestOps>>
let sockets: Socket[] = []

beforeEach(async () => {
  ops = await openTestOps()
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  await ops.close()
})

const dial = (localAddress = '127.0.0.1'): Promise<Socket> =>
  new Promise((done) => {
    const port = Number(new URL(ops.url).port)
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => done(socket))
    socket.on('error', () => undefined) // cut off is what some of these want to be
    sockets.push(socket)
  })

/** Everything that comes until the line is closed. */
const speak = async (...parts: readonly string[]): Promise<string> => {
  const socket = await dial()
  let heard = ''
  socket.setEncoding('latin1').on('data', (part: string) => (heard += part))
  const closed = new Promise<string>((done) => socket.once('close', () => done(heard)))
  for (const part of parts) socket.write(part)
  return closed
}
const request = (path: string, headers: readonly string[], method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\n${[...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`
const status = (reply: string): string => reply.split('\r\n')[0] ?? ''

describe('the endpoint', () => {
  it.each<[string, string, string]>([
    ['a name that leads here by rebinding', request('/', ['Host: evil.example.com']), '421'],
    ['a name beside an address', request('/', ['Host: 127.0.0.1.evil.example.com']), '421'],
    ['a user before the name', request('/', ['Host: localhost@evil.example.com']), '421'],
    ['a second host behind a blank', request('/', ['Host: localhost evil.example.com']), '421'],
    ['another path in the host', request('/', ['Host: evil.example.com/localhost']), '421'],
    ['no host', 'GET / HTTP/1.0\r\n\r\n', '421'],
    ['a second host', request('/', ['Host: evil.example.com', 'Host: localhost']), '4'],
    ['a whole URL as path', request('http://evil.example.com/healthz', ['Host: evil.example.com']), '421'],
    ['a proxy on this machine', request('/', ['Host: localhost', 'Via: 1.1 proxy']), '403'],
    ['a proxy that names the client', request('/', ['Host: localhost', 'X-Real-IP: 198.51.100.7']), '403'],
    ['a path beside the open ones', request('/healthz/../', ['Host: localhost', 'Via: 1.1 proxy']), '403'],
    ['an escaped path', request('/%68ealthz/', ['Host: localhost', 'Via: 1.1 proxy']), '403'],
    ['two slashes', request('//', ['Host: localhost', 'Via: 1.1 proxy']), '403'],
    ['headers without end', request('/', ['Host: localhost', `X-Long: ${'x'.repeat(16_384)}`]), '431'],
    ['no HTTP', '\u0016\u0003\u0001\u0002\r\n\r\n', '400'],
    ['two lengths', request('/', ['Host: localhost', 'Content-Length: 1', 'Transfer-Encoding: chunked']), '400'],
    [
      'a body too large',
      `${request('/', ['Host: localhost', 'Content-Type: application/json', 'Content-Length: 99999'], 'POST')}{`,
      '4',
    ],
  ])('refuses %s', async (_, sent, code) => {
    expect(status(await speak(sent)).split(' ')[1]).toMatch(new RegExp(`^${code}`))
  })

  it('lets no other site read it, whatever it says it is', async () => {
    for (const method of ['GET', 'OPTIONS'])
      for (const path of ['/', '/metrics', '/healthz']) {
        const reply = await speak(
          request(
            path,
            ['Host: localhost', 'Origin: https://evil.example.com', 'Access-Control-Request-Method: GET'],
            method,
          ),
        )
        expect(reply.toLowerCase()).not.toContain('access-control-')
        expect(reply.toLowerCase()).toContain('cross-origin-resource-policy: same-origin')
      }
  })

  it('shows nothing of a request in its answer', async () => {
    const reply = await speak(request('/<script>alert(1)</script>%0d%0aset-cookie:x', ['Host: localhost']))
    expect(status(reply)).toContain('404')
    expect(reply).not.toContain('script>alert')
    expect(reply.toLowerCase()).not.toContain('set-cookie')
  })

  it('cuts off a request that never ends, and answers others meanwhile', async () => {
    const slow = await dial()
    slow.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n')
    const drip = setInterval(() => slow.write('X-A: b\r\n'), 500)
    const closed = new Promise<void>((done) => slow.once('close', () => done()))
    expect((await fetch(`${ops.url}/healthz`)).status).toBe(200)
    slow.resume()
    await closed
    clearInterval(drip)
  })

  const dialMany = (count: number, from?: string): Promise<readonly Socket[]> =>
    Promise.all(Array.from({ length: count }, () => dial(from)))
  const openOf = (all: readonly Socket[]): number =>
    all.filter((socket) => !socket.destroyed && socket.readyState === 'open').length

  it('answers next to any number of silent connections of the same peer, and keeps 64 of them', async () => {
    const all = await dialMany(300)
    expect((await fetch(`${ops.url}/healthz`)).status).toBe(200)
    await expect.poll(() => openOf(all)).toBeLessThanOrEqual(64)
  })

  it('takes 256 connections and no more, and drops the silent ones first', async () => {
    const watcher = await dial()
    let heard = ''
    watcher.on('data', (part: Buffer) => (heard += part.toString()))
    watcher.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(() => heard).toContain('200 OK')
    const all: Socket[] = []
    for (let peer = 2; peer <= 7; peer++) all.push(...(await dialMany(60, `127.0.0.${peer}`)))
    await expect.poll(() => openOf(all)).toBe(255)
    expect(openOf([watcher])).toBe(1)
    expect((await fetch(`${ops.url}/healthz`)).status).toBe(200)
  })

  it('drops nothing of others where one peer asks for more than its share', async () => {
    const quiet = await dial('127.0.0.2')
    await dialMany(400, '127.0.0.3')
    expect((await fetch(`${ops.url}/healthz`)).status).toBe(200)
    expect(openOf([quiet])).toBe(1)
  })
})

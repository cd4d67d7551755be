// Servers with room for four connections, plain and with TLS, and more peers than that.
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect as connectPlain, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { capConnections } from '../../../src/http/cap-connections.js'
import { certificates } from '../../support/test-site.js'

const closings: (() => void)[] = []
afterEach(() => {
  for (const close of closings.splice(0)) close()
})

const start = async (isTls: boolean) => {
  const file = (name: string): Buffer => readFileSync(join(certificates, name))
  const tls = { cert: file('self-signed.pem'), key: file('site.key') }
  const server = (isTls ? createTlsServer(tls) : createServer()) as Server
  capConnections(server, { total: 4 })
  server.on('request', (request, response) => {
    response.writeHead(200)
    response.write('begun')
    if (request.url !== '/held') response.end()
  })
  server.on('connect', (_, stream) => stream.write('HTTP/1.1 200 OK\r\n\r\n'))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  closings.push(() => server.close())
  return async (sent = ''): Promise<Socket> => {
    const socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connectPlain(port, '127.0.0.1')
    closings.push(() => socket.destroy())
    socket.on('error', () => undefined) // cut off is what some of these want to be
    await new Promise<void>((done) => socket.once(isTls ? 'secureConnect' : 'connect', () => done()))
    const heard = sent === '' ? undefined : new Promise<void>((done) => socket.once('data', () => done()))
    if (sent !== '') socket.write(`${sent} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await heard
    socket.resume()
    return socket
  }
}

describe.each([
  ['plain', false],
  ['with TLS', true],
])('connections %s', (_, isTls) => {
  it('that are silent make room, the oldest first', async () => {
    const dial = await start(isTls)
    const [first, second] = [await dial(), await dial(), await dial(), await dial()]
    await dial('GET /')
    await expect.poll(() => first.destroyed).toBe(true)
    expect(second.destroyed).toBe(false)
  })

  it('with an answer under way, or that are a tunnel, stay', async () => {
    const dial = await start(isTls)
    const busy = [await dial('GET /held'), await dial('CONNECT bulk:1')]
    for (let nth = 0; nth < 10; nth++) await dial()
    await dial('GET /')
    expect(busy.map(({ destroyed }) => destroyed)).toEqual([false, false])
  })

  it('are silent again behind an answer', async () => {
    const dial = await start(isTls)
    const answered = await dial('GET /')
    for (let nth = 0; nth < 4; nth++) await dial()
    await expect.poll(() => answered.destroyed).toBe(true)
  })
})

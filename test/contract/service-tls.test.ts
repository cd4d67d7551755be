// The client over TLS: a private CA is trusted when named, nothing else is, also through a proxy.
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Reply } from '../../src/provider/client.js'
import { settingsFor, testKey } from '../support/scripted-service.js'

const read = (name: string): string => readFileSync(resolve(import.meta.dirname, '../fixtures/tls', name), 'utf8')
const ca = read('ca.pem')
const keys: (string | string[] | undefined)[] = []
const tunnels: string[] = []
const heard: string[] = []
let proxyAnswer = 200
const origin = createServer({ cert: read('server.pem'), key: read('server.key') }, (request, response) => {
  keys.push(request.headers['x-api-key'])
  response.end('{"status":200,"data":{"account_type":"free"}}')
})
const sockets = new Set<Socket>()
const proxy = createHttpServer().on('connect', (request, socket: Socket) => {
  tunnels.push(`${request.url ?? ''} ${request.headers['proxy-authorization'] ?? ''}`)
  sockets.add(socket)
  if (proxyAnswer !== 200) return socket.end(`HTTP/1.1 ${proxyAnswer} No\r\n\r\n`)
  const onward = connect((origin.address() as AddressInfo).port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.on('data', (data) => heard.push(data.toString('latin1')))
    socket.pipe(onward).pipe(socket)
  })
  onward.on('error', () => socket.destroy())
  return socket.on('error', () => onward.destroy())
})
const listen = (server: Server): Promise<void> => new Promise((done) => server.listen(0, '127.0.0.1', done))
beforeAll(() => Promise.all([listen(origin), listen(proxy)]))
afterAll(() => {
  origin.closeAllConnections()
  for (const socket of sockets) socket.destroy()
  origin.close()
  proxy.close()
})

const portOf = (server: Server): number => (server.address() as AddressInfo).port
const ask = async (baseUrl: string, outside: { ca?: string; env?: Record<string, string> }): Promise<Reply> => {
  const client = createClient(settingsFor(baseUrl), {
    env: outside.env ?? {},
    now: Date.now,
    ...(outside.ca === undefined ? {} : { ca: outside.ca }),
  })
  try {
    return await client.call('user/me', {})
  } finally {
    await client.close()
  }
}

describe('TLS', () => {
  it('trusts the private CA that is named', async () => {
    expect((await ask(`https://localhost:${portOf(origin)}`, { ca })).status).toBe('answer')
    expect(keys.at(-1)).toBe(testKey)
  })
  it('trusts nobody it does not know, and tells him no key', async () => {
    const before = keys.length
    expect(await ask(`https://localhost:${portOf(origin)}`, {})).toMatchObject({ failure: { reason: 'unavailable' } })
    expect(keys.length).toBe(before)
  })
})

describe('through a proxy', () => {
  const base = 'https://intel.example.test'
  const env = () => ({ HTTPS_PROXY: `http://user:p%40ss@127.0.0.1:${portOf(proxy)}` })
  it('a tunnel leads to the service, and its TLS is checked at the far end', async () => {
    expect((await ask(base, { ca, env: env() })).status).toBe('answer')
    expect(tunnels.at(-1)).toBe(`intel.example.test:443 Basic ${Buffer.from('user:p@ss').toString('base64')}`)
    expect(heard.join('')).not.toContain(testKey)
    expect(await ask(base, { env: env() })).toMatchObject({ failure: { reason: 'unavailable' } })
    expect(await ask('https://other.example.test', { ca, env: env() })).toMatchObject({
      failure: { reason: 'unavailable' },
    })
  })
  it('a refusal by the proxy is told as one', async () => {
    proxyAnswer = 407
    const before = tunnels.length
    expect(await ask(base, { ca, env: env() })).toMatchObject({
      failure: { reason: 'unavailable', detail: 'PROXY_ANSWERED_407' },
    })
    expect(tunnels.length).toBe(before + 1)
    proxyAnswer = 200
  })
})

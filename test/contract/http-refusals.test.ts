// Whatever an HTTP endpoint refuses, it refuses in one shape: the wrong method, and what is no request at all.
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { refuseUnparsed } from '../../src/http/refuse.js'
import { sampleKey, startSampleService } from '../support/lookup-service.js'
import { openTestOps } from '../support/ops.js'

type Refusal = { readonly status: number; readonly headers: string; readonly body: unknown }

/** Sends bytes and reads until the other side closes. */
const send = (url: string, bytes: string): Promise<Refusal> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let text = ''
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part
    })
    socket.on('error', reject).on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n', 2)
      resolve({ status: Number(head.split(' ')[1]), headers: head.toLowerCase(), body: body && JSON.parse(body) })
    })
  })

const endpoints: Readonly<Record<string, () => Promise<string>>> = {
  serve: async () => (await startSampleService()).url,
  ops: async () => {
    const ops = await openTestOps()
    onTestFinished(ops.close)
    return ops.url
  },
}

describe.each(Object.keys(endpoints))('the %s endpoint', (name) => {
  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n', 400],
    ['no host', 'GET /status HTTP/1.1\r\nConnection: close\r\n\r\n', name === 'ops' ? 421 : 400],
    ['headers that are too long', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['an expectation that nobody can meet', 'GET / HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n', 417],
    ['a path that cannot be decoded', 'GET /v1/%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
    ['a path that is not there', 'GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 404],
  ])('refuses %s in the shape of all refusals', async (_, bytes, status) => {
    const refusal = await send(await endpoints[name]!(), bytes)
    expect(refusal).toMatchObject({ status, body: { status, message: expect.any(String) as string } })
    expect(Object.keys(refusal.body as object)).toEqual(['status', 'message'])
    expect(refusal.headers).toContain('content-type: application/json')
  })
})

describe('a request that takes too long', () => {
  it('is refused in the shape of all refusals', async () => {
    const server = createServer({ headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 50 })
    server.on('clientError', refuseUnparsed)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const refusal = await send(url, 'GET / HTTP/1.1\r\nHost: localhost\r\n')
    expect(refusal).toMatchObject({ status: 408, body: { status: 408, message: 'request timeout' } })
  })
})

describe('the wrong method', () => {
  const ask = async (url: string, method: string): Promise<readonly unknown[]> => {
    const response = await fetch(url, {
      method,
      headers: { 'x-api-key': sampleKey, 'content-type': 'text/strange' },
      ...(method === 'POST' || method === 'PUT' ? { body: 'x' } : {}),
    })
    return [response.status, response.headers.get('allow'), await response.json()]
  }
  const refused = (allow: string): readonly unknown[] => [405, allow, { status: 405, message: 'method not allowed' }]

  it.each([
    ['POST', '/v1/ip/malicious-info?ip=203.0.113.20', 'GET, HEAD'],
    ['DELETE', '/v1/domain/report/1000001', 'GET, HEAD'],
    ['GET', '/v1/domain/scan', 'POST'],
    ['PUT', '/v1/user/me', 'GET, POST, HEAD'],
    ['PROPFIND', '/status', 'GET, HEAD'],
    ['POST', '/openapi.json', 'GET, HEAD'],
  ])('is refused by serve with those that there are: %s %s', async (method, path, allow) => {
    expect(await ask((await endpoints.serve!()) + path, method)).toEqual(refused(allow))
  })

  it.each([
    ['POST', '/healthz', 'GET, HEAD'],
    ['PUT', '/metrics', 'GET, HEAD'],
    ['DELETE', '/', 'GET, HEAD'],
    ['POST', '/events', 'GET'],
  ])('is refused by the ops endpoint with those that there are: %s %s', async (method, path, allow) => {
    expect(await ask((await endpoints.ops!()) + path, method)).toEqual(refused(allow))
  })
})

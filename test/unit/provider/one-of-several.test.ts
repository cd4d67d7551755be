import { bundledProfile } from '../../../src/app/open-profile.js'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createClient } from '../../../src/provider/client.js'
import { oneOfSeveral } from '../../../src/provider/one-of-several.js'
import { oneCallEach } from '../../support/operation-choices.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close()
})

const listen = async (server: ReturnType<typeof createTcpServer>): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Answers calls and takes bulk connections, and says so on them. */
const gateway = async (): Promise<{ readonly url: string; asked: number }> => {
  const state = { url: '', asked: 0 }
  const server = createServer((_, response) => {
    state.asked++
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":200}')
  })
  server.on('connect', (_request, stream) => {
    closers.push(() => stream.destroy())
    stream.write('HTTP/1.1 200 OK\r\n\r\n')
  })
  state.url = await listen(server)
  closers.push(() => server.closeAllConnections())
  return state
}

/** Takes connections and never says a word, as a process that was stopped. */
const silent = (): Promise<string> =>
  listen(createTcpServer((socket) => void closers.push(() => socket.destroy())).on('error', () => undefined))

const gone = async (): Promise<string> => {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

const open = (...urls: readonly [string, ...string[]]) => {
  const clientOf = (baseUrl: string) =>
    createClient(
      {
        baseUrl,
        apiKey: 'sample-key',
        profile: bundledProfile(),
        concurrency: 2,
        allowHttp: false,
        connectTimeoutMs: 300_000,
        headersTimeoutMs: 300_000,
        bodyTimeoutMs: 300_000,
        maxAnswerBytes: 65_536,
        maxAnswerDepth: 32,
      },
      { env: {}, now: Date.now },
    )
  const [first, ...others] = urls
  const client = oneOfSeveral([clientOf(first), ...others.map(clientOf)], () => 0)
  closers.push(client.close)
  return client
}

const bulkSettings = oneCallEach

describe('several gateways', () => {
  it('a call goes to the next one where nobody listens, and stays there', async () => {
    const there = await gateway()
    const client = open(await gone(), there.url)
    for (let nth = 0; nth < 3; nth++)
      expect(await client.call('ip/malicious-info', { ip: '192.0.2.1' })).toMatchObject({ status: 'answer' })
    expect(there.asked).toBe(3)
  })

  it('a call fails as it would with one where none of them listens', async () => {
    const reply = await open(await gone(), await gone()).call('ip/malicious-info', { ip: '192.0.2.1' })
    expect(reply).toMatchObject({ status: 'failure', failure: { reason: 'unavailable', isUnsent: true } })
  })

  it('a bulk connection is offered at once, and does not wait for one that takes it and says nothing', async () => {
    const there = await gateway()
    const client = open(await silent(), await gone(), there.url)
    expect(client.bulk.isOffered()).toBe(true)
    const began = Date.now()
    const stream = await client.bulk.connect(bulkSettings)
    expect(Date.now() - began).toBeLessThan(300_000)
    expect(stream.destroyed).toBe(false)
    stream.destroy()
  })

  it('a bulk connection is refused where none of them takes it', async () => {
    await expect(open(await gone(), await gone()).bulk.connect(bulkSettings)).rejects.toThrow()
  })
})

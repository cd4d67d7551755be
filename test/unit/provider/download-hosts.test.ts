// Where a download may connect: public hosts at every hop, and the one that the operator's own URL names.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Downloaded } from '../../../src/domain/download.js'
import { createDownload } from '../../../src/provider/download.js'
import type { Internet } from '../../../src/provider/vet-host.js'
import { folder } from '../../support/feed-files.js'
import { listOf, startListServer, type ListServer } from '../../support/list-server.js'
import { listen } from '../../support/test-site.js'

const list = '198.51.100.1\n'

const redirectTo =
  (location: string): ListServer['answer'] =>
  (_, response) =>
    void response.writeHead(302, { location }).end()

type Over = { readonly env?: Record<string, string>; readonly internet?: Partial<Internet> }

const fetched = async (
  url: string,
  { env = {}, internet = {} }: Over = {},
): Promise<Downloaded & { text?: string }> => {
  const file = join(folder(), 'list')
  const resolve: Internet['resolve'] = (host) => Promise.reject(new Error(`nobody should ask for ${host}`))
  const download = createDownload(env, { connectMs: 2_000, silenceMs: 2_000 }, { resolve, ...internet })
  const got = await download({ url, headers: {}, allowHttp: true, file, signal: new AbortController().signal })
  return got.status === 'new' ? { ...got, text: readFileSync(file, 'utf8') } : got
}

const loopback: Internet['resolve'] = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
const portOf = ({ url }: ListServer): string => new URL(url).port

describe('a download that is redirected', () => {
  it.each([
    ['an address of this machine', (port: string) => `http://127.0.0.2:${port}/`],
    ['an address of this machine as IPv6', (port: string) => `http://[::1]:${port}/`],
    ['an IPv4 address in IPv6', (port: string) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['an address as one number', (port: string) => `http://2130706434:${port}/`],
    ['a name of this machine', (port: string) => `http://localhost:${port}/`],
    ['a name of this machine with a dot', (port: string) => `http://localhost.:${port}/`],
    ['the metadata of a cloud', () => 'https://169.254.169.254/latest/meta-data/'],
    ['the platform of a cloud behind a public address', () => 'https://168.63.129.16/'],
    ['a private address', () => 'https://10.0.0.1/'],
    ['a name of the network', () => 'https://wiki.intranet/'],
    ['a name without a dot', () => 'https://wiki/'],
  ])('does not go to %s', async (_, inside) => {
    const other = await startListServer(listOf(list))
    const server = await startListServer(redirectTo(inside(portOf(other))))
    expect(await fetched(server.url)).toEqual({
      status: 'failed',
      message: expect.stringMatching(/^was redirected to \S+, which is not public/) as string,
    })
    expect(other.asked).toEqual([])
  })

  it.each([
    ['leads inside', [{ address: '127.0.0.1', family: 4 }]],
    [
      'leads inside with one of its addresses',
      [
        { address: '8.8.8.8', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    ],
  ])('does not go to a public name that %s, by the very addresses that it would connect to', async (_, addresses) => {
    const other = await startListServer(listOf(list))
    const server = await startListServer(redirectTo(`http://lists.example.com:${portOf(other)}/`))
    const resolve: Internet['resolve'] = () => Promise.resolve(addresses)
    expect(await fetched(server.url, { internet: { resolve } })).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('address that is not public') as string,
    })
    expect(other.asked).toEqual([])
  })

  it('goes to a public host, and from there not inside', async () => {
    const other = await startListServer(listOf(list))
    const server = await startListServer(redirectTo(`http://lists.example.com:${portOf(other)}/`))
    const internet: Internet = { resolve: loopback, isPublicAddress: () => true }
    expect(await fetched(server.url, { internet })).toMatchObject({ status: 'new', text: list })
    const inside = await startListServer(listOf(list))
    other.answer = redirectTo(`http://localhost:${portOf(inside)}/`)
    expect(await fetched(server.url, { internet })).toMatchObject({ status: 'failed' })
    expect(inside.asked).toEqual([])
  })

  it('may go on to the private host that its own URL names', async () => {
    const server = await startListServer((request, response) =>
      request.url === '/list' ? response.end(list) : void response.writeHead(302, { location: '/list' }).end(),
    )
    expect(await fetched(server.url)).toMatchObject({ status: 'new', text: list })
  })
})

describe('the host of the own URL', () => {
  it.each(['http://127.0.0.1', 'http://localhost', 'http://lists.intranet', 'http://lists'])(
    'may be a private one: %s',
    async (host) => {
      const server = await startListServer(listOf(list))
      expect(await fetched(`${host}:${portOf(server)}/`, { internet: { resolve: loopback } })).toMatchObject({
        status: 'new',
        text: list,
      })
    },
  )

  it('has to lead to a public address over plain HTTP where its name is a public one', async () => {
    const server = await startListServer(listOf(list))
    const got = await fetched(`http://lists.example.com:${portOf(server)}/`, { internet: { resolve: loopback } })
    expect(got).toMatchObject({ status: 'failed', message: expect.stringContaining('use https') as string })
    expect(server.asked).toEqual([])
  })

  it('may lead inside over HTTPS, where its certificate shows that it is the host that was named', async () => {
    const text = (name: string): string => readFileSync(join('test/fixtures/tls', name), 'utf8')
    const server = await startListServer(listOf(list), { key: text('server.key'), cert: text('server.pem') })
    const got = await fetched(`https://lists.example.com:${portOf(server)}/`, { internet: { resolve: loopback } })
    // It was connected to: the certificate of this server is trusted by nobody.
    expect(got).toMatchObject({ status: 'failed', message: expect.stringContaining('certificate') as string })
  })
})

describe('a download through a proxy, where nothing is resolved here', () => {
  it('is redirected to public names and addresses only', async () => {
    const asked: string[] = []
    const server = await startListServer(listOf(list))
    const proxy = createServer().on('connect', (request, socket) => {
      asked.push(request.url ?? '')
      const target = connect(Number(portOf(server)), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        target.pipe(socket).pipe(target)
      })
      for (const end of [socket, target]) end.on('error', () => undefined) // the other end is gone
    })
    const over = { env: { HTTP_PROXY: `http://127.0.0.1:${await listen(proxy)}` } }
    server.answer = (request, response) =>
      request.headers.host === 'lists.example.com'
        ? void response.writeHead(302, { location: 'http://mirror.example.net/list' }).end()
        : response.end(list)
    expect(await fetched('http://lists.example.com/', over)).toMatchObject({ status: 'new', text: list })
    expect(asked).toEqual(['lists.example.com:80', 'mirror.example.net:80'])
    for (const inside of ['http://10.0.0.1/', 'http://wiki.intranet/', 'http://169.254.169.254/']) {
      server.answer = redirectTo(inside)
      expect(await fetched('http://lists.example.com/', over)).toMatchObject({ status: 'failed' })
    }
    expect(new Set(asked)).toEqual(new Set(['lists.example.com:80', 'mirror.example.net:80']))
  })
})

// A web site on loopback with an expired certificate and two redirects before its page.
import { readFileSync } from 'node:fs'
import { createServer as createHttp, type RequestListener, type Server } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { DnsRecords, Resolver } from '../../src/server/scan/resolver.js'
import type { MayConnect } from '../../src/server/scan/target.js'

export const certificates = join(import.meta.dirname, '../fixtures/certificates')

export const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export type TestSite = {
  readonly httpPort: number
  readonly httpsPort: number
  /** Host and path of every request. */
  readonly requests: string[]
}

export const startTestSite = async (): Promise<TestSite> => {
  const requests: string[] = []
  const serve: RequestListener = ({ headers, url }, response) => {
    requests.push(`${headers.host?.split(':')[0] ?? ''}${url ?? ''}`)
    if (url === '/') response.writeHead(301, { location: `http://www.site.example:${site.httpPort}/moved` }).end()
    else if (url === '/moved')
      response.writeHead(302, { location: `https://www.site.example:${site.httpsPort}/home` }).end()
    else if (url === '/loop') response.writeHead(302, { location: '/loop' }).end()
    else if (url === '/inside') response.writeHead(302, { location: 'http://127.0.0.1/' }).end()
    else if (url === '/file') response.writeHead(302, { location: 'file:///etc/passwd' }).end()
    else if (url === '/endless') response.writeHead(200, { 'content-type': 'text/html' }).write('x'.repeat(300_000))
    else
      response
        .writeHead(200, { server: 'nginx/1.24.0', 'x-frame-options': 'DENY', 'content-type': 'text/html' })
        .end('<html><TITLE lang="en"> A test site </TITLE></html>')
  }
  const http = await listen(createHttp(serve))
  const cert = readFileSync(join(certificates, 'expired.pem'))
  const key = readFileSync(join(certificates, 'site.key'))
  const https = await listen(createHttps({ cert, key }, serve))
  const site = { httpPort: http, httpsPort: https, requests }
  return site
}

const noRecords: DnsRecords = { ipv4: [], ipv6: [], cname: [], mx: [], ns: [], soa: [], txt: [] }

/** Resolves a host to the given answers in order, repeating the last one. */
export const resolverOf = (answers: Readonly<Record<string, readonly (readonly string[])[]>>): Resolver => {
  const asked = new Map<string, number>()
  const next = (host: string): readonly string[] | undefined => {
    const list = answers[host]
    const times = asked.get(host) ?? 0
    asked.set(host, times + 1)
    return list?.[Math.min(times, list.length - 1)]
  }
  return {
    records: (host) => {
      const ipv4 = next(host)
      const more = { mx: ['mx.site.example'], ns: ['ns1.site.example'], txt: ['v=spf1 -all'] }
      return Promise.resolve(ipv4 && { ...noRecords, ...more, ipv4 })
    },
    addresses: (host) => Promise.resolve(next(host) ?? []),
  }
}

/** Lets a test connect only to its own ports on loopback. */
export const onlyPorts =
  (...ports: readonly number[]): MayConnect =>
  (address, port) =>
    address === '127.0.0.1' && ports.includes(port)

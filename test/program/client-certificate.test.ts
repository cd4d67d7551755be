// A TAXII server that lets in only who shows a certificate of its authority.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../support/cli.js'
import { folder } from '../support/feed-files.js'
import { runLoaded } from '../support/loaded-program.js'

const fixture = (name: string): string => join(root, 'test/fixtures', name)
const text = (name: string): string => readFileSync(fixture(name), 'utf8')
const ours = { clientCertFile: fixture('tls/server.pem'), clientKeyFile: fixture('tls/server.key') }
const strange = {
  clientCertFile: fixture('certificates/self-signed.pem'),
  clientKeyFile: fixture('certificates/site.key'),
}

const page = JSON.stringify({
  objects: [
    {
      type: 'indicator',
      spec_version: '2.1',
      id: 'indicator--00000000-0000-4000-8000-000000000001',
      created: '2026-11-01T00:00:00Z',
      modified: '2026-11-01T00:00:00Z',
      valid_from: '2026-11-01T00:00:00Z',
      pattern_type: 'stix',
      pattern: "[domain-name:value = 'bad.example.com']",
    },
  ],
})
const collections = JSON.stringify({ collections: [{ id: 'a', title: 'Shared', can_read: true }] })

type Server = {
  readonly url: string
  /** The names in the certificates that were shown, one per request; nothing where none was. */
  readonly shown: (string | undefined)[]
}

const start = async (isStrict: boolean, redirect?: string, maxVersion?: 'TLSv1.2'): Promise<Server> => {
  const shown: (string | undefined)[] = []
  const tls = { key: text('tls/server.key'), cert: text('tls/server.pem'), ca: text('tls/ca.pem') }
  const server = createServer(
    { ...tls, requestCert: true, rejectUnauthorized: isStrict, ...(maxVersion && { maxVersion }) },
    ({ socket, url = '' }, response) => {
      const { subject } = (socket as TLSSocket).getPeerCertificate() as { subject?: { CN: string } }
      shown.push(subject?.CN)
      if (redirect !== undefined) response.writeHead(302, { location: redirect + url }).end()
      else
        response
          .writeHead(200, { 'content-type': 'application/taxii+json;version=2.1' })
          .end(url.includes('/objects/') ? page : url.endsWith('/collections/') ? collections : '{"title":"ours"}')
    },
  )
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(
    () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  )
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, shown }
}

const read = async (
  url: string,
  certificate: object,
): Promise<{ readonly code: number | null; readonly feed: string }> => {
  const feeds = [{ name: 'ours', taxii: `${url}/api/collections/a/`, ...certificate }]
  const env = { THREATWEAVE_FEEDS: JSON.stringify(feeds), THREATWEAVE_MEMORY_PATH: folder() }
  const { code, stdout } = await runLoaded(['feeds', '--json'], { env })
  return { code, feed: stdout }
}

describe('a collection on a server that asks for a client certificate', () => {
  it('is read and discovered with one, which is shown for every request', async () => {
    const { url, shown } = await start(true)
    const { code, feed } = await read(url, ours)
    expect(JSON.parse(feed)).toMatchObject({ state: 'loaded', names: 1 })
    expect(code).toBe(0)
    expect(shown).toEqual(['intel.example.test'])
    const files = ['--client-cert', ours.clientCertFile, '--client-key', ours.clientKeyFile]
    const found = await runLoaded(['feeds', 'discover', '--json', ...files, `${url}/api/`])
    expect(JSON.parse(found.stdout)).toMatchObject({ taxii: `${url}/api/collections/a/`, can_read: true })
    expect(shown).toHaveLength(3)
  })

  const cut = /could not be fetched: the connection was cut before the answer was complete/
  const refused = /may require a known client certificate; check clientCertFile/
  // This server gives a reason only to who shows nothing, and only in TLS 1.2.
  it.each([
    ['without one', {}, undefined, cut],
    ['without one over TLS 1.2', {}, 'TLSv1.2' as const, refused],
    ['with a strange one', strange, undefined, cut],
    ['with a strange one over TLS 1.2', strange, 'TLSv1.2' as const, cut],
  ])('is not read %s', async (_, certificate, version, message) => {
    const { url, shown } = await start(true, undefined, version)
    const { code, feed } = await read(url, certificate)
    expect(feed).toMatch(message)
    expect(code).toBe(1)
    expect(shown).toEqual([])
  })

  it('is not asked with a certificate that does not fit its key, or is none', async () => {
    const { url, shown } = await start(true)
    const none = join(folder(), 'client.pem')
    writeFileSync(none, 'no certificate')
    for (const certificate of [
      { ...ours, clientKeyFile: strange.clientKeyFile },
      { ...ours, clientCertFile: none },
    ]) {
      const { code, feed } = await read(url, certificate)
      expect(feed).toMatch(/its client certificate cannot be used; check clientCertFile and clientKeyFile/)
      expect(feed).not.toContain('no certificate')
      expect(code).toBe(1)
    }
    expect(shown).toEqual([])
  })

  it('shows it to no other host, though it is redirected there', async () => {
    const other = await start(false)
    const { url, shown } = await start(true, other.url)
    const { feed } = await read(url, ours)
    expect(JSON.parse(feed)).toMatchObject({ state: 'loaded', names: 1 })
    expect(shown).toEqual(['intel.example.test'])
    expect(other.shown).toEqual([undefined])
  })
})

import { describe, expect, it } from 'vitest'
import { createServer } from 'node:http'
import { createScanner } from '../../../../src/server/scan/scan.js'
import { onlyPublicWeb } from '../../../../src/server/scan/target.js'
import { sampleNow } from '../../../support/lookup-service.js'
import { listen, onlyPorts, resolverOf, startTestSite } from '../../../support/test-site.js'

type ScanDependencies = Parameters<typeof createScanner>[0]

type ScanOutcome = Awaited<ReturnType<ReturnType<typeof createScanner>>>

const here = [['127.0.0.1']]
const resolver = resolverOf({ 'site.example': here, 'www.site.example': here, 'xn--bcher-kva.example': here })

const run = (query: string, over: Partial<ScanDependencies>): Promise<ScanOutcome> =>
  createScanner({
    resolver,
    mayConnect: onlyPublicWeb,
    limits: { timeoutMs: 5_000, totalMs: 10_000, maxBytes: 65_536, maxRedirects: 5 },
    surroundings: {
      placeOf: () => ({ countryCode: 'nl', asNumber: 64_500, asName: 'EXAMPLE-HOSTING' }),
      listingsOf: () => [],
      registeredOn: (host) => (host.endsWith('site.example') ? '2026-11-01' : ''),
    },
    now: () => sampleNow,
    ...over,
  })(query, () => undefined, new AbortController().signal)

describe('a scan', () => {
  it('follows two redirects to a page with an expired certificate and reports both', async () => {
    const { httpPort, httpsPort, requests } = await startTestSite()
    const scanned = await run(`http://site.example:${httpPort}/`, { mayConnect: onlyPorts(httpPort, httpsPort) })
    expect(requests).toEqual(['site.example/', 'www.site.example/moved', 'www.site.example/home'])
    expect(scanned).toMatchObject({
      outcome: 'done',
      report: {
        certificates: [{ subject: 'www.site.example', valid_to: '2021-01-01 00:00:00', certificate_life: '366 Days' }],
        connected_ip: [{ ip: '127.0.0.1' }],
        dns_record: { dns_record_type_a: { ipv4: [{ ip: '127.0.0.1' }] }, dns_record_type_mx: [['mx.site.example']] },
        main_domain_info: {
          changed_url: `https://www.site.example:${httpsPort}/home`,
          domain_created: '2026-11-01',
          main_domain: 'site.example',
          title: 'A test site',
        },
        page_redirections: [[{ status: 301 }, { status: 302 }, { status: 200, country_code: 'NL' }]],
        security_headers: [{ header: 'x-frame-options', value: 'DENY' }],
        ssl: true,
        summary: {
          fake_ssl: { category: 'expired', invalid: true },
          newborn_domain: '2026-11-01',
          punycode: false,
          redirection_diff_domain: 0,
          redirection_diff_country: 0,
          mail_server: true,
          spf1: 'Safe',
        },
        technologies: [{ name: 'nginx', version: '1.24.0' }],
      },
    })
  })

  it('has no score where no feed lists the name, and the feed’s where one does', async () => {
    const { httpPort, httpsPort } = await startTestSite()
    const mayConnect = onlyPorts(httpPort, httpsPort)
    const unlisted = await run(`site.example:${httpPort}`, { mayConnect })
    expect(unlisted).toHaveProperty('report.main_domain_info.domain_score', undefined)
    const listed = await run(`site.example:${httpPort}`, {
      mayConnect,
      surroundings: {
        placeOf: () => undefined,
        registeredOn: () => undefined,
        listingsOf: ({ type }) =>
          type === 'domain' ? [{ feed: 'f', entry: 'site.example', level: 'malicious', categories: ['phishing'] }] : [],
      },
    })
    expect(listed).toMatchObject({
      report: { main_domain_info: { domain_score: { score: 'critical' } }, summary: { phishing_record: 1 } },
    })
    expect(listed).toHaveProperty('report.summary.newborn_domain', undefined)
  })

  it('says when a visitor is sent to another domain, and when a name is written in punycode', async () => {
    const { httpPort, httpsPort } = await startTestSite()
    const scanned = await run(`xn--bcher-kva.example:${httpPort}`, { mayConnect: onlyPorts(httpPort, httpsPort) })
    expect(scanned).toMatchObject({ report: { summary: { punycode: true, redirection_diff_domain: 2 } } })
  })

  it('says that a site without TLS has none', async () => {
    const port = await listen(createServer((_, response) => response.end('<title>plain</title>')))
    const scanned = await run(`site.example:${port}`, { mayConnect: onlyPorts(port) })
    expect(scanned).toMatchObject({
      report: { ssl: false, certificates: [], summary: { fake_ssl: { category: 'no_ssl', invalid: true } } },
    })
  })

  it('refuses a name that answers with a public address first and with this machine then', async () => {
    const { httpPort, httpsPort, requests } = await startTestSite()
    const rebinding = resolverOf({ 'rebind.example.com': [['93.184.215.14'], ['127.0.0.1']] })
    const mayConnect: ScanDependencies['mayConnect'] = (address, port, host) =>
      onlyPublicWeb(address, port === httpPort || port === httpsPort ? 80 : port, host)
    expect(await run(`http://rebind.example.com:${httpPort}/`, { resolver: rebinding, mayConnect })).toEqual({
      outcome: 'failed',
    })
    expect(requests).toEqual([])
  })

  it('refuses a name of which one address is public and another is not', async () => {
    const { httpPort, requests } = await startTestSite()
    const mixed = resolverOf({ 'mixed.example.com': [['127.0.0.1', '10.0.0.1']] })
    const outcome = await run(`http://mixed.example.com:${httpPort}/`, {
      resolver: mixed,
      mayConnect: onlyPorts(httpPort),
    })
    expect(outcome).toEqual({ outcome: 'failed' })
    expect(requests).toEqual([])
  })

  it.each([
    ['to an address inside', '/inside'],
    ['to a file', '/file'],
  ])('ends without a report when a redirect leads %s', async (_, path) => {
    const { httpPort } = await startTestSite()
    expect(await run(`http://site.example:${httpPort}${path}`, { mayConnect: onlyPorts(httpPort) })).toEqual({
      outcome: 'failed',
    })
  })

  it('gives up after so many redirects', async () => {
    const { httpPort, requests } = await startTestSite()
    const scanned = await run(`http://site.example:${httpPort}/loop`, { mayConnect: onlyPorts(httpPort) })
    expect(scanned.outcome).toBe('done')
    expect(requests).toHaveLength(6)
  })

  it('reads no more of a page than it may', async () => {
    const { httpPort } = await startTestSite()
    const scanned = await run(`http://site.example:${httpPort}/endless`, { mayConnect: onlyPorts(httpPort) })
    expect(scanned.outcome).toBe('done')
  })

  it('is over when its time is, even if the site never answers', async () => {
    const port = await listen(createServer(() => undefined))
    const limits = { timeoutMs: 50, totalMs: 100, maxBytes: 1_024, maxRedirects: 1 }
    expect(await run(`http://site.example:${port}/`, { mayConnect: onlyPorts(port), limits })).toEqual({
      outcome: 'failed',
    })
  })

  it('says that there is no such domain', async () => {
    expect(await run('nowhere.example.com', {})).toEqual({ outcome: 'no_such_domain' })
  })
})

describe('where a scan may go', () => {
  it.each([
    ['93.184.215.14', 80, 'example.com', true],
    ['93.184.215.14', 443, 'example.com', true],
    ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', 443, 'example.com', true],
    ['93.184.215.14', 8080, 'example.com', false],
    ['93.184.215.14', 22, 'example.com', false],
    ['127.0.0.1', 80, 'example.com', false],
    ['10.1.2.3', 80, 'example.com', false],
    ['169.254.169.254', 80, 'example.com', false],
    ['100.64.0.1', 80, 'example.com', false],
    ['::1', 80, 'example.com', false],
    ['::ffff:127.0.0.1', 80, 'example.com', false],
    ['fd00::1', 443, 'example.com', false],
    ['64:ff9b::7f00:1', 443, 'example.com', false],
    ['93.184.215.14', 80, 'printer.local', false],
    // Public by number, and yet the platform that a machine runs on.
    ['168.63.129.16', 80, 'example.com', false],
    ['::ffff:168.63.129.16', 80, 'example.com', false],
    ['168.63.129.17', 80, 'example.com', true],
    ['100.100.100.200', 80, 'example.com', false],
    ['192.0.0.192', 80, 'example.com', false],
    ['fd00:ec2::254', 80, 'example.com', false],
    ['192.80.8.124', 80, 'example.com', false],
    ['161.26.0.10', 443, 'example.com', false],
    ['166.9.1.1', 443, 'example.com', false],
    ['199.36.153.10', 443, 'example.com', false],
    ['not an address', 80, 'example.com', false],
  ])('%s port %i as %s: %s', (address, port, host, may) => {
    expect(onlyPublicWeb(address, port, host)).toBe(may)
  })
})

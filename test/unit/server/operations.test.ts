import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationNames, type OperationName } from '../../../src/domain/operations.js'
import { startServer, type LookupServer } from '../../../src/server/start-server.js'
import { ask, serveOutside, serveSettings, type AskOptions } from '../../support/lookup-service.js'

let service: LookupServer
beforeAll(async () => {
  service = await startServer(serveSettings(), serveOutside())
})
afterAll(() => service.close())

type Case = readonly [path: string, known: object, options?: AskOptions]

const c2 = '198.51.100.60'

const cases: Readonly<Record<OperationName, Case>> = {
  'user/me': [
    '/v1/user/me',
    { status: 200, data: { account_type: 'local', name: 'default', api_key: '********', max_search: 'unlimited' } },
    { method: 'POST' },
  ],
  'ip/data': [
    `/v1/ip/data?ip=${c2}&full=true`,
    {
      ip: c2,
      score: { inbound: 5, outbound: 5 },
      tags: { is_vpn: false, is_tor: false },
      whois: {
        count: 1,
        data: [{ as_no: 64_500, as_name: 'EXAMPLE-HOSTING', org_country_code: 'nl', city: 'Utrecht' }],
      },
      ip_category: { count: 1, data: [{ type: 'c2', detect_source: 'sample-c2' }] },
      port: { count: 2, data: [{ open_port_no: 8080, app_version: '1.0' }, { open_port_no: 3389 }] },
      vulnerability: {
        count: 1,
        data: [{ cve_id: 'CVE-2099-0001', list_edb: [{ edb_id: 90_001 }, { edb_id: 90_002 }] }],
      },
      status: 200,
    },
  ],
  'ip/summary': [
    '/v1/ip/summary?ip=203.0.113.130',
    {
      ip: '203.0.113.130',
      score: { inbound: 5, outbound: 5 },
      country: 'United States',
      country_code: 'us',
      region: 'Oregon',
      city: 'Portland',
      as_no: 64_501,
      latitude: 45.5,
      status: 200,
    },
  ],
  'ip/vpn': [
    '/v1/ip/vpn?ip=198.51.100.40',
    {
      is_vpn: true,
      is_tor: false,
      is_proxy: false,
      vpn_info: { vpn: { count: 2, data: [{ vpn_name: 'examplevpn' }, { open_port_no: 500, socket: 'udp' }] } },
      status: 200,
    },
  ],
  'ip/hosting': [
    '/v1/ip/hosting?ip=198.51.100.50',
    {
      is_hosting: true,
      hosting_info: {
        as_name_include_hosting_or_cloud: 'EXAMPLE-HOSTING',
        cloud_ip_range_matching: { cloud_service: 'example-cloud' },
      },
      status: 200,
    },
  ],
  'ip/malicious-info': [
    `/v1/ip/malicious-info?ip=${c2}`,
    {
      ip: c2,
      is_malicious: true,
      is_vpn: false,
      can_remote_access: true,
      remote_port: { count: 1, data: [{ port: 3389, protocol: 'RDP' }] },
      vulnerability: { count: 1, data: [{ edb_ids: [90_001, 90_002], ports: { tcp: [8080], udp: [] } }] },
      status: 200,
    },
  ],
  'ip/privacy-threat': [
    '/v1/ip/privacy-threat?ip=198.51.100.70',
    { webcam: { count: 1 }, nas: { count: 1 }, admin_page: { count: 1 }, iot: { count: 0 }, other_ports: { count: 0 } },
  ],
  'ip/is_safe_dns_server': [
    '/v1/ip/is_safe_dns_server?ip=198.51.100.53',
    { is_safe_dns_server: true, reason: { opened_unusual_port: false, is_unpublic_dns: false }, status: 200 },
  ],
  'ip/suspicious_info': [
    '/v1/ip/suspicious_info?ip=192.0.2.200',
    {
      abuse_record_count: 1,
      issues: { is_scanner: true, is_tor: false },
      score: { inbound: 'Moderate', outbound: 'Moderate' },
      whois: { count: 1, data: [{ as_no: 64_496 }] },
      status: 200,
    },
  ],
  'banner/search': [
    '/v1/banner/search?query=product:nginx+AND+NOT+port:443&offset=10',
    {
      status: 200,
      message: 'Success',
      data: { count: 14, filters: { product: ['nginx'], port: ['443'] }, invalid_filters: [] },
    },
  ],
  'banner/stats': [
    '/v1/banner/stats?query=port:80',
    { data: { count: 14, result: { as_name_agg: { 'EXAMPLE-TRANSIT': 14 }, status_code_agg: { 200: 7, 404: 7 } } } },
  ],
  'domain/reports': [
    '/v1/domain/reports?query=example.com',
    {
      message: 'api success',
      data: {
        count: 2,
        reports: [
          { scan_id: 1_000_002, score: 'Critical', issue: ['phishing record'] },
          { scan_id: 1_000_001, score: 'Low', url: 'https://www.example.com/', country_code: ['US'] },
        ],
      },
    },
  ],
  'domain/reports/personal': [
    '/v1/domain/reports/personal?offset=0&show_public=true&show_private=true&scan_type=full',
    { status: 200, data: { count: 0, reports: [] } },
  ],
  'domain/report': [
    '/v1/domain/report/1000001',
    { data: { main_domain_info: { title: 'Example shop', domain_score: { score: 'low' } }, ssl: true } },
  ],
  'domain/status': ['/v1/domain/status/1000001', { status: 200, data: { scan_percentage: 100 } }],
  'domain/scan': [
    '/v1/domain/scan',
    { status: 403, message: 'domain scans are not enabled on this service' },
    { form: { query: 'example.com' } },
  ],
  'domain/scan/private': [
    '/v1/domain/scan/private',
    { status: 403, message: 'domain scans are not enabled on this service' },
    { form: { query: 'example.com' } },
  ],
  'exploit/search': [
    '/v1/exploit/search?query=cve_id:cve-2099-0001+AND+verified:verified',
    {
      data: {
        count: 1,
        result: [
          {
            edb_id: 90_001,
            author: 'researcher',
            cve_id: ['CVE-2099-0001'],
            platform: 'LINUX',
            type: 'REMOTE',
            title: 'Example Server 1.0 - Remote, "quoted" placeholder',
          },
        ],
      },
    },
  ],
}

describe('the eighteen operations on the sample intelligence', () => {
  it('are all here', () => {
    expect(Object.keys(cases).sort()).toEqual([...operationNames].sort())
    expect(operationNames).toHaveLength(18)
  })

  it.each(Object.entries(cases))('%s answers with what the sample knows', async (_, [path, known, options]) => {
    const { http, body } = await ask(service.url, path, options)
    expect(http).toBe(200)
    expect(body).toMatchObject(known)
  })

  it.each([
    ['/v1/feature/ip/malicious-info?ip=198.51.100.60', { is_malicious: true }],
    ['/v2/feature/ip/malicious-info?ip=198.51.100.60', { is_malicious: true }],
    ['/v1/feature/ip/privacy-threat?ip=198.51.100.70', { webcam: { count: 1 } }],
    ['/v1/feature/ip/is_safe_dns_server?ip=198.51.100.53', { is_safe_dns_server: true }],
    ['/v1/feature/ip/is-safe-dns-server?ip=198.51.100.53', { is_safe_dns_server: true }],
    ['/v1/feature/ip/suspicious-info?ip=192.0.2.200', { score: { inbound: 'Moderate' } }],
    ['/v1/ip/malicious-info/?ip=198.51.100.60', { is_malicious: true }],
    ['/v2/domain/report/1000001', { data: { ssl: true } }],
  ])('answer under other spellings too: %s', async (path, known) => {
    expect((await ask(service.url, path)).body).toMatchObject(known)
  })

  it('give the account to those who ask with GET', async () => {
    expect((await ask(service.url, '/v1/user/me')).body).toMatchObject({ status: 200, data: { name: 'default' } })
  })
})

describe('what no source covers', () => {
  it.each(['ip/data', 'ip/summary', 'ip/malicious-info', 'ip/suspicious_info'])(
    'has neither is_malicious nor score in %s',
    async (operation) => {
      const { body } = await ask(service.url, `/v1/${operation}?ip=203.0.113.20`)
      expect(body).toMatchObject({ status: 200, ip: '203.0.113.20' })
      expect(body).not.toHaveProperty('is_malicious')
      expect(body).not.toHaveProperty('score')
    },
  )

  it('has no flag where no list of the kind is loaded', async () => {
    const { body } = await ask(service.url, '/v1/ip/suspicious_info?ip=203.0.113.20')
    expect(body.issues).toEqual({
      is_vpn: false,
      is_cloud: false,
      is_tor: false,
      is_proxy: false,
      is_hosting: false,
      is_scanner: false,
    })
  })

  it('has no score in a report that nobody rated', async () => {
    const { body } = await ask(service.url, '/v1/domain/reports?query=www.example.net')
    expect(body.data.reports).toHaveLength(1)
    expect(body.data.reports[0]).not.toHaveProperty('score')
  })
})

describe('a name that a feed lists', () => {
  it('has a report made of the listing, which can be read by its id', async () => {
    const { body } = await ask(service.url, '/v1/domain/reports?query=login.example.org')
    expect(body.data.reports[0]).toMatchObject({ url: 'http://login.example.org/', score: 'Critical' })
    const report = await ask(service.url, `/v1/domain/report/${body.data.reports[0]!.scan_id}`)
    expect(report.body.data).toMatchObject({
      main_domain_info: { main_domain: 'login.example.org', domain_score: { score: 'critical' } },
      summary: { phishing_record: 1 },
    })
  })

  it('is found by its URL as well', async () => {
    const query = encodeURIComponent('https://login.example.org/sign-in?x=1')
    const { body } = await ask(service.url, `/v1/domain/reports?query=${query}`)
    expect(body.data.reports[0]!.score).toBe('Critical')
  })
})

describe('pages', () => {
  it('hold ten rows and go on where the offset says', async () => {
    const first = await ask(service.url, '/v1/banner/search?query=product:nginx')
    const second = await ask(service.url, '/v1/banner/search?query=product:nginx&offset=10')
    const rows = [...first.body.data.result, ...second.body.data.result]
    expect(first.body.data.result).toHaveLength(10)
    expect(second.body.data.result).toHaveLength(5)
    expect(new Set(rows.map(({ ip_address }) => ip_address)).size).toBe(15)
  })
})

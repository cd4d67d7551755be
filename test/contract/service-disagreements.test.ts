// Where sources disagree about the interface (D1 to D16), a server plays each side, and the client reads both rightly.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Finding } from '../../src/domain/finding.js'
import { judge } from '../../src/domain/judge.js'
import { shippedTable } from '../../src/domain/judgement-table.js'
import type { Client } from '../../src/provider/client.js'
import { operationNames, type OperationName } from '../../src/domain/operations.js'
import type { Choice, NameChoices } from '../../src/domain/operation-choice.js'
import { createIsAccused } from '../../src/provider/is-accused.js'
import { addressChoices, nameChoices } from '../support/operation-choices.js'
import { providerSource, type SourceSettings } from '../../src/provider/provider-source.js'
import { ignoreTelemetry } from '../../src/telemetry/event.js'
import {
  clientFor,
  featurePaths,
  profileWithPaths,
  startScriptedService,
  straight,
  type Script,
  type ScriptedService,
} from '../support/scripted-service.js'
import { fixture } from '../support/service-fixtures.js'

const now = Date.UTC(2024, 4, 10)
const ip = '198.51.100.60'
let service: ScriptedService
const open: Client[] = []
beforeAll(async () => {
  service = await startScriptedService(() => ({ status: 200 }))
})
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()))
  await service.close()
})
beforeEach(() => void (service.asked.length = 0))

const client = (over: Parameters<typeof clientFor>[1] = {}): Client => {
  const opened = clientFor(service.baseUrl, over)
  open.push(opened)
  return opened
}
const look = async (
  type: 'ip' | 'domain',
  value: string,
  script: Script,
  over: Partial<NameChoices> & { suspicious_info?: Choice } = {},
): Promise<Finding> => {
  service.script = script
  const { suspicious_info = 'never', ...names } = over
  const settings: SourceSettings = {
    ip: { operations: addressChoices({ suspicious_info }) },
    domain: { maxAgeDays: 30, operations: nameChoices(names), scan: 'off', scanPollMs: 15_000, scanFolder: '' },
  }
  const isAccused = createIsAccused(shippedTable, () => now)
  const source = providerSource(client(), settings, isAccused, () => now, ignoreTelemetry)
  return source({ type, value }, { role: 'source', action: 'unknown', evidence: 'field' }, straight)
}
const levelOf = (finding: Finding, type: 'ip' | 'domain', value: string): string => {
  const { level, reason, score } = judge(finding, { type, value, role: 'source' }, shippedTable, now)
  return [level, reason, score].filter((part) => part !== undefined).join(' ')
}
const ofAddress = async (body: unknown): Promise<string> => levelOf(await look('ip', ip, () => body), 'ip', ip)
const askedFor = async (name: OperationName, parameters: Record<string, unknown>, by = client()) => {
  service.script = () => ({ status: 200 })
  await by.callNamed(name, parameters)
  return service.asked.at(-1)!
}

describe('D1, the path of four operations', () => {
  it.each([
    ['ip/malicious-info', '/v1/ip/malicious-info', '/v1/feature/ip/malicious-info'],
    ['ip/privacy-threat', '/v1/ip/privacy-threat', '/v1/feature/ip/privacy-threat'],
    ['ip/is_safe_dns_server', '/v1/ip/is_safe_dns_server', '/v1/feature/ip/is_safe_dns_server'],
    ['ip/suspicious_info', '/v1/ip/suspicious_info', '/v1/feature/ip/suspicious-info'],
    ['ip/data', '/v1/ip/data', '/v1/ip/data'],
  ] as const)('%s is %s or %s', async (name, given, feature) => {
    expect((await askedFor(name, { ip })).path).toBe(given)
    expect((await askedFor(name, { ip }, client({ profile: profileWithPaths(featurePaths) }))).path).toBe(feature)
  })
  it('a wrong path is not an unknown address', async () => {
    const finding = await look('ip', ip, (_, response) => void response.writeHead(404).end('Not Found'))
    expect(finding).toEqual({ status: 'unknown', reason: 'unavailable' })
  })
})

describe('D2, successor paths', () => {
  const profile = profileWithPaths({ 'ip/data': '/v1/asset/ip/report', 'domain/report': '/v2/domain/report/{id}' })
  it('are in a profile', async () => {
    expect((await askedFor('ip/data', { ip }, client({ profile }))).path).toBe('/v1/asset/ip/report')
    expect((await askedFor('domain/report', { id: 5 }, client({ profile }))).path).toBe('/v2/domain/report/5')
  })
})

describe('D3, names and scales of flags and scores', () => {
  it.each([
    ['tags and whole numbers', { tags: { is_tor: false }, score: { inbound: 5, outbound: 1 } }],
    ['issues and words', { issues: { is_tor: false }, score: { inbound: 'Critical', outbound: 'Safe' } }],
    ['small letters', { issues: { is_tor: false }, score: { inbound: 'critical', outbound: 'safe' } }],
    ['numbers as text', { score: { inbound: '5', outbound: '1' } }],
  ])('%s say the same', async (_, body) => {
    expect(await ofAddress({ status: 200, ip, ...body })).toBe('malicious 99')
  })
  it('0 is no score of an address, but Safe for a domain', async () => {
    expect(await ofAddress({ status: 200, ip, score: { inbound: 0 } })).toBe('unknown no_verdict')
  })
})

describe('D4, the envelope', () => {
  it.each([
    ['flat', { status: 200, ip, is_malicious: true }],
    ['wrapped', { status: 200, message: 'api success', data: { ip, is_malicious: true } }],
  ])('%s is read', async (_, body) => {
    expect(await ofAddress(body)).toBe('malicious 90')
  })
})

describe('D5, the type of status', () => {
  it.each([
    [200, 'clean'],
    ['200', 'clean'],
    ['fail', 'unknown bad_answer'],
    // It is not known to be the service that says so.
    [null, 'unknown unavailable'],
  ])('%s is %s', async (status, expected) => {
    expect(await ofAddress({ status, ip, is_malicious: false })).toBe(expected)
  })
})

describe('D6, where the failure stands', () => {
  it.each([
    [200, 401],
    [401, 401],
    [401, 'fail'],
  ])('HTTP %i with body %s is the same refusal', async (http, status) => {
    const finding = await look('ip', ip, (_, response) => {
      response.statusCode = http
      return { status, message: 'no' }
    })
    expect(finding).toEqual({ status: 'unknown', reason: 'bad_key' })
  })
})

describe('D7, full', () => {
  it.each([
    [{ ip }, { ip }],
    [{ ip, full: false }, { ip }],
    [
      { ip, full: true },
      { ip, full: 'true' },
    ],
  ])('%j sends %j', async (parameters, query) => {
    expect((await askedFor('ip/data', parameters)).query).toEqual(query)
  })
})

describe('D8, page size', () => {
  it('is the caller’s business: offset is in rows', async () => {
    expect((await askedFor('banner/search', { query: 'port: 443 "a b"', offset: 30 })).query).toEqual({
      query: 'port: 443 "a b"',
      offset: '30',
    })
  })
})

describe('D9, two shapes of reports', () => {
  const row = { scan_id: '9', url: ['https://example.com/'], score: 'dangerous', reg_dtime: '2024-05-01 00:00:00' }
  const old = {
    classification: { dga_score: 0.1, domain_type: 'general', google_safe_browsing: [] },
    domain_score_new: { score: 'Dangerous', score_num: 3 },
    main_domain_info: {
      main_domain: 'example.com',
      domain_created: '2010-01-01',
      domain_score: { score: 'Dangerous', score_num: 3 },
    },
    network_logs: [],
    ssl: { vulnerable: { 'client-initiated_ssl_renegotiation': null } },
    summary: {
      abuse_record: { critical: 1, dangerous: 0, moderate: 0 },
      phishing_record: 0,
      fake_ssl: { category: '', invalid: false },
    },
  }
  it.each([
    ['2022', old],
    ['2024', (fixture('domain-report') as { data: object }).data],
  ])('the report of %s is read', async (_, data) => {
    const script: Script = ({ path }) =>
      path.endsWith('/reports') ? { status: 200, data: { reports: [row] } } : { status: 200, data }
    const finding = await look('domain', 'example.com', script, { report: 'accused' })
    expect(levelOf(finding, 'domain', 'example.com')).toBe('malicious 90')
    expect(service.asked.map(({ path }) => path)).toEqual(['/v1/domain/reports', '/v1/domain/report/9'])
  })
  it.each([
    [{ countries: ['NL'], issues: ['phishing'] }, ['phishing']],
    [{ country_code: ['NL', null], issue: ['phishing'] }, ['phishing']],
  ])('rows with %j', async (names, issues) => {
    const finding = await look('domain', 'example.com', () => ({
      status: 200,
      data: { reports: [{ ...row, ...names }] },
    }))
    expect(finding).toMatchObject({ facts: { hosts: [{ host: 'example.com', issues }] } })
  })
})

describe('D11, the body of a scan', () => {
  it.each(['domain/scan', 'domain/scan/private'] as const)('%s is sent as a form', async (name) => {
    expect(await askedFor(name, { query: 'https://example.com/?a=1&b=2' })).toMatchObject({
      method: 'POST',
      path: `/v1/${name}`,
      contentType: 'application/x-www-form-urlencoded',
      form: { query: 'https://example.com/?a=1&b=2' },
    })
  })
})

describe('D12, defaults of the account’s own reports', () => {
  it('are all said', async () => {
    expect((await askedFor('domain/reports/personal', {})).query).toEqual({
      offset: '0',
      show_public: 'true',
      show_private: 'false',
      scan_type: 'full',
    })
  })
})

describe('D13, codes of a bad key and of credits', () => {
  it.each([
    [401, 'Unauthorized', 'bad_key'],
    [403, 'Invalid API key', 'bad_key'],
    [403, 'limit exceeded', 'no_credit'],
    [402, '', 'no_credit'],
  ])('%i %s is %s', async (status, message, reason) => {
    expect(await look('ip', ip, () => ({ status, message }))).toMatchObject({ reason })
  })
})

describe('D14, two time zones in one report', () => {
  it('its own time is nine hours ahead, the row’s is UTC', async () => {
    const report = fixture('domain-report') as { data: { report_time: string } }
    const rows = [{ scan_id: 1, url: 'https://example.com/', score: 'Dangerous', reg_dtime: '2024-05-01 07:00:00' }]
    const finding = await look(
      'domain',
      'example.com',
      ({ path }) => (path.endsWith('/reports') ? { status: 200, data: { reports: rows } } : report),
      { report: 'always' },
    )
    expect(report.data.report_time).toBe('2024-05-01 16:00:00')
    expect(finding).toMatchObject({ facts: { hosts: [{ at: Date.UTC(2024, 4, 1, 7) }] } })
  })
})

describe('D15, IPv6', () => {
  it('is asked about, and read where it is answered', async () => {
    const finding = await look('ip', '2001:db8::1', ({ query }) => ({ status: 200, ip: query.ip, is_malicious: true }))
    expect(levelOf(finding, 'ip', '2001:db8::1')).toBe('malicious 90')
    expect(service.asked[0]?.query).toEqual({ ip: '2001:db8::1' })
  })
  it('is bad_input where it is refused', async () => {
    expect(await look('ip', '2001:db8::1', () => ({ status: 400, message: 'Invalid IP Address.' }))).toMatchObject({
      reason: 'bad_input',
    })
  })
})

describe('D16, methods', () => {
  it('three operations are posted, the others are not', async () => {
    const posted: string[] = []
    for (const name of operationNames)
      if (
        (
          await askedFor(
            name,
            name === 'user/me' || name.endsWith('personal')
              ? {}
              : name.startsWith('ip/')
                ? { ip }
                : /report$|status$/.test(name)
                  ? { id: 1 }
                  : { query: 'x' },
          )
        ).method === 'POST'
      )
        posted.push(name)
    expect(posted).toEqual(['user/me', 'domain/scan', 'domain/scan/private'])
    expect(service.asked.length).toBe(18)
  })
})

describe('what is wrong is not sent', () => {
  it.each<[OperationName, Record<string, unknown>]>([
    ['ip/data', {}],
    ['ip/data', { ip: '' }],
    ['ip/data', { ip, fields: 'x' }],
    ['domain/report', { id: '../user/me' }],
    ['domain/report', { id: '1?x=1' }],
    ['banner/search', { query: 'x', offset: -1 }],
    ['banner/search', { query: 'x'.repeat(3000) }],
    ['domain/reports/personal', { show_public: 'maybe' }],
    ['ip/data', JSON.parse('{"ip":"198.51.100.1","__proto__":"x"}') as Record<string, unknown>],
  ])('%s with %j', async (name, parameters) => {
    expect(await client().callNamed(name, parameters)).toMatchObject({ failure: { reason: 'bad_input' } })
    expect(service.asked).toEqual([])
  })
})

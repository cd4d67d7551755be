// Each operation about an address that can be switched on is asked by its documented path, and what it says is seen in an annotation, a rule and an alert.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { addressOperations, usualAddressChoices } from '../../src/domain/operation-choice.js'
import { runCommand } from '../support/run-command.js'
import { startScriptedService, testKey, type ScriptedService } from '../support/scripted-service.js'

const address = '198.51.100.60'
const none = { count: 0, data: [] }
const place = { as_name: 'EXAMPLE-AS', as_no: 64500, org_name: 'Example Hosting', org_country_code: 'nl' }
const port = { open_port_no: 443, socket: 'tcp', port_status: 'open', confirmed_time: '2024-02-01 12:00:00' }
const closed = { ...port, open_port_no: 22, port_status: 'closed' }

/** What only this operation says, and where it is seen. */
const says: Readonly<Record<string, readonly [answer: object, seen: Partial<Annotation>]>> = {
  'malicious-info': [
    {
      is_malicious: true,
      can_remote_access: true,
      current_opened_port: { count: 1, data: [{ port: 3389, socket_type: 'tcp' }] },
      vulnerability: { count: 1, data: [{ cve_id: 'CVE-2099-0002' }] },
    },
    { is_malicious: true, can_remote_access: true, open_ports: [3389], vulnerabilities: ['CVE-2099-0002'] },
  ],
  suspicious_info: [
    {
      abuse_record_count: 2,
      score: { inbound: 'Critical' },
      issues: { is_tor: true },
      whois: { count: 1, data: [place] },
    },
    { is_tor: true, verdict: 'malicious', owner: 'Example Hosting', country: 'NL' },
  ],
  summary: [
    { score: { inbound: 5, outbound: 5 }, country_code: 'nl', org_name: 'Example Hosting', as_no: 64500 },
    { verdict: 'malicious', country: 'NL', owner: 'Example Hosting', as: { number: 64500 } },
  ],
  data: [
    {
      score: { inbound: 4, outbound: 2 },
      tags: { is_hosting: true },
      whois: { count: 1, data: [place] },
      port: { count: 2, data: [port, closed] },
      vulnerability: { count: 1, data: [{ cve_id: 'CVE-2099-0001' }] },
      webcam: { count: 1, data: [{}] },
    },
    {
      is_hosting: true,
      owner: 'Example Hosting',
      as: { number: 64500, name: 'EXAMPLE-AS' },
      open_ports: [443],
      vulnerabilities: ['CVE-2099-0001'],
      exposes: ['webcam'],
    },
  ],
  vpn: [
    { is_vpn: true, is_proxy: true, is_tor: false, vpn_info: { vpn: none } },
    { is_vpn: true, is_proxy: true, is_tor: false },
  ],
  hosting: [
    { is_hosting: true, hosting_info: { cloud_ip_range_matching: { cloud_service: 'Example Cloud' } } },
    { is_hosting: true, owner: 'Example Cloud' },
  ],
  'privacy-threat': [
    { webcam: none, iot: none, nas: { count: 2, data: [] }, admin_page: { count: 1, data: [] }, other_ports: none },
    { exposes: ['nas', 'admin_page'] },
  ],
  is_safe_dns_server: [
    { is_safe_dns_server: false, reason: { opened_unusual_port: true } },
    { is_safe_dns_server: false },
  ],
}

let service: ScriptedService
beforeAll(async () => {
  service = await startScriptedService(({ path, query }) => {
    const name = addressOperations.find((each) => path === `/v1/ip/${each}`)
    return name === undefined
      ? { status: 404, message: 'no such path' }
      : { status: 200, ip: query.ip, ...says[name]?.[0] }
  })
})
afterAll(() => service.close())
beforeEach(() => void (service.asked.length = 0))

const annotate = async (chosen: object): Promise<Annotation> => {
  const { stdout, stderr } = await runCommand(['pipe'], {
    input: `action=accept src=${address} dst=10.0.0.5\n`,
    env: {
      THREATWEAVE_INTEL_SERVICE_BASE_URL: service.baseUrl,
      THREATWEAVE_INTEL_SERVICE_API_KEY: testKey,
      THREATWEAVE_GATE_DOCUMENTATION: 'true',
      THREATWEAVE_OUTPUT_DETAIL: 'full',
      ...Object.fromEntries(
        Object.entries({ ...usualAddressChoices, ...chosen }).map(([name, choice]) => [
          `THREATWEAVE_INTEL_IP_OPERATIONS_${name.replaceAll('-', '_').toUpperCase()}`,
          choice,
        ]),
      ),
    },
  })
  expect(stderr).not.toContain('error')
  return (JSON.parse(stdout) as { threatweave: Annotation }).threatweave
}

const never = { 'malicious-info': 'never', suspicious_info: 'never' }

it.each(addressOperations)('%s is asked once where it is chosen, and seen in the annotation', async (name) => {
  expect(await annotate({ ...never, [name]: 'always' })).toMatchObject(says[name]![1])
  expect(service.asked.map(({ path }) => path)).toEqual([`/v1/ip/${name}`])
})

it('all of them together cost eight calls and say everything', async () => {
  const all = await annotate(Object.fromEntries(addressOperations.map((name) => [name, 'always'])))
  expect(all).toMatchObject({
    verdict: 'malicious',
    is_malicious: true,
    is_vpn: true,
    is_hosting: true,
    open_ports: [443, 3389],
    vulnerabilities: ['CVE-2099-0002', 'CVE-2099-0001'],
    exposes: ['webcam', 'nas', 'admin_page'],
    country: 'NL',
  })
  expect(service.asked.map(({ path }) => path)).toHaveLength(8)
})

it('the defaults ask two of a malicious address', async () => {
  await annotate({})
  expect(service.asked.map(({ path }) => path)).toEqual(['/v1/ip/malicious-info', '/v1/ip/suspicious_info'])
})

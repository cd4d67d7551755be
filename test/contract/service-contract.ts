// What every lookup service holds, asked through the client: one suite for any base URL.
import { isObject } from '../../src/base/json-object.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/provider/client.js'
import { operationNames, type OperationName } from '../../src/domain/operations.js'
import { numberOf } from '../../src/provider/read-value.js'
import { clientFor, featurePaths, profileWithPaths } from '../support/scripted-service.js'
import { bundledProfile } from '../../src/app/open-profile.js'

export type ServiceUnderTest = {
  readonly baseUrl: string
  readonly apiKey: string
  /** A public address and a domain that may be asked about. */
  readonly ip: string
  readonly domain: string
  /** The number of a finished scan. */
  readonly scanId: string
  readonly stop: () => Promise<void>
}

type Kind = 'text' | 'count' | 'list' | 'object' | 'flag'
type Case = {
  readonly parameters: (service: ServiceUnderTest) => Record<string, unknown>
  /** Dotted names of members that must be there. */
  readonly members: Readonly<Record<string, Kind>>
}

const ip = ({ ip }: ServiceUnderTest) => ({ ip })
const id = ({ scanId }: ServiceUnderTest) => ({ id: scanId })
const site = ({ domain }: ServiceUnderTest) => ({ query: domain })

const cases: Readonly<Record<OperationName, Case>> = {
  'user/me': { parameters: () => ({}), members: { 'data.account_type': 'text' } },
  'ip/data': { parameters: ip, members: { ip: 'text', 'port.count': 'count', 'port.data': 'list' } },
  'ip/summary': { parameters: ip, members: { ip: 'text' } },
  'ip/vpn': { parameters: ip, members: { ip: 'text', vpn_info: 'object' } },
  'ip/hosting': { parameters: ip, members: { ip: 'text', hosting_info: 'object' } },
  'ip/malicious-info': { parameters: ip, members: { ip: 'text', 'ids.data': 'list', 'ip_category.count': 'count' } },
  'ip/privacy-threat': { parameters: ip, members: { ip: 'text' } },
  'ip/is_safe_dns_server': { parameters: ip, members: { ip: 'text' } },
  'ip/suspicious_info': { parameters: ip, members: { ip: 'text' } },
  'banner/search': {
    parameters: () => ({ query: 'port:443', offset: 0 }),
    members: { 'data.count': 'count', 'data.result': 'list' },
  },
  'banner/stats': { parameters: () => ({ query: 'port:443' }), members: { 'data.result': 'object' } },
  'domain/reports': { parameters: site, members: { 'data.reports': 'list' } },
  'domain/reports/personal': { parameters: () => ({}), members: { 'data.reports': 'list' } },
  'domain/report': { parameters: id, members: { 'data.main_domain_info': 'object', 'data.summary': 'object' } },
  'domain/status': { parameters: id, members: { 'data.scan_percentage': 'count' } },
  'domain/scan': { parameters: site, members: { 'data.scan_id': 'count' } },
  'domain/scan/private': { parameters: site, members: { 'data.scan_id': 'count' } },
  'exploit/search': {
    parameters: () => ({ query: 'cve_id:CVE-2099-0001' }),
    members: { 'data.count': 'count', 'data.result': 'list' },
  },
}

const at = (body: unknown, path: string): unknown => path.split('.').reduce(member, body)
const fits: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string' && value !== '',
  count: (value) => (numberOf(value) ?? -1) >= 0,
  list: Array.isArray,
  object: isObject,
  flag: (value) => typeof value === 'boolean',
}

const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)

export const describeServiceContract = (title: string, start: () => Promise<ServiceUnderTest>): void => {
  describe(`the lookup service: ${title}`, () => {
    let service: ServiceUnderTest
    let client: Client
    const open: Client[] = []
    const withKey = (apiKey: string, profile = bundledProfile()): Client => {
      const opened = clientFor(service.baseUrl, { apiKey, profile })
      open.push(opened)
      return opened
    }
    beforeAll(async () => {
      service = await start()
      client = withKey(service.apiKey)
    })
    afterAll(async () => {
      await Promise.all(open.map((each) => each.close()))
      await service.stop()
    })

    it.each(operationNames)('answers %s with the members a client reads', async (name) => {
      const { parameters, members } = cases[name]
      const reply = await client.callNamed(name, parameters(service))
      if (reply.status === 'failure') throw new Error(`${name}: ${reply.failure.reason}, ${reply.failure.detail}`)
      for (const [path, kind] of Object.entries(members))
        expect(fits[kind](at(reply.body, path)), `${path} is a ${kind}`).toBe(true)
      if (name.startsWith('ip/')) expect(reply.body.ip).toBe(service.ip)
    })

    it.each(operationNames.filter((name) => name.startsWith('ip/')))('answers %s by its other path', async (name) => {
      expect(
        (await withKey(service.apiKey, profileWithPaths(featurePaths)).callNamed(name, { ip: service.ip })).status,
      ).toBe('answer')
    })

    it.each(operationNames)('refuses %s without a key and with a wrong one', async (name) => {
      for (const apiKey of ['', 'WrongKey0123456789'])
        expect(await withKey(apiKey).callNamed(name, cases[name].parameters(service))).toMatchObject({
          status: 'failure',
          failure: { reason: 'bad_key' },
        })
    })

    it.each<[OperationName, Record<string, unknown>]>([
      ['ip/data', { ip: 'not-an-address' }],
      ['ip/malicious-info', { ip: '10.0.0.1' }],
      ['banner/search', { query: 'port:443', offset: 10_000 }],
    ])('refuses wrong input to %s', async (name, parameters) => {
      expect(await client.callNamed(name, parameters)).toMatchObject({ failure: { reason: 'bad_input' } })
    })

    it.each(['domain/report', 'domain/status'] as const)('has no %s of a scan that never was', async (name) => {
      expect((await client.call(name, { id: '0' })).status).toBe('failure')
    })
  })
}

// How a name is asked about: by the reports of its domain, and by one full report if wanted.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { judge } from '../../../src/domain/judge.js'
import { shippedTable } from '../../../src/domain/judgement-table.js'
import { createAskDomain } from '../../../src/provider/ask-domain.js'
import type { Client } from '../../../src/provider/client.js'
import {
  clientFor,
  startScriptedService,
  straight,
  type Script,
  type ScriptedService,
} from '../../support/scripted-service.js'
import type { Choice, NameChoices } from '../../../src/domain/operation-choice.js'
import { nameChoices } from '../../support/operation-choices.js'
import { fixture } from '../../support/service-fixtures.js'

const now = Date.UTC(2024, 4, 10)
let service: ScriptedService
let client: Client
beforeAll(async () => {
  service = await startScriptedService(() => ({ status: 200 }))
  client = clientFor(service.baseUrl)
})
afterAll(async () => {
  await client.close()
  await service.close()
})
beforeEach(() => void (service.asked.length = 0))

const row = (url: string, score: string, reg_dtime = '2024-05-01 07:00:00', scan_id: unknown = 7) => ({
  url,
  score,
  reg_dtime,
  scan_id,
})
const ask = (
  name: string,
  reports: object[],
  report: Choice = 'never',
  full: Script = () => fixture('domain-report'),
) => {
  service.script = (asked, response) =>
    asked.path === '/v1/domain/reports'
      ? { status: 200, message: 'api success', data: { count: reports.length, reports } }
      : full(asked, response)
  const settings = { maxAgeDays: 30, operations: nameChoices({ report }) }
  return createAskDomain({ client, now: () => now, emit: () => undefined }, settings)(name, straight)
}
const level = async (
  name: string,
  ...given: Parameters<typeof ask> extends [unknown, ...infer Rest] ? Rest : never
) => {
  const { level, reason, score } = judge(
    await ask('example.com', ...given),
    { type: 'domain', value: name, role: 'query' },
    shippedTable,
    now,
  )
  return [level, reason, score].filter((part) => part !== undefined).join(' ')
}
const calls = () => service.asked.map(({ path }) => path.replace('/v1/domain/', ''))

describe('asking about a name', () => {
  it('asks once, for the name given', async () => {
    await ask('example.com', [row('https://www.example.com/', 'Low')])
    expect(service.asked).toMatchObject([
      { method: 'GET', path: '/v1/domain/reports', query: { query: 'example.com' } },
    ])
  })
  it('is not_found where only other hosts were scanned', async () => {
    const reports = [
      row('https://example.com.evil.test/', 'Critical'),
      row('https://sites.example.com/phish', 'Critical'),
    ]
    expect(await level('www.example.com', reports)).toBe('unknown not_found')
    expect(await level('sites.example.com', reports)).toBe('malicious 99')
  })
  it('is not_found, and may be remembered, where no row is about the domain', async () => {
    for (const reports of [[], [row('https://example.com.evil.test/', 'Critical')], [row('', 'Low')]])
      expect(await ask('example.com', reports)).toMatchObject({ status: 'unknown', reason: 'not_found', at: now })
  })
  it('is outdated where the report is too old', async () => {
    expect(await level('example.com', [row('https://example.com/', 'Low', '2024-04-01 00:00:00')])).toBe(
      'unknown outdated',
    )
  })
  it('takes the newest of several', async () => {
    const reports = [
      row('https://example.com/', 'Low', '2024-05-01 00:00:00'),
      row('https://example.com/', 'Dangerous', '2024-05-02 00:00:00'),
      row('https://example.com/', 'Safe', '2024-04-30 00:00:00'),
    ]
    expect(await level('example.com', reports)).toBe('suspicious 75')
  })
  it('belongs to the registrable domain also where the whole host is asked about', async () => {
    const finding = await ask('shop.example.com', [
      row('https://shop.example.com/', 'Low'),
      row('https://example.com/', 'Safe'),
    ])
    expect(finding).toMatchObject({
      facts: { domain: 'example.com', hosts: [{ host: 'shop.example.com' }, { host: 'example.com' }] },
    })
  })
})

describe('the reports of the account', () => {
  const ofAccount = [row('https://login.example.com/', 'Critical', undefined, 9), row('https://example.org/', 'Low')]
  const looking = (chosen: Partial<NameChoices>, reports: object[]) => {
    let time = now
    service.script = ({ path, query }) => {
      const rows = path.endsWith('personal') ? ofAccount.slice(Number(query.offset)) : reports
      return { status: 200, message: 'api success', data: { count: rows.length, reports: rows } }
    }
    const settings = { maxAgeDays: 30, operations: nameChoices(chosen) }
    const asking = createAskDomain({ client, now: () => time, emit: () => undefined }, settings)
    return { look: (name: string) => asking(name, straight), pass: (ms: number) => void (time += ms) }
  }
  it('are next to what others have scanned, read once for all names and again after ten minutes', async () => {
    const { look, pass } = looking({ 'reports/personal': 'always' }, [row('https://example.com/', 'Low')])
    expect(await look('example.com')).toMatchObject({
      operations: ['domain/reports', 'domain/reports/personal'],
      facts: { domain: 'example.com', hosts: [{ host: 'example.com' }, { host: 'login.example.com' }] },
    })
    await look('example.org')
    expect(calls()).toEqual(['reports', 'reports/personal', 'reports'])
    pass(600_000)
    await look('example.net')
    expect(calls().slice(3)).toEqual(['reports', 'reports/personal'])
  })
  it('are asked alone where the others are never asked', async () => {
    const { look } = looking({ reports: 'never', 'reports/personal': 'always' }, [])
    expect(await look('example.com')).toMatchObject({ facts: { hosts: [{ host: 'login.example.com' }] } })
    expect(await look('example.net')).toMatchObject({ status: 'unknown', reason: 'not_found' })
    expect(calls()).toEqual(['reports/personal'])
  })
  it.each([
    ['a name with a good report', [row('https://example.com/', 'Low')], ['reports']],
    ['a name without a report', [], ['reports', 'reports/personal']],
    ['a name with a bad one', [row('https://example.com/', 'Dangerous')], ['reports', 'reports/personal']],
  ])('unclean: of %s', async (_, reports, expected) => {
    await looking({ 'reports/personal': 'unclean' }, reports).look('example.com')
    expect(calls()).toEqual(expected)
  })
})

describe('the full report', () => {
  const dangerous = [row('https://example.com/', 'Dangerous', undefined, 1000001)]
  const low = [row('https://example.com/', 'Low')]
  it.each([
    ['never', dangerous, ['reports']],
    ['accused', dangerous, ['reports', 'report/1000001']],
    ['accused', low, ['reports']],
    ['always', low, ['reports', 'report/7']],
    ['unclean', low, ['reports']],
    ['unclean', [row('https://example.com/', '')], ['reports', 'report/7']],
    ['always', [row('https://example.com/', 'Dangerous', '2020-01-01')], ['reports']],
  ] as const)('asked for %s: %#', async (report, reports, expected) => {
    await ask('example.com', [...reports], report)
    expect(calls()).toEqual(expected)
  })
  it('adds evidence', async () => {
    expect(await level('example.com', dangerous, 'never')).toBe('suspicious 75')
    expect(await level('example.com', dangerous, 'accused')).toBe('malicious 90')
  })
  it.each<[string, Script]>([
    ['cannot be had', () => ({ status: 500, message: 'x' })],
    [
      'is about another name',
      () => ({
        status: 200,
        data: { main_domain_info: { main_domain: 'example.net', domain_score: { score: 'safe' } } },
      }),
    ],
  ])('that %s leaves what its row said', async (_, full) => {
    expect(await level('example.com', dangerous, 'accused', full)).toBe('suspicious 75')
  })
})

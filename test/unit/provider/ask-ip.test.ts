// How an address is asked about: which calls are made, and which are not.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAskIp } from '../../../src/provider/ask-ip.js'
import { shippedTable } from '../../../src/domain/judgement-table.js'
import { addressOperations, type AddressChoices } from '../../../src/domain/operation-choice.js'
import { createIsAccused } from '../../../src/provider/is-accused.js'
import { addressChoices } from '../../support/operation-choices.js'
import type { Client } from '../../../src/provider/client.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import {
  clientFor,
  startScriptedService,
  straight,
  type Script,
  type ScriptedService,
} from '../../support/scripted-service.js'

const hour = 3_600_000
let service: ScriptedService
let client: Client
let now = 0
let told: TelemetryEvent[] = []
beforeAll(async () => {
  service = await startScriptedService(() => ({ status: 200 }))
  client = clientFor(service.baseUrl)
})
afterAll(async () => {
  await client.close()
  await service.close()
})
beforeEach(() => {
  now = Date.UTC(2026, 0, 1)
  told = []
  service.asked.length = 0
})
const asking = (chosen: Partial<AddressChoices>, script: Script) => {
  service.script = script
  const context = { client, now: () => now, emit: (event: TelemetryEvent) => void told.push(event) }
  const isAccused = createIsAccused(shippedTable, () => now)
  const ask = createAskIp(context, { operations: addressChoices(chosen) }, isAccused)
  return (ip: string) => ask(ip, straight)
}
const calls = () => service.asked.map(({ path }) => path.replace('/v1/ip/', ''))
const answers =
  (first: object, second: object = { score: { inbound: 'Low', outbound: 'Low' } }): Script =>
  ({ path, query }) => ({ status: 200, ip: query.ip, ...(path.endsWith('malicious-info') ? first : second) })

describe('asking about an address', () => {
  it.each([
    ['plainly clean', { is_malicious: false, is_vpn: true }, ['malicious-info']],
    ['malicious', { is_malicious: true }, ['malicious-info', 'suspicious_info']],
    ['without a verdict', {}, ['malicious-info', 'suspicious_info']],
    [
      'clean with a category',
      { is_malicious: false, ip_category: [{ type: 'x' }] },
      ['malicious-info', 'suspicious_info'],
    ],
    [
      'clean with scanning records',
      { is_malicious: false, scanning_record: { count: 1 } },
      ['malicious-info', 'suspicious_info'],
    ],
  ])('makes the calls it needs for one that is %s', async (_, first, expected) => {
    const finding = await asking({}, answers(first))('198.51.100.60')
    expect(finding.status).toBe('known')
    expect(calls()).toEqual(expected)
  })
  it('asks once where nothing else is chosen', async () => {
    await asking({ suspicious_info: 'never' }, answers({ is_malicious: true }))('198.51.100.60')
    expect(calls()).toEqual(['malicious-info'])
  })
  it('joins both answers', async () => {
    expect(await asking({}, answers({ is_malicious: true }))('198.51.100.60')).toEqual({
      status: 'known',
      facts: { flags: { is_malicious: true }, categories: [], inbound: 'low', outbound: 'low' },
      source: 'service',
      at: now,
      operations: ['ip/malicious-info', 'ip/suspicious_info'],
      answers: [
        { operation: 'ip/malicious-info', at: now, facts: { flags: { is_malicious: true }, categories: [] } },
        {
          operation: 'ip/suspicious_info',
          at: now,
          facts: { flags: {}, categories: [], inbound: 'low', outbound: 'low' },
        },
      ],
    })
  })
  it.each([
    ['another address', { ip: '198.51.100.61' }],
    ['something that is no address', { ip: 'x' }],
    ['another address below data', { ip: undefined, data: { ip: '198.51.100.61' } }],
  ])('refuses an answer about %s', async (_, body) => {
    const finding = await asking({}, () => ({ status: 200, is_malicious: false, ...body }))('198.51.100.60')
    expect(finding).toEqual({ status: 'unknown', reason: 'bad_answer' })
    expect(told).toMatchObject([{ event: 'provider_call_failed', reason: 'bad_answer' }])
  })
  it('takes an answer about the same address in another spelling', async () => {
    const ask = asking({}, () => ({ status: 200, ip: '2001:DB8:0:0::1', is_malicious: false }))
    expect((await ask('2001:db8::1')).status).toBe('known')
  })
  it('keeps bad news when the second call fails', async () => {
    const ask = asking({}, ({ path }) =>
      path.endsWith('malicious-info') ? { status: 200, is_malicious: true } : { status: 500, message: 'x' },
    )
    expect(await ask('198.51.100.60')).toMatchObject({ status: 'known', facts: { flags: { is_malicious: true } } })
  })
  it('gives no good news when the second call fails, and does not pay for the first one again', async () => {
    let isDown = true
    const ask = asking({}, ({ path }) => {
      if (path.endsWith('malicious-info')) return { status: 200, is_malicious: false, scanning_record: { count: 1 } }
      return isDown ? { status: 500, message: 'x' } : { status: 200, score: { inbound: 'Critical' } }
    })
    expect(await ask('198.51.100.60')).toEqual({ status: 'unknown', reason: 'unavailable' })
    isDown = false
    now += 60_000
    expect(await ask('198.51.100.60')).toMatchObject({
      status: 'known',
      facts: { inbound: 'critical' },
      at: now - 60_000,
    })
    expect(calls()).toEqual(['malicious-info', 'suspicious_info', 'suspicious_info'])
  })
  it.each([
    ['"false" as text', 'false', 'bad_answer'],
    ['"No" as text', 'No', 'bad_answer'],
    ['an object', { value: false }, 'bad_answer'],
    ['a list', [], 'bad_answer'],
    ['2', 2, 'bad_answer'],
    ['"true" as text', 'true', undefined],
    ['0', 0, undefined],
    ['null', null, undefined],
    ['"N/A"', 'N/A', undefined],
  ])('takes is_malicious %s for no good news that it is not', async (_, is_malicious, reason) => {
    const ask = asking({ suspicious_info: 'never' }, () => ({ status: 200, ip: '198.51.100.60', is_malicious }))
    expect(await ask('198.51.100.60')).toMatchObject(
      reason === undefined ? { status: 'known' } : { status: 'unknown', reason },
    )
  })
  it('passes on when to come back', async () => {
    const ask = asking({}, () => ({ status: 400, message: 'still scanning' }))
    expect(await ask('198.51.100.60')).toEqual({ status: 'unknown', reason: 'busy', retryAfterMs: 15_000 })
  })
})

describe('operations by choice', () => {
  const clean = { is_malicious: false }
  const malicious = { is_malicious: true }
  const doubtful = { is_malicious: false, scanning_record: { count: 1 } }
  it.each(addressOperations)('asks %s when it is chosen, by its documented path', async (name) => {
    const first = { 'malicious-info': 'never', suspicious_info: 'never' } as const
    await asking({ ...first, [name]: 'always' }, answers(clean))('198.51.100.60')
    expect(service.asked).toMatchObject([{ method: 'GET', path: `/v1/ip/${name}`, query: { ip: '198.51.100.60' } }])
  })
  it.each<[string, Partial<AddressChoices>, object, readonly string[]]>([
    ['always, also of a clean address', { vpn: 'always' }, clean, ['malicious-info', 'vpn']],
    ['unclean, not of a clean address', { vpn: 'unclean' }, clean, ['malicious-info']],
    ['unclean, of a doubtful address', { vpn: 'unclean' }, doubtful, ['malicious-info', 'suspicious_info', 'vpn']],
    ['accused, of a malicious address', { vpn: 'accused' }, malicious, ['malicious-info', 'suspicious_info', 'vpn']],
    ['accused, not of a clean address', { vpn: 'accused' }, clean, ['malicious-info']],
    [
      'several, each once',
      { data: 'accused', hosting: 'always', summary: 'unclean' },
      malicious,
      ['malicious-info', 'hosting', 'suspicious_info', 'summary', 'data'],
    ],
  ])('%s', async (_, chosen, first, expected) => {
    await asking(chosen, answers(first))('198.51.100.60')
    expect(calls()).toEqual(expected)
  })
  it('takes bad scores for a reason to ask more', async () => {
    const script = answers(clean, { score: { inbound: 'Critical', outbound: 'Low' } })
    await asking({ summary: 'always', suspicious_info: 'never', vpn: 'unclean' }, script)('198.51.100.60')
    expect(calls()).toEqual(['malicious-info', 'summary', 'vpn'])
  })
  it('makes do without an operation that finds nothing, and says not_found where none finds anything', async () => {
    const script: Script = ({ path }) =>
      path.endsWith('vpn') ? { status: 404, message: 'no' } : { status: 200, is_malicious: false }
    expect(await asking({ vpn: 'always' }, script)('198.51.100.60')).toMatchObject({
      status: 'known',
      operations: ['ip/malicious-info', 'ip/vpn'],
    })
    const nothing = asking({ vpn: 'always' }, () => ({ status: 404, message: 'no' }))
    expect(await nothing('198.51.100.60')).toMatchObject({ status: 'unknown', reason: 'not_found', at: now })
  })
  it('keeps an accusation when a call for more about it fails', async () => {
    const script: Script = ({ path }) =>
      path.endsWith('data') ? { status: 500, message: 'x' } : { status: 200, is_malicious: true }
    expect(await asking({ data: 'accused' }, script)('198.51.100.60')).toMatchObject({
      status: 'known',
      operations: ['ip/malicious-info', 'ip/suspicious_info'],
    })
  })
})

describe('IPv6 that the service refuses', () => {
  const refuses: Script = ({ query }) =>
    query.ip?.includes(':') ? { status: 400, message: 'Invalid IP Address.' } : { status: 200, is_malicious: false }

  it('is not asked about for an hour after five refusals in a row, and that is told', async () => {
    const ask = asking({}, refuses)
    for (let i = 1; i <= 5; i++) expect(await ask(`2001:db8::${i}`)).toMatchObject({ reason: 'bad_input' })
    expect(told.filter(({ event }) => event === 'ipv6_lookups_paused')).toEqual([
      { event: 'ipv6_lookups_paused', forMs: hour },
    ])
    expect(await ask('2001:db8::6')).toEqual({ status: 'unknown', reason: 'cooling_down', retryAfterMs: hour })
    expect((await ask('198.51.100.60')).status).toBe('known')
    expect(calls().length).toBe(6)
    now += hour
    expect(await ask('2001:db8::7')).toMatchObject({ reason: 'bad_input' })
    expect(await ask('2001:db8::8')).toMatchObject({ reason: 'cooling_down' })
    expect(calls().length).toBe(7)
  })
  it('starts counting anew with an answer', async () => {
    const ask = asking({}, (asked, response) =>
      asked.query.ip === '2001:db8::5' ? { status: 200, is_malicious: false } : refuses(asked, response),
    )
    for (let i = 1; i <= 9; i++) await ask(`2001:db8::${i}`)
    expect(calls().length).toBe(9)
    expect(told.some(({ event }) => event === 'ipv6_lookups_paused')).toBe(false)
  })
  it('does not count refusals of IPv4', async () => {
    const ask = asking({}, () => ({ status: 400, message: 'Invalid IP Address.' }))
    for (let i = 1; i <= 9; i++) await ask(`198.51.100.${i}`)
    expect(calls().length).toBe(9)
  })
})

import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { createRetroAlert, createRetroSummary } from '../../../src/alerts/retro-alert.js'
import { loadRules } from '../../../src/alerts/load-rules.js'
import { readSchema } from '../../support/annotation-schema.js'

type RetroSeen = Parameters<typeof createRetroAlert>[0]

const validate = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': true } }).compile(
  readSchema('alert'),
)
const { rules } = await loadRules({ paths: [], bundled: true, key: 'threatweave' })
const rule = rules.find(({ title }) => title === 'Indicator Seen Earlier Is Malicious Now') ?? expect.fail('no rule')
const day = 86_400_000
const now = Date.UTC(2026, 10, 15, 12)
const about = (value: string, partition = 'firewall.eu/3'): RetroSeen => ({
  partition,
  match: {
    rule,
    traffic: { direction: 'outbound', action: 'allowed' },
    why: [{ field: 'threatweave.verdict', value: 'malicious' }],
  },
  indicator: { type: value.includes('example') ? 'domain' : 'ip', value },
  verdict: {
    level: 'malicious',
    flags: {},
    because: 'listed in c2 as 192.0.2.0/28',
    source: 'feed:c2',
    feed: 'c2',
    entry: '192.0.2.0/28',
    at: now,
  },
  seen: {
    count: 12,
    first: now - 2 * day,
    last: now - 5,
    peers: ['10.0.0.1', '10.0.0.2'],
    otherSightings: 3,
    offsets: [40, 7_000],
    traffic: [{ direction: 'outbound', action: 'allowed' }],
    kinds: [{ seen_as: 'called', action: 'allowed' }],
  },
})

it('says what was seen how often, when and by whom, and how to look at it', () => {
  const alert = createRetroAlert(about('192.0.2.1'), now)
  expect(validate(JSON.parse(JSON.stringify(alert))), JSON.stringify(validate.errors)).toBe(true)
  expect(alert.related).toEqual({ ip: ['192.0.2.1', '10.0.0.1', '10.0.0.2'] })
  expect(alert.threatweave).toMatchObject({
    kind: 'retro',
    count: 12,
    first_seen: '2026-11-13T12:00:00.000Z',
    last_seen: '2026-11-15T11:59:59.995Z',
    peers: ['10.0.0.1', '10.0.0.2'],
    other_sightings: 3,
    origins: ['firewall.eu/3/40', 'firewall.eu/3/7000'],
    feed: 'c2',
    direction: 'outbound',
    action: 'allowed',
    matched: [{ field: 'threatweave.verdict', value: 'malicious' }],
    replay: 'threatweave replay --topic firewall.eu --partition 3 --from 40 --to 7001',
    summary:
      '192.0.2.1 is malicious now: listed in c2 as 192.0.2.0/28; seen in 12 events since 2026-11-13T12:00:00.000Z, when it was clean or unknown',
  })
})

it('has the same id for the same indicator and partition, and one group for all partitions', () => {
  const [one, again, other] = ['firewall/0', 'firewall/0', 'firewall/1'].map((partition) =>
    createRetroAlert(about('a.example.com', partition), now),
  )
  expect(again?.event.id).toBe(one?.event.id)
  expect(other?.event.id).not.toBe(one?.event.id)
  expect(other?.threatweave.group_id).toBe(one?.threatweave.group_id)
})

it('sums up what has no alert of its own', () => {
  const many = Array.from({ length: 60 }, (_, n) => about(`192.0.2.${n}`))
  const alert = createRetroSummary(rule, many, now)
  expect(validate(JSON.parse(JSON.stringify(alert))), JSON.stringify(validate.errors)).toBe(true)
  expect(alert.threatweave).toMatchObject({
    kind: 'retro_summary',
    count: 720,
    indicators_omitted: 10,
    origins_omitted: 92,
  })
  expect(alert.threatweave.indicators).toHaveLength(50)
})

it('sums up a swap of any size', () => {
  const days = Array.from({ length: 28 }, (_, n) => n)
  const one = about('192.0.2.1')
  const many = Array.from({ length: 6_000 }, (_, n) => ({
    ...one,
    indicator: { type: 'ip', value: `10.${n >> 8}.${n & 255}.1` } as const,
    seen: { ...one.seen, offsets: days.map((day) => 28 * n + day) },
  }))
  expect(createRetroSummary(rule, many, now).threatweave.replay).toMatch(/ --from 0 --to 168000$/)
})

it('sums up what two processes have seen under two ids', () => {
  const [one, other] = ['firewall/0', 'firewall/1'].map((partition) =>
    createRetroSummary(rule, [about('192.0.2.1', partition)], now),
  )
  expect(one?.event.id).not.toBe(other?.event.id)
})

it('says country and network of an address', () => {
  const geo = { country: 'NL', as: { number: 64_500, name: 'EXAMPLE-HOSTING' } }
  const alert = createRetroAlert({ ...about('192.0.2.1'), geo }, now)
  expect(validate(JSON.parse(JSON.stringify(alert))), JSON.stringify(validate.errors)).toBe(true)
  expect(alert.threatweave).toMatchObject(geo)
})

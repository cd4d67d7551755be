// Records of the verdicts topic: what we write is read back, and nothing else is believed.
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/domain/finding.js'
import type { Indicator } from '../../../src/domain/indicator.js'
import type { Header } from '../../../src/kafka/wire/record.js'
import { isShareable, readVerdict, writeVerdict } from '../../../src/verdicts/verdict-record.js'

const at = Date.parse('2026-11-17T08:00:00.000Z')
const topic = { topic: 'verdicts', partitions: 3, key: 'a key of thirty-two characters!!' }
const indicator: Indicator = { type: 'ip', value: '203.0.113.66' }
const finding: Finding = {
  status: 'known',
  source: 'service',
  at,
  operations: ['ip/malicious-info', 'ip/suspicious_info'],
  facts: {
    flags: { is_malicious: true, is_tor: false },
    inbound: 'critical',
    categories: ['scanner'],
    idsHits: 3,
    idsLatest: at - 1000,
    listings: [{ feed: 'abuse', entry: '203.0.113.66', level: 'malicious', categories: [], score: 90 }],
  },
}
const name: Finding = {
  status: 'known',
  source: 'service',
  at,
  operations: ['domain/reports', 'domain/report'],
  facts: {
    flags: {},
    categories: [],
    domain: 'bad.example',
    hosts: [{ host: 'www.bad.example', at, scanId: '7', rating: 'dangerous', issues: ['phishing'], dgaScore: 0.5 }],
  },
}
const ofSeveral: Finding = {
  ...finding,
  facts: {
    flags: { is_malicious: true, is_vpn: true },
    categories: [],
    details: { openPorts: [443], owner: 'Example' },
  },
  operations: ['ip/malicious-info', 'ip/vpn', 'ip/data'],
  answers: [
    { operation: 'ip/malicious-info', at, facts: { flags: { is_malicious: true }, categories: [] } },
    { operation: 'ip/vpn', at: at + 1000, facts: { flags: { is_vpn: true }, categories: [] } },
    { operation: 'ip/data', at: at + 2000 },
  ],
}
const unknown: Finding = { status: 'unknown', reason: 'not_found', at, operations: ['ip/malicious-info'] }

type Changes = {
  readonly key?: string
  readonly value?: (text: string) => string
  readonly headers?: readonly Header[]
  readonly appended?: number
  readonly by?: typeof topic
}

/** What is read of a record that somebody changed, or of ours without changes. */
const read = ({ key, value, headers, appended = at, by = topic }: Changes = {}): unknown => {
  const written = writeVerdict(by, { indicator, finding, by: 'tw@one' })!
  return readVerdict(topic, {
    key: key === undefined ? written.key : Buffer.from(key),
    value: value ? Buffer.from(value(String(written.value))) : written.value,
    headers: headers ?? written.headers,
    timestamp: String(appended),
  })
}

const schema = new URL('../../../schemas/verdict.schema.json', import.meta.url)
const isValid = new Ajv({ formats: { 'date-time': true } }).compile(JSON.parse(readFileSync(schema, 'utf8')) as object)

describe('a record of the verdicts topic', () => {
  it.each([
    [indicator, finding],
    [{ type: 'domain', value: 'bad.example' } as const, name],
    [indicator, unknown],
    [indicator, ofSeveral],
  ])('is read back as it was written: %j', (about, found) => {
    const verdict = { indicator: about, finding: found, by: 'tw@one' }
    const record = writeVerdict(topic, verdict)!
    expect(isValid(JSON.parse(String(record.value)))).toBe(true)
    expect(record.partition).toBeLessThan(3)
    expect(writeVerdict(topic, verdict)?.partition).toBe(record.partition)
    expect(readVerdict(topic, record)).toEqual(verdict)
  })

  it.each<[string, Changes, string]>([
    ['signed with another key', { by: { ...topic, key: 'another key of thirty-two characters' } }, 'bad_signature'],
    ['signed for another topic', { by: { ...topic, topic: 'other' } }, 'bad_signature'],
    ['about another indicator', { key: 'service|ip:198.51.100.1' }, 'bad_signature'],
    [
      'with other facts',
      { value: (text) => text.replace('"is_malicious":true', '"is_malicious":false') },
      'bad_signature',
    ],
    ['obtained later', { value: (text) => text.replace('2026-11-17', '2026-11-18') }, 'bad_signature'],
    ['without a signature', { headers: [] }, 'unsigned'],
    ['cut off', { value: (text) => text.slice(0, -5) }, 'malformed'],
    ['giant', { value: (text) => text + ' '.repeat(4_096) }, 'too_large'],
    ['from the future', { appended: at - 60_001 }, 'future'],
  ])('is not believed when it is %s', (_, changes, refused) => {
    expect(read(changes)).toEqual({ refused })
  })

  it('leaves out what each operation answered where it would be too large with it', () => {
    const issues = Array.from({ length: 40 }, (_, nth) => `${nth} `.padEnd(45, 'x'))
    const host = { host: 'www.bad.example', at, issues }
    const facts = { flags: {}, categories: [], domain: 'bad.example', hosts: [host] }
    const answers = ['domain/reports', 'domain/report'].map((operation) => ({ operation, at, facts }))
    const large: Finding = { ...name, facts, answers }
    const about: Indicator = { type: 'domain', value: 'bad.example' }
    const record = writeVerdict(topic, { indicator: about, finding: large, by: 'x' })!
    expect(readVerdict(topic, record)).toEqual({ indicator: about, by: 'x', finding: { ...name, facts } })
  })
  it.each([
    ['other operations', [{ operation: 'ip/vpn', obtained_at: new Date(at).toISOString() }]],
    ['more of them', Array(2).fill({ operation: 'ip/malicious-info', obtained_at: new Date(at).toISOString() })],
    ['an older time than the whole', [{ operation: 'ip/malicious-info', obtained_at: new Date(at - 1).toISOString() }]],
    ['facts that are none', [{ operation: 'ip/malicious-info', obtained_at: new Date(at).toISOString(), facts: 7 }]],
  ])('is not believed with answers of %s', (_, answers) => {
    expect(bare({ answers })).toEqual({ refused: 'malformed' })
  })

  it('is believed up to a minute ahead of the broker, and long after it was obtained', () => {
    expect(read({ appended: at - 60_000 })).toMatchObject({ indicator })
    expect(read({ appended: at + 30 * 86_400_000 })).toMatchObject({ indicator })
  })

  const open = { topic: 'verdicts', partitions: 1, key: '' }
  const bare = (members: object, key = 'service|ip:203.0.113.66'): unknown =>
    readVerdict(open, {
      key: Buffer.from(key),
      value: Buffer.from(
        JSON.stringify({
          schema_version: 1,
          obtained_at: new Date(at).toISOString(),
          by: 'x',
          operations: ['ip/malicious-info'],
          facts: { flags: {}, categories: [] },
          ...members,
        }),
      ),
      headers: [],
      timestamp: String(at),
    })

  it('needs no signature where there is no key', () => {
    expect(bare({})).toMatchObject({ indicator, finding: { status: 'known' } })
  })

  it.each([
    ['another version', { schema_version: 2 }, undefined, 'version'],
    ['another source', {}, 'feed:own|ip:203.0.113.66', 'malformed'],
    ['an address in another spelling', {}, 'service|ip:203.0.113.066', 'malformed'],
    ['a name in another spelling', {}, 'service|domain:BAD.example', 'malformed'],
    ['an operation that is not shared', { operations: ['domain/scan'] }, undefined, 'malformed'],
    ['no operation', { operations: [] }, undefined, 'malformed'],
    ['an error', { facts: undefined, reason: 'timeout' }, undefined, 'malformed'],
    ['a flag that is none', { facts: { flags: { is_good: true }, categories: [] } }, undefined, 'malformed'],
    ['a flag of the wrong type', { facts: { flags: { is_malicious: 'no' }, categories: [] } }, undefined, 'malformed'],
    [
      'a member that facts do not have',
      { facts: { flags: {}, categories: [], verdict: 'clean' } },
      undefined,
      'malformed',
    ],
    ['a rating that is none', { facts: { flags: {}, categories: [], inbound: 'fine' } }, undefined, 'malformed'],
    ['hosts of the wrong type', { facts: { flags: {}, categories: [], hosts: ['x'] } }, undefined, 'malformed'],
    ['a time that is none', { obtained_at: 'yesterday' }, undefined, 'malformed'],
  ])('is not believed with %s', (_, members, key, refused) => {
    expect(bare(members, key)).toEqual({ refused })
  })

  it('is not believed with a member that is a path into a prototype', () => {
    const value = `{"schema_version":1,"obtained_at":"${new Date(at).toISOString()}","by":"x","operations":["ip/malicious-info"],"facts":{"flags":{},"categories":[],"__proto__":{"inbound":"safe"}}}`
    expect(
      readVerdict(open, {
        key: Buffer.from('service|ip:203.0.113.66'),
        value: Buffer.from(value),
        headers: [],
        timestamp: String(at),
      }),
    ).toEqual({ refused: 'malformed' })
  })

  it('is not written where it is larger than 4 KiB', () => {
    const categories = Array.from({ length: 90 }, (_, n) => `category ${n} ${'x'.repeat(50)}`)
    const large: Finding = { ...finding, facts: { flags: {}, categories } }
    expect(writeVerdict(topic, { indicator, finding: large, by: '' })).toBeUndefined()
  })
})

describe('what is shared', () => {
  it.each<[string, Finding, boolean]>([
    ['an answer', finding, true],
    ['that nothing is known', unknown, true],
    ['an error', { status: 'unknown', reason: 'timeout' }, false],
    ['what a feed says', { ...finding, source: 'feed:own' }, false],
    ['an answer while a feed of the gateway is missing', { ...finding, isFeedMissing: true }, false],
    ['what is past its life', { ...finding, stale: true }, false],
    ['a scan', { ...name, operations: ['domain/reports', 'domain/scan/private'] }, false],
    ['what says not by which operations it was obtained', { ...finding, operations: [] }, false],
  ])('%s: %s', (_, found, isShared) => {
    expect(isShareable(found)).toBe(isShared)
  })
})

describe('a record of a source', () => {
  const bySource: Finding = {
    status: 'known',
    source: 'source:abuseipdb',
    at,
    operations: ['abuseipdb'],
    facts: {
      flags: {},
      categories: [],
      described: { is_tor: true },
      listings: [
        {
          feed: 'abuseipdb',
          entry: '203.0.113.66',
          level: 'malicious',
          score: 85,
          categories: ['c2'],
          evidence: 'score 100',
          at,
        },
      ],
    },
  }
  const clears: Finding = { ...bySource, facts: { flags: {}, categories: [], clearedBy: ['abuseipdb'] } }
  const nothing: Finding = { status: 'unknown', reason: 'not_found', at, operations: ['abuseipdb'] }
  const recordOf = (said: Finding) => {
    const record = writeVerdict(topic, { indicator, finding: said, by: 'me' })!
    return { key: record.key as Buffer, value: record.value as Buffer, headers: record.headers, timestamp: String(at) }
  }

  it.each([
    ['accuses', bySource],
    ['says clean', clears],
    ['knows nothing', nothing],
  ])('that %s has a key of its own and is read back', (_, said) => {
    const record = recordOf(said)
    expect(isShareable(said)).toBe(true)
    expect(record.key.toString()).toBe('abuseipdb|ip:203.0.113.66')
    expect(readVerdict(topic, record as never)).toMatchObject({ indicator, finding: said })
  })

  it.each<[string, Finding]>([
    ['says what only the provider may', { ...bySource, facts: { ...bySource.facts, flags: { is_malicious: false } } }],
    ['rates', { ...bySource, facts: { ...bySource.facts, inbound: 'safe' } }],
    [
      'accuses in the name of another',
      {
        ...bySource,
        facts: {
          flags: {},
          categories: [],
          listings: [{ feed: 'other', entry: '203.0.113.66', level: 'malicious', categories: [] }],
        },
      },
    ],
    ['clears in the name of another', { ...clears, facts: { ...clears.facts, clearedBy: ['other'] } }],
    ['is stale', { ...bySource, stale: true }],
  ])('that %s is neither shared nor believed', (_, said) => {
    expect(isShareable(said)).toBe(false)
    const unsigned = { ...topic, key: '' }
    const record = writeVerdict(unsigned, { indicator, finding: said, by: 'me' })!
    if (said.status === 'known' && said.stale !== true)
      expect(readVerdict(unsigned, { ...record, timestamp: String(at) })).toEqual({ refused: 'malformed' })
  })

  it('cannot pass for the provider by its key, nor the provider for it', () => {
    const unsigned = { ...topic, key: '' }
    const record = writeVerdict(unsigned, { indicator, finding: bySource, by: 'me' })!
    const renamed = (key: string) => readVerdict(unsigned, { ...record, key: Buffer.from(key), timestamp: String(at) })
    expect(renamed('service|ip:203.0.113.66')).toEqual({ refused: 'malformed' })
    expect(renamed('otx|ip:203.0.113.66')).toEqual({ refused: 'malformed' })
    expect(renamed('../x|ip:203.0.113.66')).toEqual({ refused: 'malformed' })
  })
})

// The gate: what may be asked about, what only local feeds may see, and what stays, each with its reason.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRange } from '../../../src/domain/address.js'
import type { Decision, GateOptions, IndicatorList } from '../../../src/domain/decision.js'
import type { Finding } from '../../../src/domain/finding.js'
import type { Indicator } from '../../../src/domain/indicator.js'
import type { Ask, Lookup } from '../../../src/domain/lookup.js'
import { createNameSet } from '../../../src/domain/name-set.js'
import { hasPublicSuffix } from '../../../src/domain/public-suffix.js'
import { createRangeSet } from '../../../src/domain/range-set.js'
import { kindOf } from '../../../src/domain/reason.js'
import { roles, type Evidence, type Role } from '../../../src/domain/sighting.js'
import { createDecide, gate } from '../../../src/lookup/gate.js'

// Addresses of the documentation ranges are special, so the rules for ordinary ones need some that are not.
const ordinary = '198.200.1.1'
const ordinary6 = '2a00:db8::1'

const ranges = (...texts: string[]): GateOptions['ownRanges'] =>
  createRangeSet(texts.map(parseRange).filter((range) => range !== undefined))
const names = (...texts: string[]): GateOptions['internalSuffixes'] =>
  createNameSet(texts.map((name) => ({ name, below: true })))
const exactNames = (...texts: string[]): GateOptions['internalSuffixes'] =>
  createNameSet(texts.map((name) => ({ name, below: false })))
const list = (parts: Partial<IndicatorList>): IndicatorList => ({ ranges: ranges(), names: names(), ...parts })

const brief = (decision: Decision): string =>
  decision.decision === 'lookup' ? `lookup ${decision.ask.value}` : `${decision.decision} ${decision.reason}`
const ofAddress = (
  value: string,
  role: Role,
  options: Partial<GateOptions> = {},
  evidence: Evidence = 'field',
): string => brief(createDecide(options)({ type: 'ip', value, field: 'f', role, evidence }))
const ofName = (value: string, role: Role, options: Partial<GateOptions> = {}, evidence: Evidence = 'field'): string =>
  brief(createDecide(options)({ type: 'domain', value, field: 'f', role, evidence }))

describe('decide about addresses', () => {
  it.each([
    [ordinary, `lookup ${ordinary}`],
    [ordinary6, `lookup ${ordinary6}`],
    ['10.0.0.1', 'skip private_address'],
    ['100.64.0.1', 'skip private_address'],
    ['fd00::1', 'skip private_address'],
    ['fe80::1', 'skip private_address'],
    ['192.0.2.1', 'skip special_address'],
    ['224.0.0.251', 'skip special_address'],
    ['64:ff9b::808:808', 'skip special_address'],
    ['2002:808:808::1', 'skip special_address'],
    ['2001:0:808:808::1', 'skip special_address'],
    ['not an address', 'skip bad_input'],
  ])('%s: %s', (value, expected) => {
    expect(ofAddress(value, 'source')).toBe(expected)
  })

  it('asks about addresses in free text', () => {
    expect(ofAddress(ordinary, 'other', {}, 'text')).toBe(`lookup ${ordinary}`)
  })

  const own = { ownRanges: ranges(`${ordinary}/24`) }
  const allow = { allow: list({ ranges: ranges(`${ordinary}/24`) }) }
  const deny = { deny: list({ ranges: ranges(`${ordinary}/24`) }) }
  const everything = {
    ownRanges: ranges('0.0.0.0/0'),
    allow: list({ ranges: ranges('0.0.0.0/0') }),
    deny: list({ ranges: ranges('0.0.0.0/0') }),
  }
  it.each<[string, string, Role, Partial<GateOptions>, string]>([
    ['private before all', '10.0.0.1', 'observer', everything, 'skip private_address'],
    ['special before all', '192.0.2.1', 'observer', everything, 'skip special_address'],
    ['own before role and allow', ordinary, 'observer', { ...own, ...allow }, 'skip own_range'],
    ['deny as own', ordinary, 'source', deny, 'skip own_range'],
    ['deny before allow', ordinary, 'source', { ...deny, ...allow }, 'skip own_range'],
    ['role before allow', ordinary, 'observer', allow, 'skip observer'],
    ['observer', ordinary, 'observer', {}, 'skip observer'],
    ['translated', ordinary, 'translated', {}, 'skip translated'],
    ['allow before asking', ordinary, 'destination', allow, 'skip allow_listed'],
    ['a neighbour of own', '198.200.2.1', 'source', own, 'lookup 198.200.2.1'],
  ])('%s: %s as %s', (_, value, role, options, expected) => {
    expect(ofAddress(value, role, options)).toBe(expected)
  })
})

describe('decide about names', () => {
  it.each([
    ['www.example.com', 'lookup example.com'],
    ['example.com', 'lookup example.com'],
    ['a.b.example.co.uk', 'lookup example.co.uk'],
    ['a.b.github.io', 'lookup b.github.io'],
    ['github.io', 'lookup github.io'],
    ['co.uk', 'skip internal_name'],
    ['com.au', 'skip internal_name'],
    ['server', 'skip internal_name'],
    ['_tcp.com', 'skip internal_name'],
    ['server.local', 'skip internal_name'],
    ['server.internal', 'skip internal_name'],
    ['server.lan', 'skip internal_name'],
    ['server.corp', 'skip internal_name'],
    ['server.home', 'skip internal_name'],
    ['server.home.arpa', 'skip internal_name'],
    ['2.0.192.in-addr.arpa', 'skip internal_name'],
    ['server.intranet', 'skip internal_name'],
    ['server.private', 'skip internal_name'],
    ['server.localdomain', 'skip internal_name'],
    ['server.localhost', 'skip internal_name'],
    ['www.test', 'skip internal_name'],
    ['www.example', 'skip internal_name'],
    ['www.invalid', 'skip internal_name'],
    ['abcdefgh.onion', 'skip internal_name'],
    ['www.alt', 'skip internal_name'],
    ['server.nosuchsuffix', 'skip internal_name'],
    ['fritz.box', 'skip internal_name'],
    ['other.box', 'lookup other.box'],
  ])('%s: %s', (value, expected) => {
    expect(ofName(value, 'query')).toBe(expected)
  })

  it.each<[string, Role, string]>([
    ['wpad.example.com', 'query', 'feeds feeds_only'],
    ['wpad.branch.example.com', 'other', 'feeds feeds_only'],
    ['isatap.example.com', 'query', 'feeds feeds_only'],
    ['_sip._tcp.example.com', 'query', 'feeds feeds_only'],
    ['_ldap._tcp.site._sites.dc._msdcs.example.com', 'query', 'feeds feeds_only'],
    ['gc._msdcs.example.com', 'query', 'feeds feeds_only'],
    ['lb._dns-sd._udp.example.com', 'query', 'feeds feeds_only'],
    // Somebody went there: not discovery.
    ['wpad.example.com', 'url', 'lookup example.com'],
    ['wpad.example.com', 'destination', 'lookup example.com'],
    // Registered under that very name.
    ['wpad.com', 'query', 'lookup wpad.com'],
    // Labels that say which record is meant, and what only looks like discovery.
    ['_dmarc.example.com', 'query', 'lookup example.com'],
    ['s1._domainkey.mail.example.com', 'query', 'lookup example.com'],
    ['_a83bd01c._tcp.example.com', 'query', 'lookup example.com'],
    ['a83bd01c._msdcs.example.com', 'query', 'lookup example.com'],
    ['wpad-1.example.com', 'query', 'lookup example.com'],
  ])('service names: %s as %s: %s', (value, role, expected) => {
    expect(ofName(value, role)).toBe(expected)
  })

  it.each([
    ['www.example.com', 'lookup www.example.com'],
    ['example.com', 'lookup example.com'],
    ['s1._domainkey.mail.example.com', 'lookup mail.example.com'],
    ['my_host.example.com', 'lookup my_host.example.com'],
  ])('asks about the whole host when told: %s: %s', (value, expected) => {
    expect(ofName(value, 'query', { domainAsk: 'host' })).toBe(expected)
  })

  it('leaves names of free text to local feeds, unless told', () => {
    expect(ofName('www.example.com', 'other', {}, 'text')).toBe('feeds feeds_only')
    expect(ofName('www.example.com', 'other', { askFreeText: true }, 'text')).toBe('lookup example.com')
  })

  it('looks up what an outside client wrote in local feeds only, even if free text may be asked about', () => {
    expect(ofName('www.example.com', 'claimed', { askFreeText: true })).toBe('feeds feeds_only')
    expect(ofAddress(ordinary, 'claimed')).toBe('feeds feeds_only')
    expect(ofAddress('10.1.2.3', 'claimed')).toBe('skip private_address')
  })

  const suffix = { internalSuffixes: names('example.com') }
  const allow = { allow: list({ names: names('example.com') }) }
  const deny = { deny: list({ names: names('example.com') }) }
  it.each<[string, string, Role, Evidence, Partial<GateOptions>, string]>([
    ['own suffix', 'a.example.com', 'query', 'field', suffix, 'skip internal_name'],
    ['own suffix itself', 'example.com', 'query', 'field', suffix, 'skip internal_name'],
    ['a name that only ends alike', 'myexample.com', 'query', 'field', suffix, 'lookup myexample.com'],
    [
      'own suffix before role and allow',
      'a.example.com',
      'observer',
      'text',
      { ...suffix, ...allow },
      'skip internal_name',
    ],
    ['deny as internal', 'a.example.com', 'query', 'field', deny, 'skip internal_name'],
    ['deny before allow', 'a.example.com', 'query', 'field', { ...deny, ...allow }, 'skip internal_name'],
    ['reserved before role', 'fw.local', 'observer', 'field', {}, 'skip internal_name'],
    ['observer before allow', 'a.example.com', 'observer', 'field', allow, 'skip observer'],
    ['translated', 'a.example.com', 'translated', 'field', {}, 'skip translated'],
    ['allow before free text', 'a.example.com', 'other', 'text', allow, 'skip allow_listed'],
    ['allow before asking', 'a.example.com', 'query', 'field', allow, 'skip allow_listed'],
  ])('%s: %s as %s in %s', (_, value, role, evidence, options, expected) => {
    expect(ofName(value, role, options, evidence)).toBe(expected)
  })

  it('asks about a name that looks internal where the operator says that it is public, as it is', () => {
    const declared = { publicSuffixes: names('corp', 'example') }
    expect(ofName('dc01.corp', 'query', declared)).toBe('lookup dc01.corp')
    expect(ofName('a.b.example', 'query', declared)).toBe('lookup a.b.example')
    expect(ofName('fileserver.internal', 'query', declared)).toBe('skip internal_name')
    const withOwn = { ...declared, internalSuffixes: names('hr.corp'), deny: list({ names: names('pay.corp') }) }
    expect(ofName('a.hr.corp', 'query', withOwn)).toBe('skip internal_name')
    expect(ofName('a.pay.corp', 'query', withOwn)).toBe('skip internal_name')
  })

  it('holds the lists for the name that would leave as well as for the name that was seen', () => {
    const denyExact = { deny: list({ names: exactNames('example.com') }) }
    const allowExact = { allow: list({ names: exactNames('example.com') }) }
    expect(ofName('www.example.com', 'query', denyExact)).toBe('skip internal_name')
    expect(ofName('www.example.com', 'query', allowExact)).toBe('skip allow_listed')
    expect(ofName('www.example.com', 'query', { ...allowExact, domainAsk: 'host' })).toBe('lookup www.example.com')
  })

  it('never lets out a name without a public suffix, or under a reserved or own one, whatever the sighting', () => {
    const label = fc.constantFrom(
      'a',
      'www',
      '_tcp',
      '_sip',
      'wpad',
      'corp',
      'local',
      'com',
      'co',
      'uk',
      'github',
      'io',
      'onion',
      'example',
    )
    const decide = createDecide({ internalSuffixes: names('example.com'), askFreeText: true })
    fc.assert(
      fc.property(
        fc.array(label, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(...roles),
        fc.constantFrom<Evidence>('field', 'text'),
        (labels, role, evidence) => {
          const decision = decide({ type: 'domain', value: labels.join('.'), field: 'f', role, evidence })
          if (decision.decision !== 'lookup') {
            expect(kindOf(decision.reason)).toBe('policy')
            return
          }
          expect(hasPublicSuffix(decision.ask.value)).toBe(true)
          expect(decision.ask.value).toMatch(/\.(com|co|uk|io)$/)
          expect(decision.ask.value).not.toMatch(/(^|\.)example\.com$|(^|\.)_/)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('gate', () => {
  const listen = (): { asked: [Indicator, Ask][]; inner: Lookup } => {
    const asked: [Indicator, Ask][] = []
    const inner: Lookup = (indicator, ask): Finding => {
      asked.push([indicator, ask])
      return { status: 'unknown', reason: 'not_found' }
    }
    return { asked, inner }
  }
  const ask: Ask = { role: 'source', action: 'allowed', evidence: 'field' }

  it('answers at once with the reason, and asks nobody, when a sighting is skipped', () => {
    const { asked, inner } = listen()
    expect(gate(createDecide())(inner)({ type: 'ip', value: '10.0.0.1' }, ask)).toEqual({
      status: 'unknown',
      reason: 'private_address',
    })
    expect(asked).toEqual([])
  })

  it('hands on the indicator as it was seen, with the decision, so that feeds match the host itself', () => {
    const { asked, inner } = listen()
    const lookup = gate(createDecide())(inner)
    expect(lookup({ type: 'domain', value: 'www.example.com' }, ask)).toEqual({
      status: 'unknown',
      reason: 'not_found',
    })
    const decision: Decision = { decision: 'lookup', ask: { type: 'domain', value: 'example.com' } }
    expect(asked).toEqual([
      [
        { type: 'domain', value: 'www.example.com' },
        { ...ask, decision },
      ],
    ])
  })

  it('hands on what only local feeds may see', () => {
    const { asked, inner } = listen()
    void gate(createDecide())(inner)({ type: 'domain', value: 'www.example.com' }, { ...ask, evidence: 'text' })
    expect(asked.map(([, { decision }]) => decision)).toEqual([{ decision: 'feeds', reason: 'feeds_only' }])
  })

  it('keeps to a decision that was made before', () => {
    const { asked, inner } = listen()
    const lookup = gate(() => {
      throw new Error('decided twice')
    })(inner)
    expect(
      lookup({ type: 'ip', value: ordinary }, { ...ask, decision: { decision: 'skip', reason: 'observer' } }),
    ).toEqual({ status: 'unknown', reason: 'observer' })
    expect(asked).toEqual([])
    const decided: Ask = { ...ask, decision: { decision: 'lookup', ask: { type: 'ip', value: ordinary } } }
    void lookup({ type: 'ip', value: ordinary }, decided)
    expect(asked).toEqual([[{ type: 'ip', value: ordinary }, decided]])
  })
})

describe('an entry of the allow list that ends at a date', () => {
  const december = Date.UTC(2026, 11, 1)
  const address = parseRange('203.0.113.7')
  let time = december - 1
  const decide = createDecide({
    documentation: true,
    now: () => time,
    allow: {
      ranges: createRangeSet([]),
      names: createNameSet([]),
      expiring: [
        {
          until: december,
          ranges: createRangeSet(address ? [address] : []),
          names: createNameSet([{ name: 'shop.example.com', below: false }]),
        },
      ],
    },
  })
  const seen = (type: 'ip' | 'domain', value: string): Decision =>
    decide({ type, value, field: 'destination', role: 'destination', evidence: 'field' })

  it('counts before it, and no longer from then on', () => {
    expect([seen('ip', '203.0.113.7'), seen('domain', 'shop.example.com')]).toEqual([
      { decision: 'skip', reason: 'allow_listed', until: december },
      { decision: 'skip', reason: 'allow_listed', until: december },
    ])
    time = december
    expect([seen('ip', '203.0.113.7').decision, seen('domain', 'shop.example.com').decision]).toEqual([
      'lookup',
      'lookup',
    ])
  })
})

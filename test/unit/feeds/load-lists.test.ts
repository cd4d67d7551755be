// Loading the gate: settings and list files become what the gate decides by, or every problem at once.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readAddress } from '../../../src/domain/address.js'
import type { GateOptions } from '../../../src/domain/decision.js'
import { loadGate, loadSafeguard } from '../../../src/feeds/load-lists.js'

type GateSettings = Parameters<typeof loadGate>[0]

type LoadedGate = ReturnType<typeof loadGate>

const none: GateSettings = { ownRanges: [], internalSuffixes: [], allow: [], deny: [], askFreeText: false }
const files: Readonly<Record<string, string>> = {
  'a.txt': '192.0.2.0/24\nexample.com\n.example.net',
  'b.json': JSON.stringify({ type: 'hostname', list: ['example.org'] }),
  'bad.txt': 'fine.example.com\nnot fine',
  'deny.txt': '198.51.100.0/25\nstays.example.com',
}
const load = (settings: Partial<GateSettings>): LoadedGate =>
  loadGate({ ...none, ...settings }, 'host', (path) => {
    const content = files[path]
    if (content === undefined) throw new Error('no such file')
    return content
  })
const optionsOf = (loaded: LoadedGate): GateOptions => {
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return loaded.options
}
const at = (address: string): NonNullable<ReturnType<typeof readAddress>> => readAddress(address) ?? 0

describe('loadGate', () => {
  it('holds nothing when nothing is set', () => {
    const { ownRanges, internalSuffixes, allow, deny, askFreeText, domainAsk } = optionsOf(load({}))
    expect(
      [ownRanges, internalSuffixes, allow.ranges, allow.names, deny.ranges, deny.names].map(({ size }) => size),
    ).toEqual([0, 0, 0, 0, 0, 0])
    expect({ askFreeText, domainAsk }).toEqual({ askFreeText: false, domainAsk: 'host' })
  })

  it('takes own ranges and internal suffixes with everything below', () => {
    const options = optionsOf(
      load({ ownRanges: ['198.51.100.0/24'], internalSuffixes: ['.Corp.example.com'], askFreeText: true }),
    )
    expect(options.ownRanges.has(at('198.51.100.200'))).toBe(true)
    expect(options.internalSuffixes.has('a.corp.example.com')).toBe(true)
    expect(options.internalSuffixes.has('example.com')).toBe(false)
    expect(options.askFreeText).toBe(true)
  })

  it('joins the files of a list', () => {
    const { allow } = optionsOf(load({ allow: ['a.txt', 'b.json'] }))
    expect(allow.ranges.has(at('192.0.2.9'))).toBe(true)
    expect(['example.com', 'www.example.com', 'www.example.net', 'www.example.org'].map(allow.names.has)).toEqual([
      true,
      false,
      true,
      true,
    ])
  })

  it('lets a denied name take everything below it along', () => {
    const { deny } = optionsOf(load({ deny: ['a.txt'] }))
    expect(['example.com', 'www.example.com', 'www.example.net'].map(deny.names.has)).toEqual([true, true, true])
  })

  it('names every problem at once, with setting and place', () => {
    expect(
      load({
        ownRanges: ['192.0.2.1', 'x/8'],
        internalSuffixes: ['a b'],
        allow: ['a.txt', 'bad.txt'],
        deny: ['gone.txt'],
      }),
    ).toEqual({
      problems: [
        { setting: 'gate.ownRanges.1', message: 'must be an address or a range' },
        { setting: 'gate.internalSuffixes.0', message: 'must be a domain name' },
        { setting: 'gate.deny.0', message: 'cannot be read: no such file', where: 'gone.txt' },
        { setting: 'gate.allow.1', message: 'is not an address, a range or a name: "not fine"', where: 'bad.txt:2' },
      ],
    })
  })

  it.each([
    ['a private address with a date', '10.20.30.41 until 2030-01-01 # our proxy', /private use/],
    ['a private range', '192.168.4.0/24', /private use/],
    ['an internal name', 'dc1.corp', /internal name/],
    ['a name below a suffix of our own', 'a.intern.example.com', /internal name/],
    ['an address of gate.ownRanges', '203.0.113.9', /gate\.ownRanges or gate\.deny/],
    ['an address of gate.deny', '198.51.100.7', /gate\.ownRanges or gate\.deny/],
    ['a name of gate.deny', 'www.stays.example.com', /gate\.deny/],
  ])('refuses an entry of gate.allow that can have no effect: %s', (_, line, message) => {
    const settings = { ...none, ownRanges: ['203.0.113.0/24'], internalSuffixes: ['intern.example.com'] }
    const loaded = loadGate({ ...settings, allow: ['allow.txt'], deny: ['deny.txt'] }, 'host', (path) =>
      path === 'allow.txt' ? `# ours\n${line}` : (files[path] ?? ''),
    )
    expect(loaded).toMatchObject({
      problems: [{ setting: 'gate.allow.0', message: expect.stringMatching(message) as string, where: 'allow.txt:2' }],
    })
  })

  it('has a bundled safeguard with shared edges, and without what customers of clouds compute on', () => {
    const safeguard = loadSafeguard(['bundled'], (path) => readFileSync(path, 'utf8'))
    if ('problems' in safeguard) throw new Error(JSON.stringify(safeguard.problems))
    const cdns = [
      '104.21.3.7',
      '151.101.1.1',
      '23.32.0.9',
      '13.224.1.9',
      '108.156.2.9',
      '13.107.246.40',
      '150.171.84.9',
    ]
    const edges = [...cdns, '40.92.1.1', '209.85.210.9', '172.225.76.9', '8.8.8.8']
    const others = ['172.232.4.5', '3.120.5.6', '54.160.5.6', '13.52.5.6', '34.120.5.6', '20.40.5.6', '45.33.32.156']
    expect(edges.filter((address) => !safeguard.ranges.has(at(address)))).toEqual([])
    expect(others.filter((address) => safeguard.ranges.has(at(address)))).toEqual([])
    expect(safeguard.names.has('raw.githubusercontent.com')).toBe(true)
  })

  it.each(['192.0.2.0/24', '0.0.0.0/0', 'shop.example.com', '8.8.8.8 until 2001-01-01', 'intern.example.net'])(
    'takes %s into gate.allow',
    (line) => {
      expect('options' in loadGate({ ...none, allow: ['allow.txt'] }, 'host', () => line)).toBe(true)
    },
  )
})

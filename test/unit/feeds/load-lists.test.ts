// Loading the gate: settings and list files become what the gate decides by, or every problem at once.
import { describe, expect, it } from 'vitest'
import { readAddress } from '../../../src/domain/address.js'
import type { GateOptions } from '../../../src/domain/decision.js'
import { loadGate } from '../../../src/feeds/load-lists.js'

type GateSettings = Parameters<typeof loadGate>[0]

type LoadedGate = ReturnType<typeof loadGate>

const none: GateSettings = { ownRanges: [], internalSuffixes: [], allow: [], deny: [], askFreeText: false }
const files: Readonly<Record<string, string>> = {
  'a.txt': '192.0.2.0/24\nexample.com\n.example.net',
  'b.json': JSON.stringify({ type: 'hostname', list: ['example.org'] }),
  'bad.txt': 'fine.example\nnot fine',
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
        { setting: 'gate.allow.1', message: 'is not an address, a range or a name: "not fine"', where: 'bad.txt:2' },
        { setting: 'gate.deny.0', message: 'cannot be read: no such file', where: 'gone.txt' },
      ],
    })
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsed } from '../../support/feed-files.js'

const id = (n: number): string => `indicator--00000000-0000-4000-8000-00000000000${n}`
const indicator = (n: number, given: object): object => ({
  type: 'indicator',
  spec_version: '2.1',
  id: id(n),
  pattern_type: 'stix',
  pattern: "[ipv4-addr:value = '198.51.100.7']",
  ...given,
})
const bundle = (...objects: object[]): string => JSON.stringify({ type: 'bundle', id: 'bundle--1', objects }, null, 1)

describe('a STIX bundle', () => {
  it('takes what an indicator says about itself', () => {
    const text = bundle(
      { type: 'malware', id: 'malware--1', name: 'x' },
      indicator(1, {
        confidence: 85,
        indicator_types: ['malicious-activity'],
        labels: ['botnet'],
        valid_from: '2026-11-01T00:00:00Z',
        valid_until: '2026-12-01T00:00:00Z',
        object_marking_refs: ['marking-definition--f88d31f6-486f-44da-b317-01333bde0b82'],
      }),
    )
    expect(parsed(text)).toEqual({
      added: [
        [
          '198.51.100.7',
          id(1),
          {
            score: 85,
            categories: ['malicious-activity', 'botnet'],
            since: Date.UTC(2026, 10, 1),
            expires: Date.UTC(2026, 11, 1),
            seen: Date.UTC(2026, 10, 1),
            tlp: 'tlp:amber',
          },
        ],
      ],
      skipped: [],
    })
  })

  it.each<[string, object]>([
    ['revoked ones', { revoked: true }],
    ['benign ones', { indicator_types: ['benign'] }],
    ['other languages', { pattern_type: 'snort', pattern: 'alert' }],
    ['patterns that need more than one thing', { pattern: "[ipv4-addr:value = '198.51.100.7' AND url:value = 'x']" }],
  ])('leaves out %s', (_, given) => {
    expect(parsed(bundle(indicator(1, given)))).toEqual({ added: [], skipped: [] })
  })

  it('reads the objects of a TAXII answer and a bare list', () => {
    const one = indicator(1, {})
    for (const text of [JSON.stringify({ more: false, objects: [one] }), JSON.stringify([one])])
      expect(parsed(text).added).toEqual([['198.51.100.7', id(1)]])
  })

  it('skips an indicator without a pattern', () => {
    expect(parsed(bundle(indicator(1, { pattern: 7 }))).skipped).toEqual([id(1)])
  })

  it.each<[string, string, object]>([
    ['broken JSON', '{\n"type": "bundle",\n"objects": [}\n', { place: 3, message: 'is not valid JSON' }],
    ['JSON that was cut off', '{\n"type": "bundle",\n"objects": [', { place: 3, message: 'is not valid JSON' }],
  ])('is refused as %s, with the line', (_, text, problem) => {
    expect(parsed(text).problem).toEqual(problem)
  })
})

describe('the pattern of an indicator', () => {
  const valuesOf = (pattern: string): string[] =>
    parsed(bundle(indicator(1, { pattern }))).added.map(([value]) => value)

  it.each<[string, string[]]>([
    ["[ipv4-addr:value = '198.51.100.7']", ['198.51.100.7']],
    ["[ipv4-addr:value='198.51.100.7']", ['198.51.100.7']],
    ["[ipv6-addr:value = '2001:db8::7']", ['2001:db8::7']],
    ["[domain-name:value = 'bad.example.com']", ['bad.example.com']],
    ["[url:value = 'http://bad.example.com/it\\'s\\\\x']", ["http://bad.example.com/it's\\x"]],
    ["[ipv4-addr:value ISSUBSET '198.51.100.0/24']", ['198.51.100.0/24']],
    [
      "[ipv4-addr:value = '198.51.100.7' OR domain-name:value = 'bad.example.com']",
      ['198.51.100.7', 'bad.example.com'],
    ],
    ["[ipv4-addr:value = '198.51.100.7'] OR [ipv4-addr:value = '198.51.100.8']", ['198.51.100.7', '198.51.100.8']],
    ["([ipv4-addr:value = '198.51.100.7'] or [ipv4-addr:value = '198.51.100.8'])", ['198.51.100.7', '198.51.100.8']],
    ["[(ipv4-addr:value = '198.51.100.7' OR ipv4-addr:value = '198.51.100.8')]", ['198.51.100.7', '198.51.100.8']],
    ["[ipv4-addr:value IN ('198.51.100.7', '198.51.100.8')]", ['198.51.100.7', '198.51.100.8']],
    ["[network-traffic:dst_ref.value = '198.51.100.7']", ['198.51.100.7']],
    ["[file:hashes.'SHA-256' = 'aa' OR domain-name:value = 'bad.example.com']", ['bad.example.com']],
    ["[file:hashes.MD5 = 'aa']", []],
    ["[domain-name:value = 'bad.example.com' AND url:value = 'http://bad.example.com/x']", []],
    ["[domain-name:value = 'a.example.com'] AND [domain-name:value = 'b.example.com']", []],
    ["[domain-name:value = 'a.example.com'] FOLLOWEDBY [domain-name:value = 'b.example.com']", []],
    ["[domain-name:value = 'a.example.com'] WITHIN 60 SECONDS", []],
    ["[domain-name:value != 'good.example.com']", []],
    ["[NOT domain-name:value = 'good.example.com']", []],
    ["[domain-name:value NOT = 'good.example.com']", []],
    ["[domain-name:value LIKE '%.example.com']", []],
    ["[domain-name:value MATCHES '^a']", []],
    ['[domain-name:value = 7]', []],
    ["[domain-name:value = 'open", []],
    ["domain-name:value = 'bad.example.com'", []],
    ["[domain-name:value = 'a.example.com' OR]", []],
    ['[', []],
    ['', []],
  ])('accuses what %s says and nothing else', (pattern, values) => {
    expect(valuesOf(pattern)).toEqual(values)
  })

  it('never throws, and stays linear', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[', ']', '(', ')', "'", '\\', '=', 'IN', 'OR', 'ipv4-addr:value', ' ', ','), {
          maxLength: 60,
        }),
        (parts) => void valuesOf(parts.join('')),
      ),
    )
    const started = performance.now()
    for (const hostile of ["a'".repeat(200_000), '['.repeat(400_000), 'a['.repeat(200_000), "'\\".repeat(200_000)])
      expect(valuesOf(hostile)).toEqual([])
    expect(performance.now() - started).toBeLessThan(60_000)
  })
})

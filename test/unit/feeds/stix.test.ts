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
    ['revoked', { revoked: true }],
    ['harmless', { indicator_types: ['benign'] }],
    ['other_language', { pattern_type: 'snort', pattern: 'alert' }],
    ['combined', { pattern: "[ipv4-addr:value = '198.51.100.7' AND url:value = 'x']" }],
    ['not_for_detection', { type: 'ipv4-addr', value: '198.51.100.7' }],
  ])('counts what is %s', (reason, given) => {
    expect(parsed(bundle(indicator(1, given)))).toEqual({ added: [], skipped: [[id(1), reason]] })
  })

  it('reads the objects of a TAXII answer and a bare list', () => {
    const one = indicator(1, {})
    for (const text of [JSON.stringify({ more: false, objects: [one] }), JSON.stringify([one])])
      expect(parsed(text).added).toEqual([['198.51.100.7', id(1)]])
  })

  it('refuses one page of a TAXII answer, which is not the whole list', () => {
    const page = JSON.stringify({ more: true, next: '2', objects: [indicator(1, {})] })
    expect(parsed(page)).toMatchObject({
      added: [],
      problem: { message: expect.stringContaining('one page') as string },
    })
  })

  it('takes the newest version of an object, also if that revokes it', () => {
    const at = (modified: string, more: object = {}): object => indicator(1, { modified, ...more })
    const older = at('2026-11-01T00:00:00Z', { pattern: "[ipv4-addr:value = '198.51.100.8']" })
    const newer = at('2026-11-02T00:00:00Z')
    for (const text of [bundle(older, newer), bundle(newer, older)]) {
      expect(parsed(text).added.map(([value]) => value)).toEqual(['198.51.100.7'])
      expect(parsed(text).skipped).toEqual([[id(1), 'superseded']])
    }
    const revoked = at('2026-11-03T00:00:00Z', { revoked: true })
    expect(parsed(bundle(newer, revoked))).toMatchObject({
      added: [],
      skipped: [
        [id(1), 'superseded'],
        [id(1), 'revoked'],
      ],
    })
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
  const readingOf = (pattern: string): readonly string[] => {
    const { added, skipped } = parsed(bundle(indicator(1, { pattern })))
    return [
      ...added.map(([value]) => value),
      ...skipped.map((one) => (Array.isArray(one) ? `(${one[1]})` : '(unusable)')),
    ]
  }

  const dst = (value: string): string =>
    `network-traffic:dst_ref.type = 'ipv4-addr' AND network-traffic:dst_ref.value = '${value}'`
  const a = '198.51.100.7'
  const b = '198.51.100.8'
  const name = 'bad.example.com'

  it.each<[string, string[]]>([
    // One value.
    [`[ipv4-addr:value = '${a}']`, [a]],
    [`[ipv4-addr:value='${a}']`, [a]],
    [`[ ipv4-addr : value == '${a}' ]`, [a]],
    [`[ipv4-addr:'value' = '${a}'] // said by hand`, [a]],
    ["[ipv6-addr:value = '2001:db8::7']", ['2001:db8::7']],
    [`[domain-name:value = '${name}']`, [name]],
    [`[hostname:value = '${name}']`, [name]],
    ["[url:value = 'http://bad.example.com/it\\'s\\\\x']", ["http://bad.example.com/it's\\x"]],
    ["[ipv4-addr:value ISSUBSET '198.51.100.0/24']", ['198.51.100.0/24']],
    ["[network-traffic:dst_ref.value ISSUBSET '198.51.100.0/24']", ['198.51.100.0/24']],
    [`[network-traffic:dst_ref.value = '${a}']`, [a]],
    // Of several each alone suffices.
    [`[ipv4-addr:value = '${a}' OR domain-name:value = '${name}']`, [a, name]],
    [`[ipv4-addr:value = '${a}'] OR [ipv4-addr:value = '${b}']`, [a, b]],
    [`([ipv4-addr:value = '${a}'] or [ipv4-addr:value = '${b}'])`, [a, b]],
    [`(([ipv4-addr:value = '${a}']) OR ([ipv4-addr:value = '${b}']))`, [a, b]],
    [`[(ipv4-addr:value = '${a}' OR (ipv4-addr:value = '${b}'))]`, [a, b]],
    [`[ipv4-addr:value IN ('${a}', '${b}')]`, [a, b]],
    [`[network-traffic:src_ref.value IN ('${a}','${b}')]`, [a, b]],
    // What MISP writes: the type, the port and whatever else belongs to the same thing only say more about it.
    [`[${dst(a)}]`, [a]],
    [`[${dst(a).replaceAll('dst', 'src')}]`, [a]],
    ["[network-traffic:dst_ref.type = 'ipv6-addr' AND network-traffic:dst_ref.value = '2001:db8::7']", ['2001:db8::7']],
    [`[network-traffic:dst_ref.type = 'domain-name' AND network-traffic:dst_ref.value = '${name}']`, [name]],
    [`[${dst(a)} AND network-traffic:dst_port = '443']`, [`${a}:443`]],
    [
      `[(${dst(a)}) AND network-traffic:dst_port IN (80, 443) AND network-traffic:protocols[*] = 'tcp']`,
      [`${a}:80`, `${a}:443`],
    ],
    [`[(${dst(a)}) AND network-traffic:start = t'2026-11-01T00:00:00Z']`, [a]],
    [`[(${dst(a)}) OR (${dst(b)} AND network-traffic:dst_port = 443)]`, [a, `${b}:443`]],
    [`[ipv4-addr:value = '${a}' AND network-traffic:dst_port = 443]`, [`${a}:443`]],
    [`[ipv4-addr:value = '${a}' AND network-traffic:src_port = 443]`, [a]],
    [`[${dst(a)} AND (network-traffic:dst_port = 80 OR network-traffic:dst_port = 443)]`, [`${a}:80`, `${a}:443`]],
    [`[${dst(a)} AND network-traffic:dst_port > 443]`, [a]],
    [`[${dst(a)} AND network-traffic:dst_port = 70000]`, [a]],
    ["[ipv6-addr:value = '2001:db8::7' AND network-traffic:dst_port = 443]", ['[2001:db8::7]:443']],
    ["[ipv4-addr:value = '198.51.100.0/24' AND network-traffic:dst_port = 443]", ['198.51.100.0/24']],
    [`[ipv4-addr:value = '${a}' AND network-traffic:dst_ref.value = '${a}']`, [a]],
    [`[domain-name:value = '${name}' AND network-traffic:dst_port = '8443']`, [name]],
    [`[domain-name:value = '${name}' AND domain-name:resolves_to_refs[*].value = '${a}']`, [name]],
    [`[domain-name:resolves_to_refs[0].value = '${a}' AND domain-name:value = '${name}']`, [name]],
    [
      `[url:value = 'http://${name}/x' AND url:x_misp_domain = '${name}' AND url:x_misp_ip = '${a}']`,
      [`http://${name}/x`],
    ],
    // What is enough by itself is read, and the rest is counted.
    [`[file:hashes.'SHA-256' = 'aa' OR domain-name:value = '${name}']`, [name, '(not_looked_up)']],
    [`[domain-name:value = '${name}' OR domain-name:value LIKE '%.example.net']`, [name, '(inexact)']],
    [`[domain-name:value = '${name}'] OR ([ipv4-addr:value = '${a}'] WITHIN 60 SECONDS)`, [name, '(qualified)']],
    ["[domain-name:value IN ('bad.example.com', 7)]", [name, '(unusable)']],
    // Nothing that is looked up.
    ["[file:hashes.MD5 = 'aa']", ['(not_looked_up)']],
    ["[file:hashes.MD5 = 'aa' AND file:name = 'b.exe']", ['(not_looked_up)']],
    ["[file:name = 'a'] FOLLOWEDBY [process:name = 'b']", ['(not_looked_up)']],
    ["[email-message:from_ref.value = 'a@bad.example.com']", ['(not_looked_up)']],
    ["[network-traffic:dst_port = 4444 AND network-traffic:protocols[*] = 'tcp']", ['(not_looked_up)']],
    [`[domain-name:resolves_to_refs[*].value = '${a}']`, ['(not_looked_up)']],
    // More than one thing.
    [`[domain-name:value = '${name}' AND url:value = 'http://bad.example.com/x']`, ['(combined)']],
    [`[file:hashes.MD5 = 'aa' AND ipv4-addr:value = '${a}']`, ['(combined)']],
    [`[(${dst(a)}) AND (${dst(b).replaceAll('dst', 'src')})]`, ['(combined)']],
    [
      `[(ipv4-addr:value = '${a}' OR network-traffic:dst_port = 443) AND domain-name:value = '${name}']`,
      ['(combined)'],
    ],
    [`[ipv4-addr:value = '${a}' AND domain-name:resolves_to_refs[*].value = '${b}']`, ['(combined)']],
    [`[${dst(a)} AND network-traffic:extensions.'http-request-ext'.request_value = '/x']`, ['(combined)']],
    ["[domain-name:value = 'a.example.com'] AND [domain-name:value = 'b.example.com']", ['(combined)']],
    ["[domain-name:value = 'a.example.com'] FOLLOWEDBY [domain-name:value = 'b.example.com']", ['(combined)']],
    ["([domain-name:value = 'a.example.com'] FOLLOWEDBY [file:name = 'b']) WITHIN 5 SECONDS", ['(combined)']],
    // How often, or when.
    ["[domain-name:value = 'a.example.com'] WITHIN 60 SECONDS", ['(qualified)']],
    [`([ipv4-addr:value = '${a}'] REPEATS 5 TIMES WITHIN 60.5 SECONDS)`, ['(qualified)']],
    [`[ipv4-addr:value = '${a}'] START t'2026-01-01T00:00:00Z' STOP t'2026-02-01T00:00:00Z'`, ['(qualified)']],
    // Not a value.
    ["[domain-name:value != 'good.example.com']", ['(negated)']],
    ["[domain-name:value <> 'good.example.com']", ['(negated)']],
    ["[NOT domain-name:value = 'good.example.com']", ['(negated)']],
    ["[domain-name:value NOT = 'good.example.com']", ['(negated)']],
    ["[domain-name:value NOT IN ('good.example.com')]", ['(negated)']],
    ["[NOT (domain-name:value = 'good.example.com' OR url:value = 'x')]", ['(negated)']],
    ["[domain-name:value LIKE '%.example.com']", ['(inexact)']],
    ["[domain-name:value MATCHES '^a']", ['(inexact)']],
    ["[ipv4-addr:value ISSUPERSET '198.51.100.0/24']", ['(inexact)']],
    ["[ipv4-addr:value > '198.51.100.0']", ['(inexact)']],
    ['[EXISTS ipv4-addr:value]', ['(inexact)']],
    ['[domain-name:value = 7]', ['(unusable)']],
    // Not a pattern.
    [`[ipv4-addr:value = '${a}'`, ['(broken)']],
    [`ipv4-addr:value = '${a}']`, ['(broken)']],
    [`([ipv4-addr:value = '${a}']`, ['(broken)']],
    [`[ipv4-addr:value = '${a}'] trailing`, ['(broken)']],
    [`[ipv4-addr:value = '${a}'] WITHIN`, ['(broken)']],
    [`[ipv4-addr:value IN ('${a}']`, ['(broken)']],
    ["[domain-name:value = 'open", ['(broken)']],
    ["domain-name:value = 'bad.example.com'", ['(broken)']],
    ["[domain-name:value = 'a.example.com' OR]", ['(broken)']],
    ['[', ['(broken)']],
    ['', ['(broken)']],
  ])('%s', (pattern, reading) => {
    expect(readingOf(pattern)).toEqual(reading)
  })

  it('never throws, and stays linear', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[', ']', '(', ')', "'", '\\', '=', 'IN', 'OR', 'ipv4-addr:value', ' ', ','), {
          maxLength: 60,
        }),
        (parts) => void readingOf(parts.join('')),
      ),
    )
    const started = performance.now()
    for (const hostile of [
      "a'".repeat(200_000),
      '['.repeat(400_000),
      'a['.repeat(200_000),
      "'\\".repeat(200_000),
      '[('.repeat(200_000),
    ])
      expect(readingOf(hostile)).toEqual(['(broken)'])
    expect(performance.now() - started).toBeLessThan(60_000)
  })
})

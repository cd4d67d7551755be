import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { valuesOfPattern } from '../../../src/feeds/stix-pattern.js'

describe('valuesOfPattern', () => {
  it.each<[string, string[] | undefined]>([
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
    ["[domain-name:value = 'bad.example.com' AND url:value = 'http://bad.example.com/x']", undefined],
    ["[domain-name:value = 'a.example.com'] AND [domain-name:value = 'b.example.com']", undefined],
    ["[domain-name:value = 'a.example.com'] FOLLOWEDBY [domain-name:value = 'b.example.com']", undefined],
    ["[domain-name:value = 'a.example.com'] WITHIN 60 SECONDS", undefined],
    ["[domain-name:value != 'good.example.com']", undefined],
    ["[NOT domain-name:value = 'good.example.com']", undefined],
    ["[domain-name:value NOT = 'good.example.com']", undefined],
    ["[domain-name:value LIKE '%.example.com']", undefined],
    ["[domain-name:value MATCHES '^a']", undefined],
    ['[domain-name:value = 7]', undefined],
    ["[domain-name:value = 'open", undefined],
    ["domain-name:value = 'bad.example.com'", undefined],
    ["[domain-name:value = 'a.example.com' OR]", undefined],
    ['[', undefined],
    ['', undefined],
  ])('reads %s', (pattern, values) => {
    expect(valuesOfPattern(pattern)).toEqual(values)
  })

  it('never throws, and stays linear', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[', ']', '(', ')', "'", '\\', '=', 'IN', 'OR', 'ipv4-addr:value', ' ', ','), {
          maxLength: 60,
        }),
        (parts) => void valuesOfPattern(parts.join('')),
      ),
    )
    const started = performance.now()
    for (const hostile of ["a'".repeat(200_000), '['.repeat(400_000), 'a['.repeat(200_000), "'\\".repeat(200_000)])
      expect(valuesOfPattern(hostile)).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(60_000)
  })
})

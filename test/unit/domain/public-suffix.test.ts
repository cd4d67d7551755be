// Public suffixes: what somebody registered, private suffixes counted.
import { describe, expect, it } from 'vitest'
import { hasPublicSuffix, registrableDomain } from '../../../src/domain/public-suffix.js'

describe('registrableDomain', () => {
  it.each([
    ['example.com', 'example.com'],
    ['a.b.example.com', 'example.com'],
    ['a.b.example.co.uk', 'example.co.uk'],
    ['a.b.github.io', 'b.github.io'],
    ['bucket.s3.amazonaws.com', 'bucket.s3.amazonaws.com'],
    ['www.xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['_dmarc.example.com', 'example.com'],
    ['github.io', undefined],
    ['co.uk', undefined],
  ])('of %s is %s', (host, expected) => {
    expect(registrableDomain(host)).toBe(expected)
    expect(registrableDomain(host)).toBe(expected)
  })
})

describe('hasPublicSuffix', () => {
  it.each([
    ['example.com', true],
    ['a.github.io', true],
    ['github.io', true],
    ['example.xn--p1ai', true],
    ['server.corp', false],
    ['readme.txt', false],
    ['a.a', false],
    ['__proto__.constructor', false],
  ])('says of %s: %s', (host, expected) => {
    expect(hasPublicSuffix(host)).toBe(expected)
  })

  it('stays right when more names pass than it remembers', () => {
    for (let i = 0; i < 10000; i++) expect(registrableDomain(`h${String(i)}.example.net`)).toBe('example.net')
    expect(hasPublicSuffix('server.corp')).toBe(false)
    expect(registrableDomain('a.b.github.io')).toBe('b.github.io')
  })
})

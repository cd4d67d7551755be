import { describe, expect, it } from 'vitest'
import { parseStix } from '../../../src/feeds/stix.js'
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

describe('parseStix', () => {
  it('takes what an indicator says about itself', () => {
    const text = bundle(
      { type: 'malware', id: 'malware--1', name: 'x' },
      indicator(1, {
        confidence: 85,
        indicator_types: ['malicious-activity'],
        labels: ['botnet'],
        valid_from: '2026-11-01T00:00:00Z',
        valid_until: '2026-12-01T00:00:00Z',
      }),
    )
    expect(parsed(parseStix, text)).toEqual({
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
          },
        ],
      ],
      junk: [],
    })
  })

  it.each<[string, object]>([
    ['revoked ones', { revoked: true }],
    ['benign ones', { indicator_types: ['benign'] }],
    ['other languages', { pattern_type: 'snort', pattern: 'alert' }],
    ['patterns that need more than one thing', { pattern: "[ipv4-addr:value = '198.51.100.7' AND url:value = 'x']" }],
  ])('leaves out %s', (_, given) => {
    expect(parsed(parseStix, bundle(indicator(1, given)))).toEqual({ added: [], junk: [] })
  })

  it('reads the objects of a TAXII answer and a bare list', () => {
    const one = indicator(1, {})
    for (const text of [JSON.stringify({ more: false, objects: [one] }), JSON.stringify([one])])
      expect(parsed(parseStix, text).added).toEqual([['198.51.100.7', id(1), { categories: [] }]])
  })

  it('takes an indicator without a pattern for junk', () => {
    expect(parsed(parseStix, bundle(indicator(1, { pattern: 7 }))).junk).toEqual([id(1)])
  })

  it.each<[string, string, object]>([
    ['broken JSON', '{\n"type": "bundle",\n"objects": [}\n', { place: 3, message: 'is not valid JSON' }],
    ['JSON that was cut off', '{\n"type": "bundle",\n"objects": [', { place: 3, message: 'is not valid JSON' }],
    ['an error page', '<html>\n', { place: 1, message: 'is not valid JSON' }],
    ['other JSON', '{"a": 1}', { place: 1, message: 'is no STIX bundle' }],
    ['null', 'null', { place: 1, message: 'is no STIX bundle' }],
  ])('refuses %s and says where', (_, text, problem) => {
    expect(parsed(parseStix, text).problem).toEqual(problem)
  })
})

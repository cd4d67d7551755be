import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../../../src/server/local/query.js'

const word = (value: string, isNegated = false) => ({ value, isNegated })
const filter = (field: string, value: string, isNegated = false) => ({ field, value, isNegated })

describe('parseQuery', () => {
  it.each([
    ['nginx', [[word('nginx')]]],
    ['port:443', [[filter('port', '443')]]],
    ['Product:"Example Server" PHP', [[filter('product', 'Example Server'), word('PHP')]]],
    ['port:80 AND NOT country:NL', [[filter('port', '80'), filter('country', 'NL', true)]]],
    ['port:80 OR port:443 nginx', [[filter('port', '80')], [filter('port', '443'), word('nginx')]]],
    ['after: 2024-01-01', [[filter('after', '2024-01-01')]]],
    ['NOT NOT nginx', [[word('nginx')]]],
    ['"AND"', [[word('AND')]]],
    ['ip:198.51.100.0/24', [[filter('ip', '198.51.100.0/24')]]],
    ['ip:2001:db8::1', [[filter('ip', '2001:db8::1')]]],
    ['2001:db8::1', [[word('2001:db8::1')]]],
    ['https://example.com/a', [[word('https://example.com/a')]]],
    ['title:"a:b"', [[filter('title', 'a:b')]]],
  ])('reads %j', (text, groups) => {
    expect(parseQuery(text)).toEqual({ groups })
  })

  it.each(['', '   ', 'AND', 'nginx AND', 'OR nginx', 'nginx OR OR x', 'NOT', '"open', 'port:', 'x'.repeat(1025)])(
    'refuses %j',
    (text) => {
      expect(parseQuery(text)).toBeUndefined()
    },
  )

  it('takes any text without throwing, and no more terms than it may', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        expect(parseQuery(text)?.groups.flat().length ?? 0).toBeLessThanOrEqual(32)
      }),
    )
    expect(parseQuery('a '.repeat(33))).toBeUndefined()
  })
})

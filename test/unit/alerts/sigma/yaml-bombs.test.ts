// Rule files made to exhaust their parser.
import { expect, it } from 'vitest'
import { createFields } from '../../../../src/alerts/sigma/fields.js'
import { parseRules } from '../../../../src/alerts/sigma/parse-rules.js'

it('refuses a rule with endless aliases, and continues', () => {
  const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  const bomb = letters.map((letter, place) => {
    const before = letters[place - 1]
    return `${letter}: &${letter} [${Array.from({ length: 10 }, () => (before === undefined ? 'x' : `*${before}`)).join(', ')}]`
  })
  const { rules, problems } = parseRules('bomb.yml', bomb.join('\n'), { fields: createFields('threatweave') })
  expect(rules).toEqual([])
  expect(problems).toHaveLength(1)
})

it.each([
  ['brackets', '['.repeat(1500)],
  ['braces', '{a: '.repeat(1500)],
  ['names on one line', 'a: '.repeat(1500)],
  ['lists in lists', `${'- '.repeat(1500)}x`],
  ['indentation', Array.from({ length: 1200 }, (_, place) => `${' '.repeat(place)}a:`).join('\n')],
])('refuses %s without end, which would end the process', (_, text) => {
  const { rules, problems } = parseRules('deep.yml', text, { fields: createFields('threatweave') })
  expect(rules).toEqual([])
  expect(problems).toEqual([{ file: 'deep.yml', message: 'is nested too deep' }])
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findBreak } from '../../../src/feeds/json-text.js'

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError)
    return false
  }
}

describe('findBreak', () => {
  it.each<[string, number]>([
    ['{"a": [}', 7],
    ['{"a": [1,]}', 9],
    ['{"a": 1,}', 8],
    ['{"a" 1}', 5],
    ['[1 2]', 3],
    ['[01]', 1],
    ['[tru]', 1],
    ['["a\nb"]'.replace('\\n', '\n'), 3],
    ['["\\x"]', 3],
    ['{} {}', 3],
    ['{"a": [', 7],
    ['["open', 6],
    ['<html>', 0],
    ['', 0],
  ])('finds the break in %j', (text, offset) => {
    expect(findBreak(text)).toBe(offset)
  })

  it('finds no break in JSON', () => {
    const parts = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      'null',
      ' ',
      '"',
      '\\',
      '\n',
      'e5',
      '.',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.array(parts, { maxLength: 8 }).map((array) => array.join('')),
        ),
        (text) => {
          if (isJson(text)) expect(findBreak(text)).toBe(text.length)
        },
      ),
    )
  })
})

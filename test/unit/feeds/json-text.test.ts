// JSON that is broken says in which line.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readJson } from '../../../src/feeds/json-text.js'

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError)
    return false
  }
}
const read = (text: string) => readJson(Buffer.from(text))

describe('JSON of a whole file', () => {
  it.each<[string, number]>([
    ['{"a": [\n}', 2],
    ['{"a": [1,\n]}', 2],
    ['{"a": 1,\n}', 2],
    ['{"a"\n1}', 2],
    ['[1\n2]', 2],
    ['[\n01\n]', 2],
    ['[\ntru\n]', 2],
    ['["a\nb"]', 1],
    ['[\n"\\x"\n]', 2],
    ['{}\n{}', 2],
    ['{"a": [\n', 2],
    ['[\n"open', 2],
    ['<html>\n', 1],
    ['', 1],
  ])('is refused with the line where %j breaks', (text, line) => {
    expect(read(text)).toEqual({ ok: false, problem: { place: line, message: 'is not valid JSON' } })
  })

  it('is read or refused as JSON.parse would, with one of its lines', () => {
    const parts = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '-',
      '"',
      '\\',
      '\n',
      ' ',
      '.',
      '"a"',
      '1',
      'null',
      'e5',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.array(parts, { maxLength: 8 }).map((array) => array.join('')),
        ),
        (text) => {
          const result = read(text)
          expect(result.ok).toBe(isJson(text))
          if (!result.ok) expect(result.problem.place).toBeLessThanOrEqual(text.split('\n').length)
        },
      ),
    )
  })
})

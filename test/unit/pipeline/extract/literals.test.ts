// Every list is found whose text is anywhere in the line, and no other.
import { describe, expect, it } from 'vitest'
import { createLiteralFinder } from '../../../../src/pipeline/extract/literals.js'

const found = (lists: string[][], line: string): number[] => {
  const numbers = new Set<number>()
  createLiteralFinder(lists)(line, (list) => numbers.add(list))
  return [...numbers].toSorted((one, other) => one - other)
}

describe('texts in a line', () => {
  const lists = [['%ASA-', '%FTD-'], ['] "'], [' IN '], ['\t'], ['dhcp'], ['%FTD-'], []]

  it.each([
    ['at its beginning', '%ASA-6-302013: Built', [0]],
    ['at its end', 'ends with dhcp', [4]],
    ['that two lists have', 'fw : %FTD-6-302013: Built', [0, 5]],
    ['of several lists', '[INFO] "A IN host\tx', [1, 2, 3]],
    ['that are nearly there', '%AS A- ]" IN: dhc', []],
    ['in an empty line', '', []],
    ['in other letters', 'Приём dhcp €', [4]],
  ])('%s', (_, line, numbers) => {
    expect(found(lists, line)).toEqual(numbers)
  })

  it('are the same as a search for each of them finds', () => {
    const alphabet = 'ab% ]"'
    const texts = ['a', 'ab', '%a', '] "', 'bb ', ' %', '""']
    for (let seed = 1; seed < 500; seed++) {
      const line = Array.from({ length: 12 }, (_, at) => alphabet[(seed * 7919 * (at + 3) + seed) % 6]).join('')
      const each = texts.flatMap((text, at) => (line.includes(text) ? [at] : []))
      expect(
        found(
          texts.map((text) => [text]),
          line,
        ),
        line,
      ).toEqual(each)
    }
  })
})

// How one row of separated values becomes cells.
import { describe, expect, it } from 'vitest'
import { splitCsv } from '../../../src/base/split-csv.js'

describe('a row of separated values', () => {
  it.each<[string, string, number, string[], boolean]>([
    ['a, b ,c', ',', 9, ['a', 'b', 'c'], false],
    ['\ta\t,b', ',', 9, ['a', 'b'], false],
    ['a,,', ',', 9, ['a', '', ''], false],
    ['', ',', 9, [''], false],
    ['"a,b",  " c ""d"" " ,e', ',', 9, ['a,b', ' c "d" ', 'e'], false],
    ['"",""""', ',', 9, ['', '"'], false],
    ['a"b,c', ',', 9, ['a"b', 'c'], false],
    ['a,"open, b', ',', 9, ['a', 'open, b'], true],
    ['a,"', ',', 9, ['a', ''], true],
    ['a b "c d" e', ' ', 9, ['a', 'b', 'c d', 'e'], false],
    ['a||b||c', '||', 9, ['a', 'b', 'c'], false],
    ['a,b,c', ',', 2, ['a', 'b'], false],
    ['a,b,"c', ',', 2, ['a', 'b'], false],
  ])('%j by %j, at most %i', (text, separator, max, cells, isOpen) => {
    expect(splitCsv(text, separator, max)).toEqual({ cells, isOpen })
  })
})

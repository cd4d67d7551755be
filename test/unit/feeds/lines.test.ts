import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { forEachLine } from '../../../src/feeds/lines.js'

const linesOf = (bytes: Buffer): [string, number][] => {
  const lines: [string, number][] = []
  forEachLine(bytes, (line, number) => lines.push([line, number]) > 0)
  return lines
}

describe('forEachLine', () => {
  it('numbers the lines, without their endings and the byte order mark', () => {
    expect(linesOf(Buffer.from('\ufeffa\r\n\nb'))).toEqual([
      ['a', 1],
      ['', 2],
      ['b', 3],
    ])
  })

  it('gives every line with its number, also of text that is larger than a block', () => {
    const text = Array.from({ length: 150_000 }, (_, i) => `line ${i + 1}`)
    const lines = linesOf(Buffer.from(`${text.join('\n')}\n`))
    expect(lines).toHaveLength(text.length)
    expect(lines.filter(([line, number]) => line !== text[number - 1])).toEqual([])
  })

  it('keeps counting after a line that is longer than a block', () => {
    const lines = linesOf(Buffer.from(`${'x'.repeat(3_000_000)}\nb`))
    expect(lines.map(([line, number]) => [line.length, number])).toEqual([
      [1 << 20, 1],
      [1, 2],
    ])
  })

  it('stops when told', () => {
    let count = 0
    forEachLine(Buffer.from('a\nb\nc'), () => ++count < 2)
    expect(count).toBe(2)
  })

  it('agrees with split', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{0,5}$/)), (lines) => {
        const text = lines.map((line) => `${line}\n`).join('')
        expect(linesOf(Buffer.from(text)).map(([line]) => line)).toEqual(lines)
      }),
    )
  })
})

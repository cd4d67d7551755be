import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { readLines } from '../../../src/input/read-lines.js'

const folder = mkdtempSync(join(tmpdir(), 'threatweave-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})
const file = (name: string, content: string | Buffer): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const all = async (files: readonly string[], stdin: Readable = Readable.from([])): Promise<string[]> => {
  const lines: string[] = []
  for await (const some of readLines(files, stdin)) lines.push(...some.map(({ bytes }) => bytes.toString()))
  return lines
}

describe('reading lines', () => {
  it.each([
    ['without an end of its last line', 'a\nb', ['a', 'b']],
    ['with one', 'a\nb\n', ['a', 'b']],
    ['with carriage returns', 'a\r\nb\r\n', ['a', 'b']],
    ['that holds one array of objects', '[{"a":1},\n {"b":2}]', ['{"a":1}', '{"b":2}']],
    ['that begins with a bracket and is text', '[INFO] a\n[INFO] b\n', ['[INFO] a', '[INFO] b']],
    ['that is empty', '', []],
  ])('gives the events of a file %s', async (_, content, expected) => {
    expect(await all([file('plain.log', content)])).toEqual(expected)
  })

  it('unpacks what is packed, whatever its name says', async () => {
    expect(await all([file('packed.log', gzipSync('a\nb\n'))])).toEqual(['a', 'b'])
  })

  it.each([
    ['little', (text: string) => Buffer.from(text, 'utf16le')],
    ['big', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ])('reads UTF-16 that begins with its mark, %s end first, packed too, and cut anywhere', async (_, encoded) => {
    const bytes = encoded('\ufeffsrc=192.0.2.1 user=Jürgen 😀\r\n[b]\r\n')
    const expected = ['src=192.0.2.1 user=Jürgen 😀', '[b]']
    expect(await all([file('utf16.log', bytes)])).toEqual(expected)
    expect(await all([file('utf16.log.gz', gzipSync(bytes))])).toEqual(expected)
    const parts = Array.from({ length: Math.ceil(bytes.length / 3) }, (__, n) => bytes.subarray(n * 3, n * 3 + 3))
    expect(await all(['-'], Readable.from(parts))).toEqual(expected)
    expect(await all([file('array.json', encoded('\ufeff[{"a":1},{"b":2}]'))])).toEqual(['{"a":1}', '{"b":2}'])
  })

  it('keeps a line whole that is longer than a chunk', async () => {
    const long = 'x'.repeat(3_000_000)
    expect(await all([file('long.log', `${long}\nshort\n`)])).toEqual([long, 'short'])
  })

  it('joins a line that comes in pieces, in the midst of a character too', async () => {
    const bytes = Buffer.from('grün\nb')
    expect(await all([], Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]))).toEqual(['grün', 'b'])
  })

  it('reads several files and standard input in the order given', async () => {
    expect(await all([file('1.log', '1'), '-', file('2.log', '2')], Readable.from([Buffer.from('in\n')]))).toEqual([
      '1',
      'in',
      '2',
    ])
  })

  it('ends with the error of a file that is not there', async () => {
    await expect(all([join(folder, 'missing.log')])).rejects.toThrow(/ENOENT/)
  })

  it('says where each line came from', async () => {
    const path = file('where.log', 'a\nb\n')
    for await (const lines of readLines([path], Readable.from([])))
      expect(lines.map(({ origin }) => origin)).toEqual([`${path}:1`, `${path}:2`])
  })
})

// The deliberate mistakes of the simulation: each has its target in the source, and leaves a program that can be loaded.
import { transformSync } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { findTarget, makeMistake, readSources } from '../../simulation/make-mistake.js'
import { mistakes } from '../../simulation/mistakes.js'

const sources = readSources()

describe('deliberate mistakes', () => {
  it.each(mistakes.map((mistake) => [mistake.name, mistake] as const))('can be made: %s', (_, mistake) => {
    for (const [file, text] of Object.entries(makeMistake(sources, mistake)))
      expect(() => transformSync(text, { loader: 'ts' }), file).not.toThrow()
  })

  it('each has a name of its own', () => {
    expect(new Set(mistakes.map(({ name }) => name)).size).toBe(mistakes.length)
  })
})

describe('the target of a mistake', () => {
  const text = 'const a = 1\nsend(\n  first,\n  second,\n)\nconst sender = 2\nreturn a\n'
  const found = (find: string): string => {
    const { start, end } = findTarget([{ file: 'src/a.ts', text }], find)
    return text.slice(start, end)
  }

  it('is found in whatever lines a formatter has broken it into', () => {
    expect(found('send(first, second)')).toBe('send(\n  first,\n  second,\n)')
    expect(found('  send( first,second, )\n')).toBe('send(\n  first,\n  second,\n)')
  })

  it('begins and ends with whole words', () => {
    expect(() => found('second, ) const send')).toThrow('is in no file')
    expect(() => found('turn a')).toThrow('is in no file')
    expect(() => found('returna')).toThrow('is in no file')
  })

  it('names all places if there is more than one', () => {
    expect(() => found('const')).toThrow('more than one place: src/a.ts:1, src/a.ts:6')
  })

  it('shows where the source differs if there is none', () => {
    expect(() => found('send(first, third)')).toThrow('differs at third: src/a.ts:2')
  })
})

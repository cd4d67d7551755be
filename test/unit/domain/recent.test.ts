// What a bounded memory of generations holds and forgets.
import { describe, expect, it } from 'vitest'
import { createRecent } from '../../../src/domain/recent.js'

const held = (recent: { get: (key: string) => unknown }, keys: readonly string[]): readonly string[] =>
  keys.filter((key) => recent.get(key) !== undefined)

describe('what was worked out lately', () => {
  it('is held for as many keys as a generation has, and forgotten at the latest after two', () => {
    const recent = createRecent<string, number>(2)
    const keys = ['a', 'b', 'c', 'd', 'e']
    for (const [at, key] of keys.entries()) recent.set(key, at)
    expect(held(recent, keys)).toEqual(['c', 'd', 'e'])
  })

  it('is held longer when it is asked for', () => {
    const recent = createRecent<string, number>(2)
    recent.set('a', 1)
    for (const key of ['b', 'c', 'd', 'e', 'f']) {
      recent.set(key, 0)
      expect(recent.get('a')).toBe(1)
    }
  })

  it('counts by weight, what is added later and what is taken along included', () => {
    const recent = createRecent<string, number[]>(4, (list) => list.length)
    const list = [1]
    recent.set('a', list)
    for (let more = 2; more <= 4; more++) {
      list.push(more)
      recent.grew()
    }
    recent.set('b', [1])
    // The generation of `a` was full; taking it along fills the next one.
    expect(recent.get('a')).toBe(list)
    recent.set('c', [1])
    recent.set('d', [1, 2, 3, 4])
    recent.set('e', [1])
    expect(held(recent, ['b', 'a', 'e'])).toEqual(['e'])
  })
})

// What a bounded cache keeps and drops.
import { describe, expect, it } from 'vitest'
import { createBoundedCache } from '../../../src/base/bounded-cache.js'

const held = (cache: { get: (key: string) => unknown }, keys: readonly string[]): readonly string[] =>
  keys.filter((key) => cache.get(key) !== undefined)

describe('a bounded cache', () => {
  it('keeps as many keys as a generation has, and never more than two generations', () => {
    const cache = createBoundedCache<string, number>(2)
    const keys = ['a', 'b', 'c', 'd', 'e']
    for (const [at, key] of keys.entries()) cache.set(key, at)
    expect(held(cache, keys)).toEqual(['c', 'd', 'e'])
  })

  it('keeps what is used', () => {
    const cache = createBoundedCache<string, number>(2)
    cache.set('a', 1)
    for (const key of ['b', 'c', 'd', 'e', 'f']) {
      cache.set(key, 0)
      expect(cache.get('a')).toBe(1)
    }
  })

  it('counts by weight, with what is added later and what moves to the next generation', () => {
    const cache = createBoundedCache<string, number[]>(4, (list) => list.length)
    const list = [1]
    cache.set('a', list)
    for (let more = 2; more <= 4; more++) {
      list.push(more)
      cache.addWeight(1)
    }
    cache.set('b', [1])
    // The generation of `a` was full; taking it along fills the next one.
    expect(cache.get('a')).toBe(list)
    cache.set('c', [1])
    cache.set('d', [1, 2, 3, 4])
    cache.set('e', [1])
    expect(held(cache, ['b', 'a', 'e'])).toEqual(['e'])
  })

  it('drops what is deleted, from both generations', () => {
    const cache = createBoundedCache<string, number>(2)
    for (const key of ['a', 'b', 'c']) cache.set(key, 1)
    for (const key of ['a', 'c']) cache.delete(key)
    expect(held(cache, ['a', 'b', 'c'])).toEqual(['b'])
    expect(cache.size()).toBeLessThanOrEqual(2)
  })
})

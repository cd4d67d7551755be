import { describe, expect, it } from 'vitest'
import { findKey, hashKey, newKey, readKeys, type Key } from '../../../src/server/keys.js'

const keyOf = (name: string, key: string): Key => ({ name, hash: hashKey(key), plan: { name: 'team', inFlight: 1 } })
const keys = [keyOf('a', 'the-key-of-a'), keyOf('b', 'the-key-of-b')]

describe('keys', () => {
  it('are found by what was given, and by nothing near it', () => {
    expect(findKey(keys, 'the-key-of-a')?.name).toBe('a')
    expect(findKey(keys, 'the-key-of-b')?.name).toBe('b')
    for (const wrong of ['', 'the-key-of-', 'the-key-of-ab', 'THE-KEY-OF-A', keys[0]!.hash])
      expect(findKey(keys, wrong)).toBeUndefined()
  })

  it('are hashed with a salt of their own, and the hash does not hold them', () => {
    expect(hashKey('the-key-of-a')).not.toBe(hashKey('the-key-of-a'))
    expect(hashKey('the-key-of-a')).not.toContain('the-key-of-a')
  })

  it('are made in the shape that clients of the service accept', () => {
    const made = Array.from({ length: 50 }, newKey)
    expect(new Set(made).size).toBe(50)
    for (const key of made) {
      expect(key).toMatch(/^[A-Za-z0-9]{60}$/)
      expect([/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(key))).toBe(true)
    }
  })

  it('are read from a file with plans, and one call at a time where the plan does not say', () => {
    const hash = hashKey('k')
    const text = JSON.stringify({
      keys: [
        { name: 'a', hash },
        { name: 'b', hash, plan: { name: 'x', inFlight: 4, credits: 5, perSecond: 6 } },
      ],
    })
    expect(readKeys('keys.json', text).map(({ plan }) => plan)).toEqual([
      { name: 'local', inFlight: 1 },
      { name: 'x', inFlight: 4, credits: 5, perSecond: 6 },
    ])
  })

  it('are refused all at once, each problem named', () => {
    const text = JSON.stringify({ keys: [{ name: 'a', hash: 'plain' }, { name: 'a', hash: hashKey('k') }, 7] })
    expect(() => readKeys('keys.json', text)).toThrow(
      /keys\[0\]\.hash must have(.|\n)*keys\[1\]\.name is taken(.|\n)*keys\[2\] is not an object/,
    )
  })
})

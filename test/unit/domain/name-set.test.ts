// Sets of names: an entry covers itself, and what is below it when it says so.
import { describe, expect, it } from 'vitest'
import { createNameSet } from '../../../src/domain/name-set.js'

const set = createNameSet([
  { name: 'example.com', below: true },
  { name: 'example.net', below: false },
  { name: 'corp', below: true },
  { name: 'constructor', below: false },
])

describe('createNameSet', () => {
  it.each([
    ['example.com', true],
    ['a.b.example.com', true],
    ['notexample.com', false],
    ['com', false],
    ['example.net', true],
    ['www.example.net', false],
    ['server.corp', true],
    ['corp', true],
    ['corp.example.org', false],
    ['__proto__', false],
    ['toString', false],
    ['', false],
  ])('says of %j: %s', (name, expected) => {
    expect(set.has(name)).toBe(expected)
  })

  it('counts its entries', () => {
    expect(set.size).toBe(4)
    expect(createNameSet([]).size).toBe(0)
    expect(createNameSet([]).has('example.com')).toBe(false)
  })
})

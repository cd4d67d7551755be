// What gateways, access points and resolvers write: which address is which end, and what was done.
import { describe, expect, it } from 'vitest'
import { readLine } from '../../support/read-line.js'

describe('a gateway', () => {
  it.each([
    [
      'tells in a cell by whom it was blocked',
      'FILTER|2026-11-15 10:00:00|Y|www.example.com|alice|192.0.2.1|admin|news|Blocked by admin|33',
      'blocked',
      ['192.0.2.1 source', 'www.example.com other'],
    ],
  ])('%s', (_, line, action, found) => {
    const read = readLine(line)
    expect(read.action).toBe(action)
    expect(read.found).toStrictEqual(found)
  })
})

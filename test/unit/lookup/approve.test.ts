import { describe, expect, it } from 'vitest'
import type { Indicator } from '../../../src/domain/indicator.js'
import type { Ask, Call, Source } from '../../../src/domain/lookup.js'
import { approve } from '../../../src/lookup/approve.js'

const ask: Ask = { role: 'source', action: 'unknown', evidence: 'field' }
const call: Call = (send) => send()
const source: Source = () => ({ status: 'unknown', reason: 'not_found', at: 0 })
const indicator = { type: 'ip', value: '198.51.100.1' } as const

describe('approve', () => {
  it('asks once, before the first call, however many lookups come at the same time', async () => {
    let asked = 0
    const lookup = approve(() => Promise.resolve(++asked > 0))(source)
    const found = await Promise.all([lookup(indicator, ask, call), lookup(indicator, ask, call)])
    expect(found).toEqual([source(indicator, ask, call), source(indicator, ask, call)])
    expect(lookup(indicator, ask, call)).not.toBeInstanceOf(Promise)
    expect(asked).toBe(1)
  })

  it('lets nothing through after a no', async () => {
    let calls = 0
    const lookup = approve(() => Promise.resolve(false))<Indicator>((...args) => {
      calls++
      return source(...args)
    })
    expect(await lookup(indicator, ask, call)).toEqual({ status: 'unknown', reason: 'budget_spent' })
    expect(await lookup(indicator, ask, call)).toEqual({ status: 'unknown', reason: 'budget_spent' })
    expect(calls).toBe(0)
  })
})

import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../src/domain/decision.js'
import { createDecide } from '../../../src/lookup/gate.js'

const decide = (value: string, documentation: boolean): Decision =>
  createDecide({ documentation })({ type: 'ip', value, field: 'source.ip', role: 'source', evidence: 'field' })

describe('documentation addresses', () => {
  it.each(['192.0.2.7', '198.51.100.7', '203.0.113.7', '2001:db8::7', '3fff::7'])(
    '%s is asked about only when told to',
    (value) => {
      expect(decide(value, false)).toEqual({ decision: 'skip', reason: 'special_address' })
      expect(decide(value, true)).toEqual({ decision: 'lookup', ask: { type: 'ip', value } })
    },
  )

  it.each(['10.0.0.1', '198.18.0.1', 'fe80::1', '2002::1'])('no other special address is: %s', (value) => {
    expect(decide(value, true).decision).toBe('skip')
  })
})

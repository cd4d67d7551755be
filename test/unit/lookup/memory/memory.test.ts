// The memory: what it keeps of equal facts.
import { expect, it } from 'vitest'
import type { Finding } from '../../../../src/domain/finding.js'
import { createMemory } from '../../../../src/lookup/memory/memory.js'

const open = () =>
  createMemory<string>(
    {
      maxEntries: 10,
      freshSeconds: { malicious: 60, suspicious: 60, clean: 60, noVerdict: 60, notFound: 60 },
      staleSeconds: 60,
      jitter: 0,
      refreshAhead: 0.1,
    },
    (name) => name,
    () => 'clean',
  )
const known = (categories: readonly string[], at: number): Finding => ({
  status: 'known',
  facts: { flags: { is_malicious: false }, categories },
  source: 'service',
  at,
})
const factsOf = (finding: Finding | undefined) => (finding?.status === 'known' ? finding.facts : undefined)

it('keeps equal facts once, each finding with its own time', () => {
  const memory = open()
  memory.set('a', known(['scanner'], 1))
  memory.set('b', known(['scanner'], 2))
  const [a, b] = ['a', 'b'].map((key) => memory.get(key)?.finding)
  expect(factsOf(a)).toBeDefined()
  expect(factsOf(b)).toBe(factsOf(a))
  expect([a, b]).toEqual([known(['scanner'], 1), known(['scanner'], 2)])
})

it('never mixes facts that differ', () => {
  const memory = open()
  memory.set('a', known(['scanner'], 1))
  memory.set('b', known(['malware'], 1))
  expect(factsOf(memory.get('b')?.finding)?.categories).toEqual(['malware'])
  expect(factsOf(memory.get('a')?.finding)?.categories).toEqual(['scanner'])
})

// Which name is guessed for one that does not exist.
import { describe, expect, it } from 'vitest'
import { didYouMean } from '../../../src/config/did-you-mean.js'

const commands = ['api', 'check', 'demo', 'estimate', 'extract', 'lookup', 'pipe', 'replay', 'run', 'rules', 'serve']

describe('didYouMean', () => {
  it.each([
    ['pip', 'pipe'],
    ['piep', 'pipe'],
    ['Lookup', 'lookup'],
    ['estimat', 'estimate'],
    ['rpelay', 'replay'],
  ])('guesses for %j the command %j', (name, meant) => {
    expect(didYouMean(name, commands)).toBe(`; did you mean ${meant}?`)
  })

  it.each(['', 'x', 'enrich', 'constructor', 'x'.repeat(10_000)])('guesses nothing for %.20j', (name) => {
    expect(didYouMean(name, commands)).toBe('')
  })

  it('goes by the words of a long name that is too far by its letters', () => {
    const names = ['THREATWEAVE_INTEL_SERVICE_API_KEY', 'THREATWEAVE_GATE_OWN_RANGES']
    expect(didYouMean('THREATWEAVE_API_KEY', names)).toBe('; did you mean THREATWEAVE_INTEL_SERVICE_API_KEY?')
  })
})

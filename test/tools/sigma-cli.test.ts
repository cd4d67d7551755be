// Holds the bundled rules to sigma-cli, and their conversions in examples/ to what it writes today.
import { describe, expect, it } from 'vitest'
import { checkRules, convertRules, provisionSigma, readConverted, rules } from '../../scripts/sigma.mjs'

const { sigma, missing } = provisionSigma()

if (sigma === undefined)
  it('is not tested for want of sigma-cli, which is a failure in CI', () => {
    process.stderr.write(`${missing ?? ''}\n`)
    expect(process.env.CI ?? '').toBe('')
  })

describe.runIf(sigma !== undefined)('the bundled rules', { timeout: 240_000 }, () => {
  it('pass sigma check without an issue', () => {
    const { ok, output } = checkRules(sigma ?? '', rules)
    expect(output).toMatch(/Found 0 errors, 0 condition errors and 0 issues/)
    expect(ok).toBe(true)
  })

  it('are converted in examples/sigma/ as sigma-cli converts them (after a change: node scripts/sigma.mjs)', () => {
    expect(readConverted()).toEqual(convertRules(sigma ?? ''))
  })
})

// Checks the bundled rules with sigma-cli, and that it converts each of them for every target.
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkRules, convertRules, provisionSigma, rules } from '../../scripts/sigma.mjs'

const { sigma, missing } = provisionSigma()

if (sigma === undefined)
  it('is not tested for want of sigma-cli, which is a failure in CI', () => {
    process.stderr.write(`${missing ?? ''}\n`)
    expect(process.env.CI ?? '').toBe('')
  })

describe.runIf(sigma !== undefined)('the bundled rules', { timeout: 900_000 }, () => {
  it('pass sigma check without an issue', () => {
    const { ok, output } = checkRules(sigma ?? '', rules)
    expect(output).toMatch(/Found 0 errors, 0 condition errors and 0 issues/)
    expect(ok).toBe(true)
  })

  it('are converted for OpenSearch, Splunk and Kusto, with column names that Kusto takes', () => {
    const queries = convertRules(sigma ?? '')
    const names = readdirSync(rules).map((file) => file.replace(/\.yml$/, ''))
    const files = names.flatMap((name) => [`kusto/${name}.kql`, `opensearch/${name}.lucene`, `splunk/${name}.spl`])
    expect(Object.keys(queries).sort()).toEqual(files.sort())
    for (const [file, query] of Object.entries(queries)) {
      expect(query).toContain('threatweave')
      if (file.startsWith('kusto/')) expect(query).not.toMatch(/threatweave\.|=~ (?:true|false)/)
    }
    expect([
      queries['opensearch/threatweave_claimed_malicious.lucene'],
      queries['splunk/threatweave_claimed_malicious.spl'],
      queries['kusto/threatweave_claimed_malicious.kql'],
    ]).toEqual([
      'threatweave.verdict:malicious AND threatweave.role:claimed',
      'threatweave.verdict="malicious" threatweave.role="claimed"',
      'threatweave_verdict =~ "malicious" and threatweave_role =~ "claimed"',
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { settingsOf } from '../../../src/config/environment.js'
import { load } from '../../../src/config/load.js'
import { redact } from '../../../src/config/redact.js'
import { configSchema } from '../../../src/config/schema.js'

describe('redact', () => {
  it('hides every setting that the schema calls a secret and nothing else', () => {
    const secrets = settingsOf(configSchema).filter(({ secret }) => secret)
    const env = Object.fromEntries(
      secrets.map(({ path }) => [
        `THREATWEAVE_${path.map((part) => part.replace(/[A-Z]/g, '_$&').toUpperCase()).join('_')}`,
        'planted-secret-of-some-length',
      ]),
    )
    const loaded = load({ env, readFile: () => '' })
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    const shown = JSON.stringify(redact(loaded.config))
    expect(shown).not.toContain('planted-secret-of-some-length')
    expect(shown.split('(hidden)').length - 1).toBe(secrets.length)
    expect(shown).toContain('"key":"threatweave"')
  })
})

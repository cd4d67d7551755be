import { describe, expect, it } from 'vitest'
import { settingsOf } from '../../../src/config/environment.js'
import { loadAny } from '../../../src/app/load-config.js'
import { redact } from '../../../src/config/redact.js'
import { allSettings } from '../../../src/app/load-config.js'

describe('redact', () => {
  it('hides every setting that the schema calls a secret and nothing else', () => {
    const secrets = settingsOf(allSettings.schema).filter(({ secret }) => secret)
    const env = Object.fromEntries(
      secrets.map(({ path }) => [
        `THREATWEAVE_${path.map((part) => part.replace(/[A-Z]/g, '_$&').toUpperCase()).join('_')}`,
        'planted-secret-of-some-length',
      ]),
    )
    const loaded = loadAny({ env, readFile: () => '' })
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    const shown = JSON.stringify(redact(loaded.config, allSettings.schema))
    expect(shown).not.toContain('planted-secret-of-some-length')
    expect(shown.split('(hidden)').length - 1).toBe(secrets.length)
    expect(shown).toContain('"key":"threatweave"')
  })

  it.each([
    ['https://user:planted@intel.example.com/v1', 'https://(hidden)@intel.example.com/v1'],
    ['https://planted@intel.example.com/', 'https://(hidden)@intel.example.com/'],
    ['https://intel.example.com:8443/v1?token=planted#planted', 'https://intel.example.com:8443/v1?(hidden)'],
    ['https://intel.example.com', 'https://intel.example.com'],
  ])('shows of the address %s only where it leads', (address, shown) => {
    const env = { THREATWEAVE_INTEL_SERVICE_BASE_URL: address, THREATWEAVE_SERVE_UPSTREAM: address }
    const loaded = loadAny({ env, readFile: () => '' })
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    expect(redact(loaded.config, allSettings.schema)).toMatchObject({
      intel: { service: { baseUrl: shown } },
      serve: { upstream: shown },
    })
  })

  it('shows nothing of an address that cannot be read', () => {
    const loaded = loadAny({ env: { THREATWEAVE_SERVE_UPSTREAM: 'https://user:planted@' }, readFile: () => '' })
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    expect(redact(loaded.config, allSettings.schema)).toMatchObject({ serve: { upstream: '(hidden)' } })
  })
})

// Production dependencies have permissive licences.
import { describe, expect, it } from 'vitest'
import { permissive, productionLicences } from '../../../scripts/dependencies.mjs'

describe('production dependencies', () => {
  const all = productionLicences()
  it('are read from what is installed', () => {
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(['fastify', 'kafkajs', 'undici']))
    expect(all.map(({ name }) => name)).not.toContain('vitest')
  })
  it('have permissive licences only', () => {
    expect(all.filter(({ licence }) => !permissive.has(licence))).toEqual([])
  })
})

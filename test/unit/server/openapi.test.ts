import { describe, expect, it } from 'vitest'
import { Validator } from '@seriousme/openapi-schema-validator'
import { operationNames } from '../../../src/domain/operations.js'
import { ask, startSampleService } from '../../support/lookup-service.js'

describe('GET /openapi.json', () => {
  it('needs no key, is valid OpenAPI 3.1 and describes all eighteen operations', async () => {
    const { url } = await startSampleService()
    const { http, body } = await ask(url, '/openapi.json', { key: null })
    expect(http).toBe(200)
    const validator = new Validator()
    expect(await validator.validate({ ...body })).toMatchObject({ valid: true })
    expect(validator.version).toBe('3.1')
    const described = Object.values(body.paths)
      .flatMap((path) => Object.values(path))
      .map(({ operationId }) => operationId)
    expect(described).toEqual(expect.arrayContaining([...operationNames]))
    expect(new Set(described).size).toBe(described.length)
  })
})

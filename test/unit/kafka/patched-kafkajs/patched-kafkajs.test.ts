import { describe, expect, it } from 'vitest'
import { installedVersion, mendedVersion } from '../../../../src/kafka/patched-kafkajs/patched-kafkajs.js'

describe('kafkajs', () => {
  it('is the version whose inner parts were replaced; after an update check them again', () => {
    expect(installedVersion).toBe(mendedVersion)
  })
})

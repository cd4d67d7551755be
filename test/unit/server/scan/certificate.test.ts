import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { certificateFault } from '../../../../src/server/scan/certificate.js'
import { certificates } from '../../../support/test-site.js'

const read = (file: string) => new X509Certificate(readFileSync(join(certificates, file))).toLegacyObject()
const issued = { ...read('self-signed.pem'), issuer: { ...read('self-signed.pem').issuer, CN: 'Example CA' } }
const in2026 = Date.parse('2026-06-01T00:00:00Z')

describe('certificateFault', () => {
  it.each([
    ['expired', 'one that ended', read('expired.pem'), 'www.site.example', in2026],
    ['expired', 'one that has yet to begin', issued, 'localhost', Date.parse('2019-01-01T00:00:00Z')],
    ['self_signed', 'one that vouches for itself', read('self-signed.pem'), 'localhost', in2026],
    ['mismatch', 'one for another name', issued, 'www.example.com', in2026],
    ['', 'a good one', issued, 'localhost', in2026],
  ] as const)('says %j of %s', (fault, _, certificate, host, now) => {
    expect(certificateFault(certificate, host, now)).toBe(fault)
  })
})

import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sampleKey, startSampleService } from '../../support/lookup-service.js'
import { certificates } from '../../support/test-site.js'

describe('TLS from files', () => {
  it('is spoken to callers, who can check the certificate', async () => {
    const certFile = join(certificates, 'self-signed.pem')
    const tls = { certFile, keyFile: join(certificates, 'site.key'), passphrase: '' }
    const { url } = await startSampleService({ tls })
    expect(url).toMatch(/^https:/)
    const options = { ca: readFileSync(certFile), headers: { 'x-api-key': sampleKey }, agent: false }
    const text = await new Promise<string>((resolve, reject) => {
      request(`${url}/v1/ip/summary?ip=203.0.113.7`, options, (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => (body += chunk.toString()))
        response.on('end', () => resolve(body))
      })
        .on('error', reject)
        .end()
    })
    expect(JSON.parse(text)).toMatchObject({ ip: '203.0.113.7', city: 'Portland', status: 200 })
  })
})

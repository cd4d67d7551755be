// The contract of the lookup service, held against `serve` on the sample intelligence.
import { startServer } from '../../src/server/start-server.js'
import { sampleKey, serveOutside, serveSettings } from '../support/lookup-service.js'
import { describeServiceContract } from './service-contract.js'

describeServiceContract('serve, on local intelligence', async () => {
  const settings = serveSettings()
  // Scans are taken, but nobody is there to be scanned: every name is one that does not exist.
  const nobody = { records: () => Promise.resolve(undefined), addresses: () => Promise.resolve([]) }
  const service = await startServer(
    { ...settings, scan: { ...settings.scan, enabled: true } },
    serveOutside({ resolver: nobody }),
  )
  return {
    baseUrl: service.url,
    apiKey: sampleKey,
    ip: '198.51.100.60',
    domain: 'example.com',
    scanId: '1000001',
    stop: service.close,
  }
})

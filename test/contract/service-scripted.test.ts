// The contract of the lookup service, held against the example answers replayed over HTTP.
import { replayExamples, startScriptedService, testKey } from '../support/scripted-service.js'
import { describeServiceContract } from './service-contract.js'

describeServiceContract('the examples of its interface', async () => {
  const service = await startScriptedService(replayExamples)
  return {
    baseUrl: service.baseUrl,
    apiKey: testKey,
    ip: '198.51.100.23',
    domain: 'example.com',
    scanId: '1000001',
    stop: service.close,
  }
})

// Without a budget of its own a key that is used directly sends 1,000 calls a day; a gateway counts for those that ask it.
import { expect, it, onTestFinished } from 'vitest'
import { outbound } from '../../support/lookup.js'
import { address, askAll, startAsker, startGateway } from '../../support/askers.js'
import { newFolder } from '../../support/lookup-service.js'
import { startScriptedService } from '../../support/scripted-service.js'

const startService = async () => {
  const service = await startScriptedService(({ query: { ip } }) => ({ status: 200, ip, is_malicious: false }))
  onTestFinished(service.close)
  return service
}

it('sends 1,000 calls to the provider, and is out of budget then', async () => {
  const service = await startService()
  const asker = await startAsker(service.baseUrl, {
    intel: { service: { baseUrl: service.baseUrl, apiKey: 'sample-key', concurrency: 32 } },
  })
  await askAll(asker, 0, 1_100)
  expect(service.asked).toHaveLength(1_000)
  expect(await asker.lookup({ type: 'ip', value: address(2_000) }, outbound)).toMatchObject({ reason: 'budget_spent' })
  expect(asker.admission?.state()).toMatchObject({ spent: { day: 1_000 } })
})

it('counts at the gateway alone, once for all that ask it', async () => {
  const service = await startService()
  const gateway = await startGateway(service.baseUrl, { state: newFolder() })
  const askers = [await startAsker(gateway.url), await startAsker(gateway.url)]
  const [first] = askers
  await first?.lookup({ type: 'ip', value: address(0) }, outbound)
  await Promise.all(askers.map((asker, nth) => askAll(asker, 1_000 * nth, 1_000 * nth + 600)))
  expect(service.asked).toHaveLength(1_000)
  expect(gateway.provider?.()).toMatchObject({ spent: { day: 1_000 } })
  expect(first?.admission?.state()).toMatchObject({ isGateway: true })
})

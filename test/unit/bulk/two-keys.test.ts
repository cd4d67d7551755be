// Two keys of one gateway, one of them with thousands of questions open.
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Ask } from '../../../src/domain/lookup.js'
import type { LookupServer } from '../../../src/server/start-server.js'
import { askAll, countKnown, startAsker, startGateway } from '../../support/askers.js'
import { startLimitedProvider, type LimitedProvider } from '../../support/limited-provider.js'
import { newFolder } from '../../support/lookup-service.js'
import { outbound } from '../../support/lookup.js'

const keys = { b: 'The-key-of-b-0123456789', c: 'The-key-of-c-0123456789' }
const blocked: Ask = { role: 'source', action: 'blocked', evidence: 'field' }

const start = async (planOfB: object = {}): Promise<{ gateway: LookupServer; provider: LimitedProvider }> => {
  const provider = await startLimitedProvider(1, 5)
  onTestFinished(provider.close)
  const state = newFolder()
  const gateway = await startGateway(provider.url, {
    state,
    socket: join(state, 'gateway.sock'),
    concurrency: 1,
    keys: {
      b: { key: keys.b, plan: { inFlight: 10_000, ...planOfB } },
      c: { key: keys.c, plan: { inFlight: 10_000 } },
    },
  })
  return { gateway, provider }
}
const askerOf = (gateway: LookupServer, apiKey: string) =>
  startAsker(gateway.url, { intel: { service: { baseUrl: gateway.url, apiKey } } })
/** Questions that have reached the gateway, however fast the provider answers. */
const arrived = (gateway: LookupServer, provider: LimitedProvider): number =>
  (gateway.provider?.().waiting ?? 0) + provider.asked.size

describe('a key with 3,000 questions open', () => {
  it('gets every second call while another key asks, also where only the first claims what matters most', async () => {
    const { gateway, provider } = await start()
    const [b, c] = [await askerOf(gateway, keys.b), await askerOf(gateway, keys.c)]
    void askAll(b, 0, 3_000, outbound)
    await expect.poll(() => arrived(gateway, provider)).toBeGreaterThan(2_000)
    const before = provider.asked.size
    expect(countKnown(await askAll(c, 10_000, 10_020, blocked))).toBe(20)
    // Those on their way when they came, and one between each two.
    expect(provider.asked.size - before).toBeLessThan(60)
  })

  it('gets no call while another key asks, where its plan is for replayed history', async () => {
    const { gateway, provider } = await start({ urgency: 'replay' })
    const [b, c] = [await askerOf(gateway, keys.b), await askerOf(gateway, keys.c)]
    void askAll(b, 0, 3_000, outbound)
    await expect.poll(() => arrived(gateway, provider)).toBeGreaterThan(2_000)
    const found = askAll(c, 10_000, 10_050, blocked)
    await expect.poll(() => arrived(gateway, provider)).toBeGreaterThan(3_020)
    const before = provider.asked.size
    expect(countKnown(await found)).toBe(50)
    expect(provider.asked.size - before).toBeLessThan(55)
  })
})

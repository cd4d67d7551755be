// Promise: health is bad for what a restart cures, within its limit, and for nothing else: no outage of provider or brokers. Readiness follows the brokers.
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startBrokerBehindProxy, type BrokerBehindProxy } from '../support/broker-behind-proxy.js'
import { complete, fill, makeTopics, readTopic, type Names } from '../support/kafka.js'
import { limitsEnv } from '../support/limits.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { spawnRun, type Run } from '../support/spawn-run.js'

let behind: BrokerBehindProxy
let provider: LookupServer
let run: Run | undefined
let url: string
let names: Names

beforeAll(async () => {
  behind = await startBrokerBehindProxy(1)
}, 120_000)
beforeEach(async () => {
  names = await makeTopics({ partitions: 2, broker: behind.through })
  provider = await startLookupServer({ hang: true })
})
afterEach(async () => {
  run?.kill('SIGKILL')
  await run?.ended
  await provider.close()
})
afterAll(() => behind.close())

const start = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
  run = spawnRun(names, {
    THREATWEAVE_LOG_LEVEL: 'info',
    THREATWEAVE_OPS_ENABLED: 'true',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
    THREATWEAVE_KAFKA_BROKERS: behind.through,
    ...env,
  })
  url = await run.opsUrl
}

type Seen = { readonly code: number | 'gone' | 'silent'; readonly problems: readonly string[] }

/** As a kubelet asks: an answer within three seconds, or none. */
const look = async (path = '/healthz'): Promise<Seen> => {
  try {
    const response = await fetch(url + path, { signal: AbortSignal.timeout(3_000) })
    return { code: response.status, problems: ((await response.json()) as { problems: string[] }).problems }
  } catch (error) {
    return { code: error instanceof Error && error.name === 'TimeoutError' ? 'silent' : 'gone', problems: [] }
  }
}

const metric = async (name: string): Promise<string | undefined> =>
  new RegExp(`^${name} (.*)$`, 'm').exec(await (await fetch(`${url}/metrics`)).text())?.[1]

/** Everything that was said until `done`. */
const watch = (): { readonly end: () => Promise<ReadonlySet<Seen['code']>> } => {
  const codes = new Set<Seen['code']>()
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      codes.add((await look()).code)
      await sleep(100)
    }
  })()
  return {
    end: async () => {
      over.abort()
      await watching
      return codes
    },
  }
}

describe('health', () => {
  it(
    'is good while the provider hangs and while the broker is away; readiness follows the broker',
    { timeout: 180_000 },
    async () => {
      // A session of five seconds, so that the brokers count as unreachable after as many.
      await start({ THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '5000' })
      const watched = watch()
      await fill(names.input, 2, 0, 500, behind.through)
      await readTopic(names.output, complete(2, 500), { broker: behind.through, limitMs: 60_000 })
      expect(provider.asked.length).toBeGreaterThan(0)
      expect((await look('/readyz')).code).toBe(200)
      await behind.broker.halt()
      await expect
        .poll(() => look('/readyz'), { timeout: 60_000 })
        .toMatchObject({
          code: 503,
          problems: expect.arrayContaining([expect.stringMatching(/^no broker has answered for \d+ s$/)]) as unknown,
        })
      expect(await metric('threatweave_brokers_reachable')).toBe('0')
      expect(await look()).toEqual({ code: 200, problems: [] })
      await behind.broker.resume()
      await fill(names.input, 2, 500, 1_000, behind.through)
      await readTopic(names.output, complete(2, 1_000), { broker: behind.through, limitMs: 60_000 })
      await expect.poll(() => look('/readyz'), { timeout: 60_000 }).toEqual({ code: 200, problems: [] })
      expect(await metric('threatweave_brokers_reachable')).toBe('1')
      expect([...(await watched.end())]).toEqual([200])
    },
  )

  it(
    'is bad when the event loop is held up again and again, and gives no answer meanwhile',
    { timeout: 120_000 },
    async () => {
      await start({ NODE_OPTIONS: `--import ${resolve(import.meta.dirname, '../support/block-loop.mjs')}` })
      expect((await look()).code).toBe(200)
      run?.kill('SIGUSR2')
      const since = Date.now()
      await sleep(200)
      expect((await look()).code).toBe('silent')
      let seen: Seen = { code: 'silent', problems: [] }
      while (seen.code !== 503 && Date.now() - since < 60_000) {
        const response = await fetch(`${url}/healthz`)
        seen = { code: response.status, problems: ((await response.json()) as { problems: string[] }).problems }
      }
      const tookMs = Date.now() - since
      expect(seen.problems).toEqual([expect.stringMatching(/^the event loop is blocked for \d+ s at a time$/)])
      expect(tookMs).toBeLessThan(40_000)
    },
  )

  it(
    'is gone with its process soon after the limit of a chunk, when the broker takes events and never says so',
    { timeout: 120_000 },
    async () => {
      const limitMs = 4_000
      await start(limitsEnv({ kafka: { chunkDeadlineMs: limitMs } }))
      await fill(names.input, 2, 0, 10, behind.through)
      await readTopic(names.output, complete(2, 10), { broker: behind.through })
      expect((await look()).code).toBe(200)
      behind.proxy.keepSilent('threatweave')
      await fill(names.input, 2, 10, 20, behind.through)
      const since = Date.now()
      while ((await look()).code === 200 && Date.now() - since < 60_000) await sleep(50)
      const tookMs = Date.now() - since
      const seen = await look()
      expect(seen.code).toBe('gone')
      expect(tookMs).toBeGreaterThan(limitMs - 500)
      // Health itself would say so five seconds after the limit: the process is quicker.
      expect(tookMs).toBeLessThan(limitMs + 5_000)
      expect(await run?.ended).toBe(1)
    },
  )
})

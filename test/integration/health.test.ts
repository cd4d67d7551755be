// Promise: health is bad for what a restart cures: an event loop that is held up again and again. An outage is none: broker-restart.
import { resolve } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { makeTopics } from '../support/kafka.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { spawnRun, type RunProcess } from '../support/spawn-run.js'

let provider: LookupServer
let run: RunProcess | undefined

afterEach(async () => {
  run?.kill('SIGKILL')
  await run?.ended
  await provider.close()
})

type Seen = { readonly code: number | 'silent'; readonly problems: readonly string[] }

/** As a kubelet asks: an answer within three seconds, or none. */
const look = async (url: string, signal = AbortSignal.timeout(3_000)): Promise<Seen> => {
  try {
    const response = await fetch(`${url}/healthz`, { signal })
    return { code: response.status, problems: ((await response.json()) as { problems: string[] }).problems }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') return { code: 'silent', problems: [] }
    throw error
  }
}

it('health is bad when the event loop is held up again and again, and gives no answer meanwhile', async () => {
  provider = await startLookupServer()
  run = spawnRun(await makeTopics({ partitions: 2 }), {
    THREATWEAVE_LOG_LEVEL: 'info',
    THREATWEAVE_OPS_ENABLED: 'true',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
    NODE_OPTIONS: `--import ${resolve(import.meta.dirname, '../support/block-loop.mjs')}`,
  })
  const url = await run.opsUrl
  await expect.poll(() => look(url), { timeout: 600_000 }).toMatchObject({ code: 200 })
  run.kill('SIGUSR2')
  await expect.poll(() => look(url), { timeout: 600_000 }).toMatchObject({ code: 'silent' })
  const patient = (): Promise<Seen> => look(url, AbortSignal.timeout(60_000))
  await expect.poll(patient, { timeout: 600_000 }).toEqual({
    code: 503,
    problems: [expect.stringMatching(/^the event loop is blocked for \d+ s at a time$/)],
  })
})

// A gateway of its own process that is killed while many questions are open, and started again.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { askAll, countKnown, startAsker } from '../../support/askers.js'
import { cliPath, root } from '../../support/cli.js'
import { startLimitedProvider } from '../../support/limited-provider.js'
import { newFolder, sampleKey } from '../../support/lookup-service.js'

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const start = async (upstream: string, state: string, port: number): Promise<ChildProcess> => {
  const child = spawn(
    process.execPath,
    [cliPath, 'serve', '--port', String(port), '--state', state, '--upstream', upstream],
    {
      cwd: root,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        THREATWEAVE_SERVE_API_KEY: sampleKey,
        THREATWEAVE_INTEL_SERVICE_API_KEY: 'The-gateways-own-key-9876543210',
        THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '8',
        THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
        THREATWEAVE_OPS_ENABLED: 'false',
      },
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise<void>((resolve) => {
    const listen = (chunk: Buffer): void => (String(chunk).includes(String(port)) ? resolve() : undefined)
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
  })
  return child
}

const kill = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('a gateway that is killed and started again with questions open', () => {
  it('answers all of them, and nothing is paid for twice but what was in flight', async () => {
    const provider = await startLimitedProvider(8, 10)
    onTestFinished(provider.close)
    const [state, port] = [newFolder(), await freePort()]
    let gateway = await start(provider.url, state, port)
    const askers = await Promise.all([0, 1, 2, 3].map(() => startAsker(`http://127.0.0.1:${port}`, {}, 150_000)))
    // The first answers are single calls, which this counts; the rest goes in bulk, where the gateway counts.
    for (const [turn, asker] of askers.entries())
      for (let nth = 5000 + turn * 1000; nth === 5000 + turn * 1000 || asker.admission?.state().spent.run !== 0; nth++)
        expect(countKnown(await askAll(asker, nth, nth + 1))).toBe(1)
    const asked = (): number => [...provider.asked.values()].reduce((sum, times) => sum + times, 0)
    const found = Promise.all(askers.map((asker, turn) => askAll(asker, turn * 500, turn * 500 + 500)))
    const before = asked()
    for (const share of [500, 1000]) {
      while (asked() <= before + share) await sleep(5)
      await kill(gateway)
      gateway = await start(provider.url, state, port)
    }
    expect((await found).map(countKnown)).toEqual([500, 500, 500, 500])
    expect(provider.asked.size).toBeGreaterThanOrEqual(2000)
    // At each kill the calls in flight, and the answers that were on their way to the disk; a lost memory would be hundreds.
    expect(asked() - provider.asked.size).toBeLessThanOrEqual(100)
    expect(provider.refused).toBe(0)
  })
})

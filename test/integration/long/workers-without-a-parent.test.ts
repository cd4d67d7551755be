// Promise: no worker of `run --workers` outlives its parent, however that one ended.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { committed, complete, fill, makeTopics, readTopic, tally } from '../../support/kafka.js'
import { startLookupServer } from '../../support/lookup-server.js'
import { spawnRun, type RunProcess } from '../../support/spawn-run.js'

const partitions = 4
const count = 1_000
/** For a machine with much else to do; no part of the verdict. */
const limitMs = 300_000
const recorder = resolve(import.meta.dirname, '../../support/record-exit.mjs')

it(
  'workers whose parent is killed deliver what they hold, exit with 1 and leave their ports to the next start',
  { timeout: 5 * limitMs },
  async () => {
    const server = await startLookupServer({ delayMs: 1 })
    onTestFinished(server.close)
    const names = await makeTopics({ partitions })
    const port = await firstOfThreePorts()
    const exits = mkdtempSync(join(tmpdir(), 'exits-'))
    const states = ({ pid }: RunProcess): Record<string, string> =>
      Object.fromEntries(
        readdirSync(exits)
          .filter((name) => name !== String(pid))
          .map((name) => [name, readFileSync(join(exits, name), 'utf8')]),
      )
    const start = (folder: string): RunProcess =>
      spawnRun(
        names,
        {
          NODE_OPTIONS: `--import=${recorder}`,
          RECORD_EXITS_IN: folder,
          THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
          THREATWEAVE_OPS_ENABLED: 'true',
          THREATWEAVE_OPS_PORT: String(port),
          THREATWEAVE_KAFKA_LIMITS_DRAIN_MS: '120000',
        },
        ['--workers', '2'],
      )
    const first = start(exits)
    onTestFinished(() => {
      first.kill('SIGKILL')
      for (const [pid, state] of Object.entries(states(first)))
        if (state === 'running') process.kill(Number(pid), 'SIGKILL')
    })
    const areReady = async (): Promise<boolean> => (await isReady(port)) && (await isReady(port + 1))
    await expect.poll(areReady, { timeout: limitMs, interval: 50 }).toBe(true)
    expect(Object.values(states(first))).toEqual(['running', 'running'])
    await fill(names.input, partitions, 0, count)
    const done = async (): Promise<number> => (await committed(names)).reduce((sum, offset) => sum + offset, 0)
    await expect.poll(done, { timeout: limitMs, interval: 20 }).toBeGreaterThan(0)

    first.kill('SIGKILL')
    await first.ended
    await expect.poll(() => Object.values(states(first)), { timeout: limitMs, interval: 50 }).toEqual(['1', '1'])

    const second = start(mkdtempSync(join(tmpdir(), 'exits-')))
    onTestFinished(() => second.kill('SIGKILL'))
    const records = await readTopic(names.output, complete(partitions, count), { limitMs, calmMs: 500 })
    expect(tally(records, partitions, count)).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
    expect(await second.stop()).toBe(0)
  },
)

/** Two workers and the gateway have one port each, counting up. */
const firstOfThreePorts = async (): Promise<number> => {
  for (let port = 20_000 + (process.pid % 10_000); ; port += 3) {
    const free = await Promise.all([port, port + 1, port + 2].map(isFree))
    if (free.every(Boolean)) return port
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const server = createServer()
    server.once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
  })

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

// Promise: `threatweave run` is all of this from the command line, with several workers if asked.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { supervise } from '../../src/app/supervise-workers.js'
import { cliPath as cli, someFeed, type Ran } from '../support/cli.js'
import { committed, complete, fill, makeTopics, readTopic, tally, type Names } from '../support/kafka.js'
import { runLoaded } from '../support/loaded-program.js'

const started = new Set<ChildProcess>()

afterEach(() => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
})

const environment = (names: Names): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
  THREATWEAVE_KAFKA_INPUT_TOPICS: names.input,
  THREATWEAVE_KAFKA_INPUT_START: 'earliest',
  THREATWEAVE_KAFKA_OUTPUT_TOPIC: names.output,
  THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: names.dead,
  THREATWEAVE_KAFKA_GROUP_ID: names.groupId,
  THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '2000',
  THREATWEAVE_OPS_PORT: '0',
  THREATWEAVE_FEEDS: JSON.stringify([{ name: 'sample', path: someFeed }]),
})

const start = (names: Names, ...args: string[]): ChildProcess => {
  const child = spawn(process.execPath, [cli, 'run', ...args], { env: environment(names), stdio: 'ignore' })
  started.add(child)
  return child
}

const ended = (child: ChildProcess): Promise<number | null> => new Promise((done) => child.once('exit', done))

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
      } catch {
        return false
      }
    })
    .map(Number)

describe('threatweave run', () => {
  it.runIf(process.platform === 'linux')(
    'starts a worker again that was killed, and stops all of them together',
    async () => {
      const names = await makeTopics({ partitions: 2 })
      const child = start(names, '--workers', '2')
      await fill(names.input, 2, 0, 200)
      await readTopic(names.output, complete(2, 200))
      const [victim] = childrenOf(child.pid!)
      process.kill(victim!, 'SIGKILL')
      await fill(names.input, 2, 200, 600)
      const records = await readTopic(names.output, complete(2, 600))
      expect(tally(records, 2, 600)).toMatchObject({ missing: 0, outOfOrder: 0 })
      while (childrenOf(child.pid!).length < 2) await sleep(100)
      const workers = childrenOf(child.pid!)
      expect(workers).toHaveLength(2)
      expect(workers).not.toContain(victim)
      const end = ended(child)
      child.kill('SIGTERM')
      expect(await end).toBe(0)
      expect(workers.filter((pid) => readdirSync('/proc').includes(String(pid)))).toEqual([])
      expect((await committed(names)).reduce((sum, offset) => sum + offset, 0)).toBe(1_200)
    },
  )

  it('does not start without its topics, and says which; check can make them, and refuses what would lose its records', async () => {
    const names = await makeTopics({ partitions: 3 })
    const missing = { ...names, output: `${names.output}-new`, dead: `${names.dead}-new` }
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'run'], {
      env: environment(missing),
      encoding: 'utf8',
    })
    expect(status).toBe(78)
    expect(stdout + stderr).toContain(`topic ${missing.output} does not exist`)
    const check = (sightings: string, ...args: readonly string[]): Promise<Ran> =>
      runLoaded(['check', '--online', ...args], {
        env: {
          ...environment(missing),
          THREATWEAVE_KAFKA_ALERTS_TOPIC: names.output,
          THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: sightings,
        },
      })
    expect(await check(`${names.output}-sightings`)).toMatchObject({ code: 1 })
    const made = await check(`${names.output}-sightings`, '--create-topics')
    expect(made.stdout).toContain(`Topic ${missing.output} was created.`)
    expect(made.code).toBe(0)
    // Not compacted.
    const refused = await check(names.dead)
    expect(refused.code).toBe(1)
    expect(refused.stdout + refused.stderr).toContain(
      'has cleanup.policy delete; as the sightings topic it needs compact,delete',
    )
  })

  it('is refused by a rule that cannot be read and ends, although feeds are already watched', async () => {
    const names = await makeTopics({ partitions: 1 })
    const { status, stderr } = spawnSync(process.execPath, [cli, 'run', '--config', withFeed()], {
      env: {
        ...environment(names),
        THREATWEAVE_KAFKA_ALERTS_TOPIC: names.dead,
        THREATWEAVE_ALERTS_RULES: '/nonexistent.yml',
      },
      encoding: 'utf8',
    })
    expect(stderr).toMatch(/alerts\.rules .*nonexistent/)
    expect(status).toBe(78)
  })

  it('does not start where the port of its endpoint is in use, and says which; neither do several workers', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    const { status, stderr } = spawnSync(process.execPath, [cli, 'run', '--workers', '2'], {
      env: { ...environment(await makeTopics({ partitions: 1 })), THREATWEAVE_OPS_PORT: String(port) },
      encoding: 'utf8',
    })
    holder.close()
    expect(stderr).toContain(`ops.port is in use: another process listens on port ${port} of 127.0.0.1`)
    expect(status).toBe(78)
  })
})

describe('run --workers', () => {
  it('starts a worker that ends right after its start again and again, later each time, and does not give up', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'threatweave-workers-'))
    // Ends at once three times, then stays until it is told to stop.
    const program = `
      const { appendFileSync, readFileSync } = require('node:fs')
      appendFileSync('lives', '.')
      if (readFileSync('lives').length <= 3) process.exit(1)
      process.once('SIGTERM', () => process.exit(0))
      setInterval(() => undefined, 1000)
      appendFileSync('up', process.env.THREATWEAVE_WORKER_NUMBER)`
    const pauses: number[] = []
    const stop = new AbortController()
    const supervised = supervise({
      count: 1,
      command: process.execPath,
      args: ['-e', `process.chdir(${JSON.stringify(folder)});${program}`],
      env: process.env,
      settings: () => Promise.resolve({}),
      limitMs: 5_000,
      signal: stop.signal,
      emit: (event) => {
        if (event.event === 'worker_exited') pauses.push(event.againInMs)
      },
    })
    await expect.poll(() => existsSync(join(folder, 'up')), { timeout: 600_000 }).toBe(true)
    stop.abort()
    // It knows which one it is, for its log.
    expect(readFileSync(join(folder, 'up'), 'utf8')).toBe('1')
    expect(await supervised).toBeUndefined()
    expect(pauses).toEqual([500, 1_000, 2_000])
  })
})

const withFeed = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-run-'))
  writeFileSync(join(folder, 'feed.txt'), '198.51.100.7\n')
  const path = join(folder, 'config.yaml')
  writeFileSync(path, `feeds: [{ name: mine, path: ${join(folder, 'feed.txt')} }]\ngate: { documentation: true }\n`)
  return path
}

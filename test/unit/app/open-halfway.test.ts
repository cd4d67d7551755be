// What is open is closed again when the next part cannot be opened.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openApp, type AppOptions } from '../../../src/app/open-app.js'
import { runAlone } from '../../../src/app/run-alone.js'
import { load } from '../../../src/config/load.js'
import { ConfigurationError } from '../../../src/config/problem.js'
import type { Config } from '../../../src/config/schema.js'
import { loadFeed } from '../../../src/feeds/load-feed.js'
import { lockFolder } from '../../../src/lookup/memory/folder-lock.js'
import { ignoreTelemetry } from '../../../src/telemetry/event.js'
import { createFakeClock } from '../../support/clock.js'

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-open-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'memory'))
  return folder
}

/** With a feed, a memory on disk and a provider. */
const configIn = (folder: string, values: Readonly<Record<string, unknown>> = {}): Config => {
  const feed = join(folder, 'feed.txt')
  writeFileSync(feed, '198.51.100.7\n')
  const loaded = load({
    values: {
      memory: { path: join(folder, 'memory') },
      feeds: [{ name: 'ours', path: feed }],
      alerts: { bundled: false },
      kafka: {
        brokers: ['127.0.0.1:1'],
        input: { topics: ['firewall'] },
        output: { topic: 'firewall-annotated' },
        verdictsTopic: '',
      },
      ...values,
      intel: {
        service: { apiKey: 'sample-key', baseUrl: 'http://127.0.0.1:1' },
        ...(values.intel as object | undefined),
      },
    },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config
}

/** Parts from outside, with a log of what they are told. */
const surroundings = () => {
  const log: string[] = []
  const clock = createFakeClock()
  const unused = (): never => {
    throw new Error('nothing is asked here')
  }
  const dispatcher = {
    dispatch: unused,
    connect: unused,
    destroy: () => {
      log.push('the client is closed')
      return Promise.resolve()
    },
  } as unknown as NonNullable<AppOptions['dispatcher']>
  return {
    log,
    clock,
    dispatcher,
    loadFeed: (request: Parameters<typeof loadFeed>[0]) => Promise.resolve(loadFeed(request)),
  }
}

/** Whether the memory's folder is free; it is locked while it is open. */
const isUnlocked = (folder: string): Promise<boolean> =>
  lockFolder(join(folder, 'memory')).then(
    ({ release }) => Promise.resolve(release()).then(() => true),
    () => false,
  )

const open = (config: Config, around: ReturnType<typeof surroundings>, more: Partial<AppOptions> = {}) =>
  openApp(config, {
    mode: 'live',
    env: {},
    emit: ignoreTelemetry,
    clock: around.clock,
    dispatcher: around.dispatcher,
    loadFeed: around.loadFeed,
    ...more,
  })

describe('opening the parts of the pipeline', () => {
  it('closes each of them when the last is open and the program ends', async () => {
    const folder = newFolder()
    const around = surroundings()
    const app = await open(configIn(folder), around)
    if ('problems' in app) throw new Error('cannot be opened')
    expect(await isUnlocked(folder)).toBe(false)
    expect(around.clock.timers()).toBeGreaterThan(0)
    await app.close()
    expect(await isUnlocked(folder)).toBe(true)
    expect([around.clock.timers(), new Set(around.log)]).toEqual([0, new Set(['the client is closed'])])
  })

  it.each([
    ['a judgement table', { intel: { table: '/nowhere/table.yaml' } }, 'intel.table'],
    ['a log format', { extract: { formats: ['/nowhere/format.yaml'] } }, 'extract.formats'],
    ['a file of the safeguard', { intel: { safeguard: ['/nowhere/list.txt'] } }, 'intel.safeguard'],
  ])('leaves nothing open when %s cannot be read', async (_, values, setting) => {
    const folder = newFolder()
    const around = surroundings()
    const app = await open(configIn(folder, values), around)
    if (!('problems' in app)) throw new Error('it was opened')
    expect(app.problems.map((problem) => problem.setting.slice(0, setting.length))).toEqual([setting])
    expect(await isUnlocked(folder)).toBe(true)
    expect(around.clock.timers()).toBe(0)
  })

  it('closes client and feeds when the memory is in use by another process', async () => {
    const folder = newFolder()
    const around = surroundings()
    const { release } = await lockFolder(join(folder, 'memory'))
    onTestFinished(() => void release())
    const app = await open(configIn(folder), around)
    if (!('problems' in app)) throw new Error('it was opened')
    expect(app.problems).toHaveLength(1)
    expect(app.problems[0]!.setting).toBe('memory.path')
    expect([around.clock.timers(), around.log]).toEqual([0, ['the client is closed']])
  })

  it('closes memory, feeds and client when the shared verdicts cannot be opened', async () => {
    const folder = newFolder()
    const around = surroundings()
    const verdicts = () => Promise.reject(new Error('the verdicts cannot be read'))
    await expect(open(configIn(folder), around, { verdicts })).rejects.toThrow('the verdicts cannot be read')
    expect(await isUnlocked(folder)).toBe(true)
    expect([around.clock.timers(), around.log]).toEqual([0, ['the client is closed']])
  })

  it('ends the calls before the shared verdicts, and those before the memory', async () => {
    const folder = newFolder()
    const around = surroundings()
    const wasLocked: boolean[] = []
    const app = await open(configIn(folder), around, {
      verdicts: () =>
        Promise.resolve({
          paid: () => undefined,
          close: async () => {
            around.log.push('the verdicts are closed')
            wasLocked.push(!(await isUnlocked(folder)))
          },
        }),
    })
    if ('problems' in app) throw new Error('cannot be opened')
    await app.close()
    expect(around.log.slice(0, 2)).toEqual(['the client is closed', 'the verdicts are closed'])
    expect(wasLocked).toEqual([true])
  })
})

describe('a worker', () => {
  const run = (config: Config, around: ReturnType<typeof surroundings>, serve: () => Promise<never>) =>
    runAlone(config, {
      env: {},
      signal: new AbortController().signal,
      runtime: {
        clock: around.clock,
        random: () => 0.5,
        idleMs: () => 0,
        loadFeed: around.loadFeed,
        dispatcher: around.dispatcher,
      },
      watch: {
        emit: ignoreTelemetry,
        hooks: {
          recalled: () => undefined,
          joined: () => undefined,
          lookedUp: () => undefined,
          waited: () => undefined,
        },
        observe: (pipeline) => pipeline,
        alerted: () => undefined,
        feedUse: () => undefined,
        serve,
        flush: () => void around.log.push('the log is flushed'),
        logTotals: () => undefined,
      },
    })

  it('closes everything when the port of its ops endpoint is in use', async () => {
    const folder = newFolder()
    const around = surroundings()
    const refusal = new ConfigurationError([{ setting: 'ops.port', message: 'is in use' }])
    await expect(run(configIn(folder), around, () => Promise.reject(refusal))).rejects.toBe(refusal)
    expect(await isUnlocked(folder)).toBe(true)
    expect(around.clock.timers()).toBe(0)
    expect([around.log[0], around.log.at(-1)]).toEqual(['the client is closed', 'the log is flushed'])
  })

  it('opens nothing when its judgement table is wrong', async () => {
    const folder = newFolder()
    const around = surroundings()
    const config = configIn(folder, { intel: { table: '/nowhere/table.yaml' } })
    await expect(run(config, around, () => Promise.reject(new Error('not reached')))).rejects.toThrow(
      /^intel\.table cannot be read/,
    )
    expect(around.log).toEqual([])
  })
})

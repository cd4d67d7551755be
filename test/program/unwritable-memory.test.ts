// Promise: an unwritable memory costs money after a restart, but never stops the stream.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openApp, type App } from '../../src/app/open-app.js'
import { openServer } from '../../src/app/open-server.js'
import { openClient } from '../../src/app/provider-client.js'
import { openWorkersGateway } from '../../src/app/workers-gateway.js'
import { load } from '../../src/config/load.js'
import type { Config } from '../../src/config/schema.js'
import { allOf } from '../../src/pipeline/pipeline.js'
import type { TelemetryEvent } from '../../src/telemetry/event.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { createCounters } from '../../src/telemetry/counters.js'
import { replayExamples, startScriptedService, testKey, type ScriptedService } from '../support/scripted-service.js'
import { cannotMount, mountSmallDisk, type SmallDisk } from '../support/small-disk.js'

let service: ScriptedService
let disk: SmallDisk | undefined
let folder: string
const open: App[] = []
beforeEach(async () => {
  service = await startScriptedService(replayExamples)
  folder = mkdtempSync(join(tmpdir(), 'unwritable-'))
})
afterEach(async () => {
  for (const app of open.splice(0)) await app.close()
  await service.close()
  disk?.unmount()
  disk = undefined
  rmSync(folder, { recursive: true, force: true })
})

const configOf = (path: string, admit: object): Config => {
  const loaded = load({
    values: {
      memory: { path },
      gate: { documentation: true },
      admit,
      intel: { service: { apiKey: testKey, baseUrl: service.baseUrl } },
    },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config
}

const start = async (path: string, admit: object = {}) => {
  const counters = createCounters([])
  const told: TelemetryEvent[] = []
  const app = await openApp(configOf(path, admit), {
    mode: 'complete',
    env: {},
    emit: (event) => {
      counters.emit(event)
      told.push(event)
    },
  })
  if ('problems' in app) return { problems: app.problems.map(({ message }) => message).join() }
  open.push(app)
  const metrics = createMetrics({ counts: counters.read, allowed: { hour: 0, day: 0 }, version: 'x' })
  return {
    close: () => open.splice(open.indexOf(app), 1)[0]!.close(),
    /** Events about so many addresses, and how many of them came to a verdict. */
    judge: async (from: number, to: number): Promise<number> => {
      const chunk = Array.from({ length: to - from }, (_, nth) => ({
        bytes: Buffer.from(`{"dst_ip":"198.51.100.${from + nth}"}`),
        origin: `a/0/${from + nth}`,
      }))
      return (await allOf(app.pipeline, chunk)).filter(({ verdict }) => verdict !== 'unknown').length
    },
    said: (name: TelemetryEvent['event']): number => told.filter(({ event }) => event === name).length,
    restored: (): unknown => told.find(({ event }) => event === 'memory_restored'),
    kept: async (): Promise<string | undefined> =>
      /^threatweave_memory_writable (\d)$/m.exec(await metrics.text())?.[1],
  }
}
const started = async (...args: Parameters<typeof start>) => {
  const found = await start(...args)
  if ('problems' in found) throw new Error(found.problems)
  return found
}

describe('a memory folder that cannot be written at the start', () => {
  it('is a warning, a metric and a stream that continues in memory', async () => {
    writeFileSync(join(folder, 'file'), '')
    const stream = await started(join(folder, 'file', 'memory'))
    expect(await stream.judge(0, 10)).toBe(10)
    const asked = service.asked.length
    expect(await stream.judge(0, 10)).toBe(10)
    expect(service.asked).toHaveLength(asked)
    expect([stream.said('memory_not_persisted'), stream.said('memory_write_failed')]).toEqual([1, 0])
    expect(await stream.kept()).toBe('0')
  })

  it.each(['perHour', 'perDay'])('refuses to start where %s has to be counted in it', async (limit) => {
    writeFileSync(join(folder, 'file'), '')
    expect(await start(join(folder, 'file', 'memory'), { [limit]: 100 })).toMatchObject({
      problems: expect.stringMatching(
        /cannot be used, and admit.perHour and admit.perDay are counted there: ENOTDIR/,
      ) as string,
    })
  })
})

describe('the gateway of workers whose folder cannot be written', () => {
  const open = (admit: object, emit: (event: TelemetryEvent) => void) => {
    writeFileSync(join(folder, 'file'), '')
    return openWorkersGateway(configOf(join(folder, 'file', 'memory'), admit), { env: {}, emit })
  }

  it('says so and works without it', async () => {
    const told: string[] = []
    const gateway = await open({}, ({ event }) => void told.push(event))
    const asked = load({ env: gateway.env, readFile: () => '' })
    if ('problems' in asked) return expect.fail(JSON.stringify(asked.problems))
    const client = openClient(asked.config, { env: {} })
    if (!client || 'problems' in client) return expect.fail(JSON.stringify(client))
    expect(await client.callNamed('ip/malicious-info', { ip: '198.51.100.7' })).toMatchObject({ status: 'answer' })
    await client.close()
    await gateway.close()
    expect(told.filter((event) => event === 'memory_not_persisted')).toHaveLength(1)
  })

  it('refuses where a budget has to be counted in it', async () => {
    await expect(open({ perDay: 100 }, () => undefined)).rejects.toThrow()
  })
})

it('a lock without an owner is not a lock', async () => {
  writeFileSync(join(folder, 'lock'), '')
  const stream = await started(folder)
  expect(await stream.judge(0, 1)).toBe(1)
  expect(await stream.kept()).toBe('1')
  expect(readFileSync(join(folder, 'lock'), 'utf8')).toContain(`"pid":${process.pid}`)
})

describe.skipIf(cannotMount())('a disk', () => {
  it('that is full at the start leaves no lock behind and refuses nothing, also where a budget is counted on it', async () => {
    disk = mountSmallDisk(64)
    disk.fill()
    for (const admit of [{}, { perDay: 100 }]) {
      const stream = await started(disk.path, admit)
      expect(await stream.judge(0, 10)).toBe(10)
      expect([stream.said('memory_not_persisted'), await stream.kept()]).toEqual([1, '0'])
      expect(existsSync(join(disk.path, 'lock'))).toBe(false)
      await stream.close()
    }
    disk.free()
    const next = await started(disk.path, { perDay: 100 })
    expect([await next.judge(0, 1), await next.kept()]).toEqual([1, '1'])
  })

  it('that is full at the next start opens no second budget', async () => {
    disk = mountSmallDisk(64)
    const first = await started(disk.path, { perDay: 10 })
    await first.judge(0, 20)
    expect(service.asked).toHaveLength(10)
    await first.close()
    disk.fill()
    const next = await started(disk.path, { perDay: 10 })
    expect(await next.judge(20, 40)).toBe(0)
    expect(service.asked).toHaveLength(10)
  })

  it('that is full keeps no server and no gateway from its next start', async () => {
    disk = mountSmallDisk(128)
    const config = configOf('none', { perDay: 100 })
    const state = join(disk.path, 'state')
    const open = async (): Promise<readonly string[]> => {
      const told: string[] = []
      const serve = { ...config.serve, host: '127.0.0.1', port: 0, apiKey: testKey, upstream: service.baseUrl, state }
      const server = await openServer({ ...config, serve }, { env: {}, emit: ({ event }) => told.push(event) }, 'x')
      await server.close()
      return told.filter((event) => /^memory_(?:not_persisted|write_failed)$/.test(event))
    }
    expect(await open()).toEqual([])
    disk.fill()
    expect(await open()).toContain('memory_not_persisted')
  })

  it('that is read-only at the start is read, and not written', async () => {
    disk = mountSmallDisk(1024)
    const first = await started(disk.path)
    await first.judge(0, 5)
    await first.close()
    const before = readdirSync(disk.path)
    disk.makeReadOnly()
    service.asked.splice(0)
    const second = await started(disk.path)
    expect(await second.judge(0, 6)).toBe(6)
    expect(service.asked.filter(({ path }) => path.endsWith('malicious-info'))).toHaveLength(1)
    expect([second.said('memory_not_persisted'), await second.kept()]).toEqual([1, '0'])
    expect(readdirSync(disk.path)).toEqual(before)
  })

  it('that becomes full costs one warning, is written again when it can be, and holds no torn record', async () => {
    disk = mountSmallDisk(512)
    const stream = await started(disk.path)
    expect([await stream.judge(0, 20), await stream.kept()]).toEqual([20, '1'])
    disk.fill()
    expect(await stream.judge(20, 120)).toBe(100)
    expect(await stream.judge(0, 120)).toBe(120)
    expect(stream.said('memory_write_failed')).toBe(1)
    expect(await stream.kept()).toBe('0')
    disk.free()
    expect([await stream.judge(120, 140), await stream.kept()]).toEqual([20, '1'])
    await stream.close()
    const next = await started(disk.path)
    expect(next.restored()).toMatchObject({ damaged: 0 })
    service.asked.splice(0)
    expect([await next.judge(0, 20), await next.judge(120, 140), service.asked.length]).toEqual([20, 20, 0])
  })
})

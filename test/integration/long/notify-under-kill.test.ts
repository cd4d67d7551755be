// Promise: however notify and its sink are killed, no alert is lost, and one that is sent again has the same id.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../../src/parts/demo/broker.js'
import { makeTopic, report, soak, writeAlerts } from '../../support/kafka.js'
import { alertOf, idOf, startSinkServer, type Answer } from '../../support/sinks.js'
import { spawnNotify, type RunProcess } from '../../support/spawn-run.js'

const closings: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closings.reverse()) await close()
})

const kills = soak ? 20 : 3

const newTopic = async (): Promise<{ readonly topic: string; readonly folder: string }> => {
  const topic = `alerts-${randomUUID().slice(0, 8)}`
  await makeTopic(topic, 1)
  return { topic, folder: mkdtempSync(join(tmpdir(), 'sinks-')) }
}

const startNotify = async (topic: string, folder: string, more: Record<string, string> = {}): Promise<RunProcess> => {
  const notify = spawnNotify({
    THREATWEAVE_KAFKA_ALERTS_TOPIC: topic,
    THREATWEAVE_KAFKA_GROUP_ID: topic,
    THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '6000',
    THREATWEAVE_NOTIFY_SINKS: folder,
    ...more,
  })
  closings.push(() => notify.kill('SIGKILL'))
  const url = await notify.opsUrl
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { interval: 200 }).toBe(200)
  return notify
}

describe('threatweave notify', () => {
  it('loses nothing when it and its sink are killed again and again', { timeout: 1_800_000 }, async () => {
    const { topic, folder } = await newTopic()
    const file = join(mkdtempSync(join(tmpdir(), 'received-')), 'bodies')
    const [port = 0] = await freePorts(1)
    writeFileSync(join(folder, 'kept.yaml'), `id: kept\nuse: webhook\nurl: http://127.0.0.1:${port}/\n`)
    const startSink = async (): Promise<ChildProcess> => {
      const script = resolve(import.meta.dirname, '../../support/sink-process.mjs')
      const child = spawn(process.execPath, [script, String(port), file], { stdio: ['ignore', 'pipe', 'inherit'] })
      closings.push(() => child.kill('SIGKILL'))
      await new Promise((done) => child.stdout.once('data', done))
      return child
    }
    const bodies = (): readonly string[] =>
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
        : []
    let sink = await startSink()
    let notify = await startNotify(topic, folder)
    let count = 0
    const stop = new AbortController()
    const writing = (async () => {
      while (!stop.signal.aborted) {
        await writeAlerts(
          topic,
          Array.from({ length: 20 }, (_, nth) => alertOf(count + nth)),
        )
        count += 20
        await sleep(200)
      }
    })()
    const moves = async (): Promise<void> => {
      const before = bodies().length
      await expect.poll(() => bodies().length, { interval: 100 }).toBeGreaterThan(before)
    }
    for (let kill = 0; kill < kills; kill++) {
      await moves()
      await sleep(Math.random() * 300)
      notify.kill('SIGKILL')
      await notify.ended
      notify = await startNotify(topic, folder)
      await moves()
      await sleep(Math.random() * 300)
      sink.kill('SIGKILL')
      await sleep(Math.random() * 500)
      sink = await startSink()
    }
    stop.abort()
    await writing
    const idIn = (body: string): string => (JSON.parse(body) as { event: { id: string } }).event.id
    const ids = (): ReadonlySet<string> => new Set(bodies().map(idIn))
    await expect.poll(() => ids().size, { interval: 500 }).toBe(count)
    const arrived = ids()
    const missing = Array.from({ length: count }, (_, nth) => idOf(nth)).filter((id) => !arrived.has(id))
    const received = bodies()
    report('notify and its sink, killed again and again', {
      kills: 2 * kills,
      alerts: count,
      missing: missing.length,
      repeated: received.length - count,
    })
    expect(missing).toEqual([])
    // What comes again is what came before, to the last byte.
    expect(new Set(received).size).toBe(count)
    // A kill repeats what was on its way: one alert for each.
    expect(received.length - count).toBeLessThanOrEqual(2 * kills)
    expect(await notify.stop()).toBe(0)
  })

  it('delays no other sink for one that does everything wrong', { timeout: 1_800_000 }, async () => {
    const secret = 'a-secret-that-nobody-may-see'
    const alerts = soak ? 10_000 : 1_000
    const inside = await startSinkServer()
    const wrong: readonly Answer[] = [
      (_, response) => void response.writeHead(429, { 'retry-after': '1' }).end(secret),
      (_, response) => void response.writeHead(500).end(secret),
      () => undefined,
      (_, response) => void response.destroy(),
      (_, response) => void response.writeHead(302, { location: inside.url.href }).end(),
      (_, response) => {
        const chunk = Buffer.alloc(1_048_576, 'x')
        let sent = 0
        const more = (): void => {
          while (!response.destroyed && sent++ < 1_000)
            if (!response.write(chunk)) return void response.once('drain', more)
        }
        response.writeHead(503)
        more()
      },
    ]
    const hostile = await startSinkServer((one, response, nth) => wrong[nth % wrong.length]?.(one, response, nth))
    const items = (body: string): string =>
      JSON.stringify({ items: body.match(/^\{"create"/gm)?.map(() => ({ create: { status: 201 } })) })
    const store = await startSinkServer(({ body }, response) => void response.end(items(body)))
    closings.push(hostile.close, store.close, inside.close)
    const { topic, folder } = await newTopic()
    const secretFile = join(mkdtempSync(join(tmpdir(), 'secret-')), 'secret')
    writeFileSync(secretFile, secret, { mode: 0o600 })
    writeFileSync(
      join(folder, 'a.yaml'),
      `id: hostile\nuse: webhook\nurl: ${hostile.url.href}\nsecretFile: ${secretFile}\n`,
    )
    writeFileSync(join(folder, 'b.yaml'), `id: store\nuse: opensearch\nurl: ${store.url.href}\n`)
    const notify = await startNotify(topic, folder)
    const url = await notify.opsUrl
    let log = ''
    notify.stderr.setEncoding('utf8').on('data', (part: string) => (log += part))
    const began = Date.now()
    await writeAlerts(
      topic,
      Array.from({ length: alerts }, (_, nth) => alertOf(nth)),
    )
    const stored = (): number =>
      store.received.reduce((sum, { body }) => sum + (body.match(/^\{"create"/gm)?.length ?? 0), 0)
    await expect.poll(stored, { interval: 100 }).toBe(alerts)
    const storedMs = Date.now() - began
    await expect.poll(() => hostile.received.length, { interval: 200 }).toBeGreaterThan(wrong.length)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const bytes = Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1])
    report('a sink that does everything wrong', { alerts, storedMs, residentMb: Math.round(bytes / 1e6) })
    expect(bytes).toBeLessThan(400_000_000)
    expect(metrics).toMatch(/threatweave_sink_lag\{sink="store",partition="0"\} 0/)
    expect(
      new Set(hostile.received.map(({ body }) => (JSON.parse(body) as { event: { id: string } }).event.id)),
    ).toEqual(new Set([idOf(0)]))
    expect(inside.received).toEqual([])
    notify.kill('SIGTERM')
    await notify.ended
    expect(log).toContain('sink_failed')
    expect(log).not.toContain(secret)
  })
})

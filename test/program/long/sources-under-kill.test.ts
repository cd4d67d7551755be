// Three sources with different limits and five thousand addresses: no limit is ever exceeded and nothing is asked twice, after kill -9 too.
import { spawn } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { cliPath, runCli } from '../../support/cli.js'
import { newFolder } from '../../support/lookup-service.js'
import { startListServer } from '../../support/list-server.js'
import { sourceAt } from '../../support/source-server.js'

const addresses = Array.from({ length: 5_000 }, (_, nth) => `45.${(nth >> 8) + 10}.${nth & 255}.7`)

type Sent = { readonly value: string; readonly at: number }

/** Answers every fifth address with an accusation, and notes what it was asked, when. */
const startSource = async (id: string, limits: string, concurrency: number) => {
  const sent: Sent[] = []
  const server = await startListServer((request, response) => {
    const value = new URL(request.url!, 'http://localhost').searchParams.get('ipAddress') ?? ''
    sent.push({ value, at: Date.now() })
    const score = addresses.indexOf(value) % 5 === 0 ? 100 : 0
    response.end(JSON.stringify({ data: { ipAddress: value, abuseConfidenceScore: score } }))
  })
  const change = (text: string): string =>
    text.replace('id: abuseipdb', `id: ${id}`).replace(/limits:\n(?: {2}- .*\n)+/, `limits: ${limits}\n`)
  return { sent, settings: { ...sourceAt(server.url, 'sources/abuseipdb.yaml', change), concurrency } }
}

/** The most that any stretch of time of this length holds. */
const mostWithin = (sent: readonly Sent[], lengthMs: number): number => {
  let most = 0
  for (let from = 0, to = 0; to < sent.length; to++) {
    while (sent[to]!.at - sent[from]!.at >= lengthMs) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}

it('asks each source once per address, within its limits, over a kill', { timeout: 900_000 }, async () => {
  const free = await startSource('free', '[]', 8)
  const daily = await startSource('daily', '[{ calls: 200, per: second }, { calls: 1500, per: day }]', 4)
  const slow = await startSource('slow', '[{ calls: 300, per: minute }, { calls: 500, per: day }]', 2)
  const all = [free, daily, slow]
  const folder = newFolder()
  const config = join(folder, 'threatweave.yaml')
  const input = join(folder, 'events.ndjson')
  writeFileSync(input, addresses.map((value) => `${JSON.stringify({ source: { ip: value } })}\n`).join(''))
  writeFileSync(
    config,
    JSON.stringify({
      intel: { safeguard: [], sources: all.map(({ settings }) => settings) },
      memory: { path: join(folder, 'memory') },
      output: { detail: 'full' },
    }),
  )
  const day = (): number => Math.floor(Date.now() / 86_400_000)
  const began = day()
  const child = spawn(process.execPath, [cliPath, 'pipe', '--config', config, input], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const written = (id: string): number => {
    const path = join(folder, 'memory/sources', id, 'findings-00000001.log')
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0
  }
  // In the middle: all have begun, and none has spent its day.
  await vi.waitFor(
    () => expect(slow.sent.length >= 250 && ['free', 'daily', 'slow'].every((id) => written(id) > 10_000)).toBe(true),
    { timeout: 600_000, interval: 5 },
  )
  child.kill('SIGKILL')
  await ended
  const before = all.map(({ sent }) => sent.length)

  const { code, stdout, stderr } = await runCli(['pipe', '--config', config, input], {
    env: { THREATWEAVE_MEMORY_PATH: join(folder, 'memory') },
  })
  expect(code, stderr).toBe(0)
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { threatweave: Record<string, unknown> }).threatweave)
  expect(events).toHaveLength(5_000)

  // Nothing that was written down is asked again; what was not yet written when the process was killed is.
  const restored = (id: string): number => {
    const line = stderr.split('\n').find((each) => each.includes('memory_restored') && each.includes(`/sources/${id}"`))
    return (JSON.parse(line ?? '{}') as { findings?: number }).findings ?? 0
  }
  expect(restored('free')).toBeGreaterThan(0)
  expect(free.sent.length - before[0]!).toBe(5_000 - restored('free'))
  for (const [at, id] of ['free', 'daily', 'slow'].entries()) {
    const { sent } = all[at]!
    const twice = sent.length - new Set(sent.map(({ value }) => value)).size
    expect(twice).toBeLessThanOrEqual(before[at]! - restored(id))
    expect(sent.length).toBeGreaterThan(before[at]!)
  }
  expect(new Set(free.sent.map(({ value }) => value)).size).toBe(5_000)
  // By when they arrived: what was sent a minute apart may arrive some seconds closer on a busy machine.
  expect(mostWithin(slow.sent, 55_000)).toBeLessThanOrEqual(300)
  if (began === day()) {
    // A call that was counted and not yet sent when the process was killed stays counted.
    for (const [{ sent, settings }, most] of [
      [daily, 1_500],
      [slow, 500],
    ] as const) {
      expect(sent.length).toBeLessThanOrEqual(most)
      expect(sent.length).toBeGreaterThanOrEqual(most - settings.concurrency)
    }
  }
  // Every fifth is accused by all who were asked; what not everyone answered is never clean.
  for (const [nth, event] of events.entries()) {
    expect(event.verdict).toBe(nth % 5 === 0 ? 'malicious' : 'unknown')
    if (nth % 5 === 0) expect(event.accusers).toBeGreaterThanOrEqual(1)
  }
  process.stdout.write(
    `sources under kill: ${all.map(({ sent }) => sent.length).join(', ')} calls, ${before.join(', ')} before the kill, ${['free', 'daily', 'slow'].map(restored).join(', ')} restored\n`,
  )
})

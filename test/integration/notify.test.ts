// Promise: every alert reaches every sink that takes it, from where the sink was; one that is away delays no other, and no alert is lost.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { makeTopic, readTopic, writeAlerts } from '../support/kafka.js'
import { runLoaded } from '../support/loaded-program.js'
import {
  alertIdsIn,
  alertOf,
  answerWith,
  idOf,
  startSinkServer,
  type Answer,
  type SinkServer,
} from '../support/sinks.js'
import { spawnNotify, type RunProcess } from '../support/spawn-run.js'

const closings: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closings.reverse()) await close()
})

const some = (from: number, to: number): readonly object[] =>
  Array.from({ length: to - from }, (_, nth) => alertOf(from + nth))
const ids = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, nth) => idOf(from + nth))

const ready = async (notify: RunProcess): Promise<string> => {
  const url = await notify.opsUrl
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200)
  return url
}

const setUp = async (sinks: Readonly<Record<string, SinkServer>>, more: Readonly<Record<string, string>> = {}) => {
  const topic = `alerts-${randomUUID().slice(0, 8)}`
  await makeTopic(topic, 1)
  const folder = mkdtempSync(join(tmpdir(), 'sinks-'))
  for (const [id, { url }] of Object.entries(sinks))
    writeFileSync(join(folder, `${id}.yaml`), `id: ${id}\nurl: ${url.href}\nbody: { $value: alert }\n${more[id] ?? ''}`)
  const silences = join(mkdtempSync(join(tmpdir(), 'silences-')), 'silences.yaml')
  writeFileSync(silences, 'silences: []\n')
  const start = (): RunProcess => {
    const notify = spawnNotify({
      THREATWEAVE_KAFKA_ALERTS_TOPIC: topic,
      THREATWEAVE_KAFKA_GROUP_ID: topic,
      THREATWEAVE_NOTIFY_SINKS: folder,
      THREATWEAVE_NOTIFY_SILENCES: silences,
    })
    closings.push(notify.stop)
    return notify
  }
  return { topic, start, silences }
}

const serverWith = async (answer?: Answer): Promise<SinkServer> => {
  const server = await startSinkServer(answer)
  closings.push(server.close)
  return server
}

describe('threatweave notify', () => {
  it('sends what is new to each sink by itself, and after a stop goes on where each was', async () => {
    let isAway = true
    const chat = await serverWith()
    const away = await serverWith((_, response) => void response.writeHead(isAway ? 503 : 200).end())
    const strict = await serverWith(({ body }, response, nth) =>
      answerWith(body.includes(idOf(12)) ? 422 : 200, 'no such field')(
        { method: '', path: '', headers: {}, body },
        response,
        nth,
      ),
    )
    const { topic, start } = await setUp({ chat, away, strict }, { away: 'sends: everything\n' })
    await writeAlerts(topic, some(1, 4))
    const first = start()
    const url = await ready(first)
    await writeAlerts(topic, some(10, 15))
    await expect.poll(() => alertIdsIn(chat.received)).toEqual(ids(10, 15))
    await expect.poll(() => away.received.length).toBeGreaterThan(1)
    expect(new Set(alertIdsIn(away.received))).toEqual(new Set([idOf(10)]))
    const letters = await readTopic(`${topic}-undelivered`, (read) => read.length > 0)
    expect(letters).toHaveLength(1)
    expect(JSON.parse(String(letters[0]?.value))).toMatchObject({ threatweave: { alert_id: idOf(12) } })
    expect(Object.entries(letters[0]?.headers ?? {}).map(([name, value]) => `${name}: ${String(value)}`)).toEqual([
      'threatweave-sink: strict',
      'threatweave-status: 422',
      'threatweave-answer: no such field',
      `threatweave-alert: ${topic}/0:5`,
    ])
    const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text()
    await expect.poll(metrics).toContain('threatweave_sink_state{sink="away",state="failing"} 1')
    expect(await metrics()).toContain('threatweave_sink_alerts_total{sink="strict",fate="refused"} 1')
    expect(await metrics()).toMatch(/threatweave_sink_oldest_alert_seconds\{sink="away"\} [0-9.]+/)
    expect(await first.stop()).toBe(0)
    await writeAlerts(topic, some(20, 22))
    isAway = false
    const before = away.received.length
    await ready(start())
    await expect.poll(() => alertIdsIn(chat.received)).toEqual([...ids(10, 15), ...ids(20, 22)])
    await expect.poll(() => alertIdsIn(away.received.slice(before))).toEqual([...ids(10, 15), ...ids(20, 22)])
  })

  it('merges the alerts of a group over a restart, and holds back what a silence names as soon as it is there', async () => {
    const chat = await serverWith()
    const { topic, start, silences } = await setUp({ chat })
    const first = start()
    const url = await ready(first)
    await writeAlerts(topic, [alertOf(1, { group: 'a' }), alertOf(2, { group: 'a' }), alertOf(3, { group: 'b' })])
    await expect.poll(() => alertIdsIn(chat.received)).toEqual([idOf(1), idOf(3)])
    writeFileSync(
      silences,
      'silences:\n  - { id: quiet, match: { threatweave.peer: 10.9.9.9 }, until: 2100-01-01, reason: a test, by: me }\n',
    )
    await expect
      .poll(async () => (await fetch(`${url}/metrics`)).text())
      .toContain('threatweave_silence_in_force{silence="quiet"} 1')
    await writeAlerts(topic, [alertOf(4, { peer: '10.9.9.9' }), alertOf(5)])
    await expect.poll(() => alertIdsIn(chat.received)).toEqual([idOf(1), idOf(3), idOf(5)])
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(
      'threatweave_silenced_alerts_total{silence="quiet"} 1',
    )
    await first.stop()
    await ready(start())
    await writeAlerts(topic, [alertOf(6, { group: 'a' }), 'no alert', alertOf(7)])
    await expect.poll(() => alertIdsIn(chat.received).slice(3)).toEqual([idOf(7)])
  })

  it('silences the matches of an alert whose id somebody has read in the chat', async () => {
    const { topic, silences } = await setUp({})
    await writeAlerts(topic, [alertOf(1, { peer: '10.9.9.9' }), alertOf(2)])
    const { code, stderr } = await runLoaded(['silence', idOf(1), '--for', '7d', '--file', silences], {
      env: { THREATWEAVE_KAFKA_BROKERS: inject('broker').plain, THREATWEAVE_KAFKA_ALERTS_TOPIC: topic },
    })
    expect(code, stderr).toBe(0)
    const text = readFileSync(silences, 'utf8')
    for (const matcher of [
      'rule.id: "threatweave-notify"',
      'threatweave.value: "203.0.113.99"',
      'threatweave.peer: "10.9.9.9"',
    ])
      expect(text).toContain(matcher)
  })
})

// The bundled sink `alertmanager`, against a real Alertmanager.
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../src/parts/demo/broker.js'
import { readAlert, type AlertRecord } from '../../src/parts/notify/alert-record.js'
import { createSinkClient, type Outcome } from '../../src/parts/notify/sink-client.js'
import { alertOf, sinkOf } from '../support/sinks.js'
import { findTool } from '../support/tools.js'

const program = findTool('alertmanager')

type Shown = {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly startsAt: string
  readonly endsAt: string
}

const alertAt = (nth: number, changes: Parameters<typeof alertOf>[1]): AlertRecord => {
  const read = readAlert(Buffer.from(JSON.stringify(alertOf(nth, changes))))
  if ('problem' in read) throw new Error(read.problem)
  return read
}

describe.skipIf('missing' in program)('the sink alertmanager', () => {
  const closings: (() => unknown)[] = []
  let url = ''

  beforeAll(async () => {
    const [port = 0] = await freePorts(1)
    const folder = mkdtempSync(join(tmpdir(), 'alertmanager-'))
    writeFileSync(join(folder, 'alertmanager.yml'), 'route: { receiver: none }\nreceivers: [{ name: none }]\n')
    url = `http://127.0.0.1:${port}/api/v2/alerts`
    const child = spawn(
      'path' in program ? program.path : '',
      [
        `--config.file=${join(folder, 'alertmanager.yml')}`,
        `--storage.path=${folder}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
      ],
      { stdio: 'ignore' },
    )
    closings.push(() => child.kill())
    const isUp = async (): Promise<boolean> => (await fetch(url).catch(() => undefined))?.ok === true
    while (!(await isUp())) await sleep(100)
  })
  afterAll(async () => {
    for (const close of closings.reverse()) await close()
  })

  const send = (alert: AlertRecord): Promise<readonly Outcome[]> => {
    const sink = sinkOf(`id: mine\nuse: alertmanager\nurl: ${url}\n`)
    const client = createSinkClient(sink, { url: new URL(url), secret: '', env: {}, now: Date.now })
    closings.push(client.close)
    return client.send([alert])
  }
  const shown = async (): Promise<readonly Shown[]> => (await fetch(url)).json() as Promise<readonly Shown[]>

  it('opens one alert for a group, which a later alert prolongs', async () => {
    expect(await send(alertAt(1, { group: 'a', at: Date.now() - 60_000 }))).toEqual([{ kind: 'delivered' }])
    await expect.poll(async () => (await shown()).length).toBe(1)
    const [first] = await shown()
    expect(first?.labels).toMatchObject({ alertname: 'A rule', severity: 'critical', machine: '10.0.0.31' })
    expect(first?.annotations).toMatchObject({ summary: 'alert 1', log_line: 'line 1' })
    expect(await send(alertAt(2, { group: 'a' }))).toEqual([{ kind: 'delivered' }])
    await expect.poll(async () => (await shown())[0]?.annotations.summary).toBe('alert 2')
    const [later, ...others] = await shown()
    expect(others).toEqual([])
    expect(Date.parse(later?.endsAt ?? '')).toBeGreaterThan(Date.parse(first?.endsAt ?? ''))
    expect(later?.startsAt).toBe(first?.startsAt)
  })

  it('shows hostile content as text', async () => {
    const hostile = '{{ .Labels }} <b>x</b> "} \u202e =cmd()'
    expect(await send(alertAt(3, { rule: hostile, message: hostile, peer: hostile }))).toEqual([{ kind: 'delivered' }])
    const text = hostile.replace('\u202e', '?')
    await expect
      .poll(async () => (await shown()).find(({ labels }) => labels.alertname === text))
      .toMatchObject({
        labels: { machine: text },
        annotations: { summary: text },
      })
  })
})

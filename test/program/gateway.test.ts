import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { cliPath, root, runCli } from '../support/cli.js'
import { startUpstream } from '../support/counting-upstream.js'
import { ask, newFolder, sampleKey, serveSettings } from '../support/lookup-service.js'
import { listen } from '../support/test-site.js'

const gatewayKey = 'The-gateways-own-key-9876543210'

type Process = { readonly url: string; readonly kill: () => Promise<void> }

/** Started when it has written a line that holds its URL. */
const startProcess = async (args: readonly string[], env: Record<string, string> = {}): Promise<Process> => {
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
  })
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  onTestFinished(kill)
  const url = await new Promise<string>((found, fail) => {
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        const match = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
        if (match !== undefined) found(match)
      })
    child.once('exit', () => fail(new Error(`it did not start: ${said}`)))
  })
  return { url, kill }
}

const startGateway = (upstream: string, state: string): Promise<Process> =>
  startProcess([cliPath, 'serve', '--port', '0', '--state', state, '--upstream', upstream], {
    THREATWEAVE_SERVE_API_KEY: sampleKey,
    THREATWEAVE_INTEL_SERVICE_API_KEY: gatewayKey,
    THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '1',
    THREATWEAVE_OPS_ENABLED: 'false',
  })

const addresses = Array.from({ length: 160 }, (_, i) => `198.51.100.${i + 2}`)

/** Each process meets the addresses in another order. */
const pipe = async (gateway: string, turn: number): Promise<Annotation[]> => {
  const input = [...addresses.slice(turn * 40), ...addresses.slice(0, turn * 40)]
    .map((ip) => `${JSON.stringify({ src_ip: ip })}\n`)
    .join('')
  const { code, stdout, stderr } = await runCli(['pipe', '--mode', 'complete', '--yes'], {
    input,
    env: {
      THREATWEAVE_GATE_DOCUMENTATION: 'true',
      THREATWEAVE_INTEL_SERVICE_BASE_URL: gateway,
      THREATWEAVE_INTEL_SERVICE_API_KEY: sampleKey,
    },
  })
  if (code !== 0) throw new Error(stderr)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { threatweave: Annotation }).threatweave)
}

describe('four processes through one gateway', () => {
  it('pay for each of 160 addresses once, one call at a time, and for none after everything was killed', async () => {
    const upstream = await startUpstream()
    onTestFinished(upstream.close)
    const state = newFolder()
    const gateway = await startGateway(upstream.url, state)
    const answered = await Promise.all([0, 1, 2, 3].map((turn) => pipe(gateway.url, turn)))
    expect(answered.map((annotations) => annotations.length)).toEqual([160, 160, 160, 160])
    expect(new Set(answered.flat().map(({ verdict }) => verdict))).toEqual(new Set(['clean']))
    expect(upstream.calls).toHaveLength(160)
    expect(upstream).toMatchObject({ mostInFlight: 1, refused: 0 })
    expect([...upstream.keys]).toEqual([gatewayKey])
    expect((await ask(gateway.url, '/status')).body.upstream).toMatchObject({ calls: { run: 160 }, waiting: 0 })

    await gateway.kill()
    const again = await startGateway(upstream.url, state)
    const recalled = await Promise.all([0, 1, 2, 3].map((turn) => pipe(again.url, turn)))
    expect(new Set(recalled.flat().map(({ verdict }) => verdict))).toEqual(new Set(['clean']))
    expect(upstream.calls).toHaveLength(160)
  })
})

describe('a scan during which the service is killed', () => {
  it('goes on after the restart under the same id, without a second request for it', async () => {
    let isSilent = true
    let visits = 0
    const port = await listen(
      createServer((_, response) => {
        visits++
        if (!isSilent) response.end('<title>here again</title>')
      }),
    )
    const base = serveSettings()
    const settings = { ...base, data: '', scan: { ...base.scan, enabled: true, timeoutMs: 60_000, totalMs: 60_000 } }
    const start = (): Promise<Process> =>
      startProcess([resolve(root, 'test/support/scan-service.mjs'), JSON.stringify({ settings, port })])
    const first = await start()
    const form = { query: `http://site.example:${port}/` }
    const { scan_id } = (await ask(first.url, '/v1/domain/scan', { form })).body.data
    while (visits === 0) await ask(first.url, `/v1/domain/status/${scan_id}`)
    await first.kill()

    isSilent = false
    const second = await start()
    const status = async (): Promise<number> =>
      (await ask(second.url, `/v1/domain/status/${scan_id}`)).body.data.scan_percentage
    while ((await status()) < 100) expect(await status()).toBeGreaterThanOrEqual(0)
    expect((await ask(second.url, `/v1/domain/report/${scan_id}`)).body).toMatchObject({
      data: { main_domain_info: { title: 'here again' } },
    })
    expect((await ask(second.url, '/v1/domain/reports/personal')).body.data.count).toBe(1)
  })
})

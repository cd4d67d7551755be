// The telemetry of `run`.
import { describe, expect, it } from 'vitest'
import { refusePortsInUse, watchRun } from '../../../src/app/watch-run.js'
import { load } from '../../../src/config/load.js'
import { ignoreTelemetry, type TelemetryEvent } from '../../../src/telemetry/event.js'
import { accepted } from '../../../src/config/load-config.js'
import { openReader } from '../../../src/app/open-app.js'
import type { EventOut } from '../../../src/pipeline/pipeline.js'

const open = async (env: Record<string, string>) => {
  const loaded = load({ env, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return (await watchRun(loaded.config, ignoreTelemetry)).serve({})
}

describe('public addresses of our own', () => {
  const seen = async (env: Record<string, string>): Promise<readonly unknown[]> => {
    const loaded = load({ env, readFile: () => '' })
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    const reader = accepted(openReader(loaded.config))
    const events: TelemetryEvent[] = []
    const bytes = Buffer.from('src=10.0.0.5 dst=192.0.2.9 natsrc=198.51.100.7 action=allow')
    const event = reader.decode(bytes)
    const one = { event, origin: 'fw/0/1', extraction: reader.extract(event), judged: [] } as unknown as EventOut
    const watch = await watchRun(loaded.config, (happened) => events.push(happened))
    const watched = watch.observe((chunk, use) => {
      for (const [place] of chunk.entries()) use(one, place)
      return true
    })
    void watched([{ origin: 'fw/0/1', bytes }], () => undefined)
    void watched([{ origin: 'fw/0/1', bytes }], () => undefined)
    return events
  }

  it('are suggested once each while gate.ownRanges is empty', async () => {
    expect(await seen({})).toEqual([
      { event: 'own_address_seen', address: '198.51.100.7', origin: 'fw/0/1', suggested: ['198.51.100.7'] },
    ])
    expect(await seen({ THREATWEAVE_GATE_OWN_RANGES: '203.0.113.0/24' })).toEqual([])
  })
})

describe('the endpoint of a run', () => {
  it('does not listen when it is disabled', async () => {
    const ops = await open({ THREATWEAVE_OPS_ENABLED: 'false' })
    await ops.close()
    expect(ops.url).toBeUndefined()
  })

  it('is refused before anything is loaded when its port or that of a later worker is in use', async () => {
    const ops = await open({ THREATWEAVE_OPS_PORT: '0' })
    const port = Number(new URL(ops.url ?? '').port)
    const loaded = load({ env: { THREATWEAVE_OPS_PORT: String(port) }, readFile: () => '' })
    if ('problems' in loaded) throw new Error('refused')
    await expect(refusePortsInUse(loaded.config, [0, port], 'ops.port')).rejects.toThrow(
      `ops.port is in use: another process listens on port ${port}`,
    )
    await ops.close()
    await refusePortsInUse(loaded.config, [0, port], 'ops.port')
  })

  it('refuses a weak token', () => {
    const loaded = load({ env: { THREATWEAVE_OPS_TOKEN: 'short' }, readFile: () => '' })
    expect(loaded).toMatchObject({ problems: [{ setting: 'ops.token' }] })
    expect(JSON.stringify(loaded)).not.toContain('short')
  })
})

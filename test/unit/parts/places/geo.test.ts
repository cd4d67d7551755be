// Country and network from end to end: annotations, alerts, rules and commands, with databases that change while events pass.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Reader } from 'maxmind'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openApp, type App } from '../../../../src/app/open-app.js'
import { systemClock, type Clock } from '../../../../src/base/clock.js'
import { loadAny } from '../../../../src/app/load-config.js'
import type { Annotation } from '../../../../src/domain/annotation.js'
import { allOf } from '../../../../src/pipeline/pipeline.js'
import type { TelemetryEvent } from '../../../../src/telemetry/event.js'
import { openTestAlerting } from '../../../support/alerting.js'
import { root } from '../../../support/cli.js'
import { writeMmdb } from '../../../support/mmdb.js'
import { ruleText } from '../../../support/rules.js'
import { runCommand } from '../../../support/run-command.js'

const places = (name: string): string => join(root, 'examples/intel/places', name)
const geo = [places('sample-city.mmdb'), places('sample-asn.mmdb')]
const feed = join(root, 'examples/feeds/sample-feed.csv')
const folder = mkdtempSync(join(tmpdir(), 'threatweave-geo-app-'))
afterAll(() => rmSync(folder, { recursive: true }))

const dutch = { country: 'NL', as: { number: 64_500, name: 'EXAMPLE-HOSTING' } }
const american = { country: 'US', as: { number: 64_501, name: 'EXAMPLE-TRANSIT' } }

describe('rules', () => {
  const lines = [
    'action=accept src=198.51.100.60 dst=10.0.0.5',
    'action=accept src=10.0.0.5 dst=203.0.113.99',
    'action=accept src=10.0.0.5 dst=203.0.113.7',
    'action=accept src=10.0.0.5 dns=c2.botnet.example.org',
  ]
  it.each([
    ['threatweave.country: nl', ['198.51.100.60']],
    ['threatweave.country:\n    - NL\n    - US', ['198.51.100.60', '203.0.113.99', '203.0.113.7']],
    ['threatweave.as.number: 64501', ['203.0.113.99', '203.0.113.7']],
    ['threatweave.as.number|lt: 64501', ['198.51.100.60']],
    ['threatweave.as.name|contains: hosting', ['198.51.100.60']],
    ['threatweave.indicators.country: US', ['203.0.113.99', '203.0.113.7']],
    ['threatweave.indicators.as.number: 64500', ['198.51.100.60']],
    ['threatweave.verdict: malicious\n    threatweave.country: US', ['203.0.113.99']],
    ['threatweave.country|exists: false', ['c2.botnet.example.org']],
  ])('test %s', async (selection, expected) => {
    const raise = await openTestAlerting([ruleText(`sel:\n    ${selection}\ncondition: sel`)], { intel: { geo } })
    const alerts = await raise(lines)
    expect(alerts.map(({ threatweave }) => threatweave.value)).toEqual(expected)
  })

  it('say which members there are', async () => {
    const file = join(folder, 'wrong.yml')
    writeFileSync(file, ruleText('sel:\n    threatweave.as: 64500\ncondition: sel'))
    const { code, stdout, stderr } = await runCommand(['check', file])
    expect(code).toBe(1)
    expect(stdout + stderr).toMatch(/the annotation has no member "as"/)
  })
})

it('an alert says country and network of the indicator that fired', async () => {
  const raise = await openTestAlerting([ruleText('sel:\n    threatweave.verdict: malicious\ncondition: sel')], {
    intel: { geo },
  })
  const [inbound, outbound] = await raise([
    'action=accept src=198.51.100.60 dst=203.0.113.7',
    'action=accept src=198.51.100.7 dst=203.0.113.99',
  ])
  expect(inbound!.threatweave).toMatchObject({ value: '198.51.100.60', ...dutch })
  expect(outbound!.threatweave).toMatchObject({ value: '203.0.113.99', ...american })
})

describe('commands', () => {
  const env = {
    THREATWEAVE_INTEL_GEO: geo.join(','),
    THREATWEAVE_GATE_DOCUMENTATION: 'true',
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'mine', path: feed }]),
  }
  const input = 'action=accept src=198.51.100.60 dst=10.0.0.5\n'

  it('pipe writes them into full annotations', async () => {
    const { stdout } = await runCommand(['pipe'], { input, env })
    const { threatweave } = JSON.parse(stdout) as { threatweave: Annotation }
    expect(threatweave).toMatchObject(dutch)
    const [outside, inside] = threatweave.indicators
    expect(outside).toMatchObject({ value: '198.51.100.60', ...dutch })
    expect(inside).toMatchObject({ value: '10.0.0.5' })
    expect(inside).not.toHaveProperty('country')
  })

  it('lookup shows them, and nothing of a name', async () => {
    const { stdout } = await runCommand(['lookup', '203.0.113.99', 'c2.botnet.example.org'], { env })
    const [address, name] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(address).toMatchObject(american)
    expect(name).not.toHaveProperty('country')
  })

  it('explain shows them', async () => {
    const text = await runCommand(['explain'], { input, env })
    expect(text.stdout).toContain('NL, AS64500 EXAMPLE-HOSTING')
    const json = await runCommand(['explain', '--json'], { input, env })
    expect(json.stdout).toContain('"country":"NL","as":{"number":64500,"name":"EXAMPLE-HOSTING"}')
  })

  it.each([['check'], ['pipe'], ['lookup', '203.0.113.99']])(
    '%s refuses a file that is no database',
    async (...args) => {
      const { code, stderr } = await runCommand(args, {
        input,
        env: { ...env, THREATWEAVE_INTEL_GEO: `${geo[0]},${feed}` },
      })
      expect(code).toBe(78)
      expect(stderr).toContain(
        `intel.geo.1 names a database, which is refused: is no MaxMind-format database, or was cut off: its end is missing (${feed})`,
      )
    },
  )
})

describe('while events pass', () => {
  /** Files are looked at every few milliseconds. */
  const hasty: Clock = { now: systemClock.now, after: (ms, run) => systemClock.after(Math.min(ms, 5), run) }
  const told: TelemetryEvent[] = []
  const open = async (file: string): Promise<App> => {
    const loaded = loadAny({
      values: {
        memory: { path: 'none' },
        gate: { documentation: true },
        feeds: [{ name: 'sample', path: feed }],
        intel: { geo: [file] },
      },
      env: {},
      readFile: () => '',
    })
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    const app = await openApp(loaded.config, {
      mode: 'live',
      env: {},
      clock: hasty,
      emit: (event) => void told.push(event),
    })
    if ('problems' in app) throw new Error(JSON.stringify(app.problems))
    onTestFinished(() => app.close())
    return app
  }
  const countryOf = (code: string): Buffer =>
    writeMmdb('Sample-Country', [['198.51.100.0/24', { country: { iso_code: code } }]])
  const annotated = async ({ pipeline }: App): Promise<string | undefined> => {
    const [event] = await allOf(pipeline, [{ bytes: Buffer.from('{"src":"198.51.100.60"}'), origin: 'a/0/1' }])
    return (JSON.parse(event!.bytes().toString()) as { threatweave: Annotation }).threatweave.country
  }
  const within = { timeout: 600_000, interval: 10 }

  it('an address is looked up once for many events, whether a feed lists it or not, and again in a new database', async () => {
    const file = join(folder, 'once.mmdb')
    writeFileSync(file, countryOf('NL'))
    const app = await open(file)
    const get = vi.spyOn(Reader.prototype, 'get')
    onTestFinished(() => get.mockRestore())
    const lookups = (): number => get.mock.calls.filter(([address]) => address.startsWith('198.51.100.')).length
    for (let event = 0; event < 20; event++) {
      const chunk = ['{"src":"198.51.100.60"}', '{"src":"198.51.100.61"}', '{"dst":"198.51.100.60"}'].map((text) => ({
        bytes: Buffer.from(text),
        origin: `a/0/${event}`,
      }))
      for (const { annotation } of await allOf(app.pipeline, chunk)) expect(annotation.country).toBe('NL')
    }
    expect(lookups()).toBe(2)
    writeFileSync(file, countryOf('DE'))
    await vi.waitFor(async () => expect(await annotated(app)).toBe('DE'), within)
    expect(lookups()).toBe(3)
  })

  it('a replaced database is used from then on, and the last good one where the file is broken or gone', async () => {
    const file = join(folder, 'country.mmdb')
    writeFileSync(file, countryOf('NL'))
    const app = await open(file)
    const refused = (): number => told.filter(({ event }) => event === 'geo_database_refused').length
    expect(await annotated(app)).toBe('NL')
    writeFileSync(file, countryOf('DE'))
    await vi.waitFor(async () => expect(await annotated(app)).toBe('DE'), within)
    writeFileSync(file, countryOf('FR').subarray(0, 100))
    await vi.waitFor(() => expect(refused()).toBe(1), within)
    expect(await annotated(app)).toBe('DE')
    rmSync(file)
    await vi.waitFor(() => expect(refused()).toBe(2), within)
    expect(await annotated(app)).toBe('DE')
    writeFileSync(file, countryOf('FR'))
    await vi.waitFor(async () => expect(await annotated(app)).toBe('FR'), within)
  })
})

import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { Annotation } from '../../../src/domain/annotation.js'
import { root, someFeed } from '../../support/cli.js'
import { startLookupServer, type LookupServer } from '../../support/lookup-server.js'
import { runCommand } from '../../support/run-command.js'

const sampleLog = join(root, 'examples/logs/firewall.log')
const sampleFeed = join(root, 'examples/feeds/sample-feed.csv')
const documentation = { THREATWEAVE_GATE_DOCUMENTATION: 'true' }

const annotationsOf = (stdout: string): Annotation[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { threatweave: Annotation }).threatweave)
const folder = (): string => mkdtempSync(join(tmpdir(), 'threatweave-'))

let server: LookupServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})
const asking = (): Record<string, string> => ({
  ...documentation,
  THREATWEAVE_INTEL_SERVICE_BASE_URL: server?.url ?? '',
  THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
})

describe('pipe', () => {
  it('annotates every event of a file in order, with a feed only', async () => {
    const { code, stdout, stderr } = await runCommand(['pipe', '--feed', sampleFeed, '--summary', sampleLog], {
      env: documentation,
    })
    expect(code).toBe(0)
    const annotations = annotationsOf(stdout)
    expect(annotations).toHaveLength(30)
    expect(annotations.map((one) => one.enrichment_id)).toEqual(
      Array.from({ length: 30 }, (_, place) => `${sampleLog}:${place + 1}`),
    )
    expect(annotations[0]).toMatchObject({
      verdict: 'malicious',
      value: '198.51.100.60',
      direction: 'inbound',
      action: 'allowed',
    })
    expect(stderr).toContain('30 events: 21 malicious')
    expect(stderr).toMatch(/no rule fires because the inbound connection was blocked \(blocked_inbound\): \d+ events\n/)
  })

  it('reads gzip and JSON arrays, and writes only malicious events when told', async () => {
    const array = join(folder(), 'events.json.gz')
    const events = [{ src_ip: '198.51.100.60' }, { src_ip: '198.51.100.1' }, { dest_ip: '203.0.113.99' }]
    writeFileSync(array, gzipSync(JSON.stringify(events, null, 2)))
    const { stdout } = await runCommand(['pipe', '--feed', sampleFeed, '--malicious-only', array], {
      env: documentation,
    })
    expect(annotationsOf(stdout).map(({ value }) => value)).toEqual(['198.51.100.60', '203.0.113.99'])
  })

  it('looks up each indicator once, and not again after a restart', async () => {
    server = await startLookupServer({ malicious: ['198.51.100.60'] })
    const env = { ...asking(), THREATWEAVE_MEMORY_PATH: folder() }
    const first = await runCommand(['pipe', sampleLog], { env })
    const distinct = new Set(server.asked)
    expect(first.code).toBe(0)
    expect(annotationsOf(first.stdout)[0]).toMatchObject({
      verdict: 'malicious',
      source: 'service',
      is_malicious: true,
    })
    expect(annotationsOf(first.stdout).some(({ verdict }) => verdict === 'clean')).toBe(true)
    // An address that is not plainly clean costs one more call.
    expect(server.asked).toHaveLength(distinct.size + 1)
    const before = server.asked.length
    const second = await runCommand(['pipe', sampleLog], { env })
    expect(server.asked).toHaveLength(before)
    expect(annotationsOf(second.stdout).map(({ verdict }) => verdict)).toEqual(
      annotationsOf(first.stdout).map(({ verdict }) => verdict),
    )
  })

  it.each([0, 3])('sends no more than --max-lookups %i calls and says budget_spent for the rest', async (limit) => {
    server = await startLookupServer()
    const { stdout } = await runCommand(['pipe', '--max-lookups', String(limit), sampleLog], { env: asking() })
    expect(server.asked).toHaveLength(limit)
    expect(annotationsOf(stdout)).toHaveLength(30)
    expect(stdout).toContain('"reason":"budget_spent"')
  })

  it('writes every event when the provider does not answer', async () => {
    server = await startLookupServer()
    const env = asking()
    await server.close()
    const { code, stdout } = await runCommand(['pipe', '--mode', 'live', sampleLog], { env })
    expect(code).toBe(0)
    const annotations = annotationsOf(stdout)
    expect(annotations).toHaveLength(30)
    expect(annotations.filter(({ verdict }) => verdict !== 'unknown')).toEqual([])
  })

  it.each([
    [401, 'the lookup service rejects the key (bad_key)'],
    [402, 'the account has no credit left (no_credit)'],
  ])('ends with 1 and says so where every lookup failed because of the key (%i)', async (status, why) => {
    const refusing = createServer((_, response) => void response.end(JSON.stringify({ status, message: '' })))
    await once(refusing.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`
    const env = { ...asking(), THREATWEAVE_INTEL_SERVICE_BASE_URL: url }
    const { code, stdout, stderr } = await runCommand(['pipe', sampleLog], { env })
    refusing.close()
    expect(annotationsOf(stdout)).toHaveLength(30)
    expect(stderr).toContain(`threatweave: no lookup was answered: ${why}`)
    expect(code).toBe(1)
  })

  it('writes the alerts that the bundled rules raise, once an hour for the same', async () => {
    const args = ['pipe', '--feed', sampleFeed, '--alerts', '-', sampleLog]
    const { stdout } = await runCommand(args, { env: documentation })
    const alerts = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { rule: { name: string }; threat_match_value: string })
    expect(alerts[0]).toMatchObject({
      rule: { name: 'Malicious Address Reached Administration or Database' },
      threat_match_value: '198.51.100.60',
    })
    const said = alerts.map(({ rule, threat_match_value }) => `${rule.name} ${threat_match_value}`)
    expect(said.length).toBeGreaterThan(3)
    expect(said.filter((one) => one === said[0])).toHaveLength(1)
  })

  it('shows the alerts as text on a terminal, with what became of the other events', async () => {
    const args = ['pipe', '--feed', sampleFeed, '--alerts', '-', sampleLog]
    const { stdout, stderr } = await runCommand(args, { env: { ...documentation, NO_COLOR: '1' }, isTerminal: true })
    const [first = ''] = stdout.split('\n\n')
    expect(first.split('\n')).toEqual([
      '2026-11-15 08:00:01 UTC  HIGH  Malicious Address Reached Administration or Database',
      '  because   198.51.100.60 is malicious: listed in sample-feed as 198.51.100.60 (malware)',
      '  traffic   198.51.100.60 → 10.0.0.5 (inbound, allowed, connection)',
      '  do        find what it did on 10.0.0.5; block 198.51.100.60',
      `  event     ${sampleLog}:1`,
      expect.stringMatching(/^ {12}date=2026-11-15 time=08:00:01 .{75,90}…$/),
    ])
    expect(stderr).toMatch(/^13 alerts from 30 events: 21 malicious/m)
    expect(stderr).toContain('no rule fires because the inbound connection was blocked (blocked_inbound): 7 events')
  })

  it.each([
    [['pipe', '--feed', someFeed, 'no-such-file'], 64, 'cannot read the input'],
    [['pipe', '--mode', 'sometimes'], 64, '--mode must be live or complete'],
    [['pipe', '--max-lookups', 'many'], 64, '--max-lookups must be a whole number'],
    [['pipe', '--colour'], 64, '--colour'],
    [['pipe', '--config', 'no-such-file'], 78, 'cannot be read'],
  ])('refuses %j', async (args, code, message) => {
    const ran = await runCommand(args)
    expect(ran.code).toBe(code)
    expect(ran.stderr).toContain(message)
  })

  it('leaves every original byte of a JSON event where it was', async () => {
    const line = '{"n":9007199254740993, "a":1,"a":2,  "src_ip":"198.51.100.60"}'
    const { stdout } = await runCommand(['pipe', '--feed', someFeed], { input: `${line}\n` })
    expect(stdout.startsWith(line.slice(0, -1))).toBe(true)
  })

  it('keeps the sample log free of real addresses', () => {
    const addresses = readFileSync(sampleLog, 'utf8').match(/\b\d{1,3}(\.\d{1,3}){3}\b/g) ?? []
    const real = addresses.filter(
      (address) => !/^(10\.|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|129\.0\.0\.0|2636\.)/.test(address),
    )
    expect(real.filter((address) => !/^1\.1\.1\.2|^6\.1\.1/.test(address))).toEqual([])
  })
})

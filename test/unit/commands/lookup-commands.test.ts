// lookup, api and check --online against a real HTTP server that counts its calls.
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../../src/app/limits.js'
import { runCommand } from '../../support/run-command.js'
import {
  replayExamples,
  startScriptedService,
  testKey,
  type Script,
  type ScriptedService,
} from '../../support/scripted-service.js'
import { fixture } from '../../support/service-fixtures.js'

let service: ScriptedService
let folder = ''
/** A running scan is asked about every 15 seconds, which is long for a test. */
const bounds = limits as { scanPollMs: number }
const { scanPollMs } = limits
beforeAll(async () => {
  bounds.scanPollMs = 10
  service = await startScriptedService(replayExamples)
})
afterAll(() => {
  bounds.scanPollMs = scanPollMs
  return service.close()
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lookup-'))
  service.asked.length = 0
  service.script = replayExamples
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The reports of the examples are old. */
const table = (): string => {
  const path = join(folder, 'judgement.yaml')
  writeFileSync(path, 'maxAgeDays: 100000\n')
  return path
}
const settings = (): Record<string, string> => ({
  THREATWEAVE_INTEL_SERVICE_BASE_URL: service.baseUrl,
  THREATWEAVE_INTEL_SERVICE_API_KEY: testKey,
  THREATWEAVE_GATE_DOCUMENTATION: 'true',
  THREATWEAVE_INTEL_DOMAIN_SCAN_FOLDER: join(folder, 'scans'),
  THREATWEAVE_INTEL_TABLE: table(),
})
const run = (args: string[], input = '', env: Record<string, string> = {}) =>
  runCommand(args, { input, env: { ...settings(), ...env } })
const rows = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('lookup', () => {
  it('prints the verdict about an address, as JSON if it is not a terminal', async () => {
    const { code, stdout } = await run(['lookup', 'ip', '198.51.100.60', '--role', 'source'])
    expect(rows(stdout)).toMatchObject([{ type: 'ip', value: '198.51.100.60', verdict: 'malicious', score: 90 }])
    expect(code).toBe(0)
  })
  it('takes many values from standard input, in order, each asked about once', async () => {
    const { code, stdout } = await run(
      ['lookup', 'ip'],
      '198.51.100.1\n10.0.0.1\n198.51.100.2\n\n198.51.100.1\nnonsense\n',
    )
    expect(rows(stdout).map(({ value, verdict, reason }) => [value, verdict, reason])).toEqual([
      ['198.51.100.1', 'malicious', undefined],
      ['10.0.0.1', 'unknown', 'private_address'],
      ['198.51.100.2', 'malicious', undefined],
      ['198.51.100.1', 'malicious', undefined],
      ['nonsense', 'unknown', 'bad_input'],
    ])
    expect(code).toBe(1)
    expect(service.asked.length).toBe(4)
    expect(service.mostInFlight()).toBe(1)
  })
  it('ends with 130 on Ctrl-C, at once although an answer is awaited, and says how far it came', async () => {
    let arrived = (): void => undefined
    const there = new Promise<void>((resolve) => (arrived = resolve))
    service.script = (asked, response) => {
      if (asked.query.ip !== '198.51.100.2') return replayExamples(asked, response)
      arrived()
      return undefined
    }
    const stop = new AbortController()
    const ran = runCommand(['lookup', 'ip', '198.51.100.1', '198.51.100.2'], { env: settings(), signal: stop.signal })
    await there
    stop.abort('SIGINT')
    expect(await ran).toMatchObject({ code: 130, stderr: 'threatweave: stopped after 1 value\n' })
  })
  it('prints the verdict about a name', async () => {
    const { stdout } = await run(['lookup', 'domain', 'www.example.com'])
    expect(rows(stdout)).toMatchObject([{ verdict: 'clean', facts: { domain: 'example.com' } }])
    expect(service.asked.map(({ query }) => query)).toEqual([{ query: 'example.com' }])
  })
  it('says which feeds list a value, by which entry and since when: by its own date, or else by the copy in use', async () => {
    const [dated, undated] = [join(folder, 'dated.csv'), join(folder, 'undated.txt')]
    writeFileSync(dated, 'ip,first_seen\n198.51.100.7,2026-03-04 05:06:07\n')
    writeFileSync(undated, '198.51.100.0/24\nbad.example.com\n')
    utimesSync(undated, 1_790_000_000, 1_790_000_000)
    const feeds = [
      { name: 'dated', path: dated },
      { name: 'undated', path: undated },
    ]
    const { stdout, code } = await run(['lookup', '198.51.100.7', 'www.bad.example.com'], '', {
      THREATWEAVE_FEEDS: JSON.stringify(feeds),
      THREATWEAVE_INTEL_SERVICE_API_KEY: '',
    })
    const copy = { since: '2026-09-21T14:13:20.000Z', since_by: 'copy' }
    expect(rows(stdout)).toMatchObject([
      {
        type: 'ip',
        listed: [
          { feed: 'dated', entry: '198.51.100.7', since: '2026-03-04T05:06:07.000Z', since_by: 'entry' },
          { feed: 'undated', entry: '198.51.100.0/24', ...copy },
        ],
      },
      { type: 'domain', listed: [{ feed: 'undated', entry: 'bad.example.com', ...copy }] },
    ])
    expect(code).toBe(0)
  })
  it.each([
    [['lookup'], 'lookup VALUE'],
    [['lookup', 'ip', '198.51.100.1', '--role', 'villain'], '--role'],
    [['lookup', 'ip', '198.51.100.1', '--scan'], '--scan'],
    [['lookup', 'domain', 'example.com', '--private'], '--private'],
  ])('%j is wrong usage', async (args, words) => {
    const { code, stderr } = await run(args)
    expect(stderr).toContain(words)
    expect(code).toBe(64)
  })
})

describe('lookup --scan', () => {
  const scanned =
    (percentages: number[]): Script =>
    (asked, response) => {
      if (asked.path.includes('/status/')) return { status: 200, data: { scan_percentage: percentages.shift() ?? 100 } }
      return replayExamples(asked, response)
    }
  const calls = () => service.asked.map(({ method, path }) => `${method} ${path.replace('/v1/domain/', '')}`)

  it('waits for the scan and says what it found', async () => {
    service.script = scanned([10, 60])
    const { code, stdout } = await run(['lookup', 'domain', 'example.com', '--scan', '--private'])
    expect(rows(stdout)).toMatchObject([{ verdict: 'malicious', score: 90 }])
    expect(code).toBe(0)
    expect(calls()).toEqual([
      'POST scan/private',
      'GET status/1000002',
      'GET status/1000002',
      'GET status/1000002',
      'GET report/1000002',
    ])
  })
})

describe('api', () => {
  it('prints the answer as it came', async () => {
    const { code, stdout } = await run(['api', 'exploit/search', '--query', 'cve_id:CVE-2099-0001'])
    expect(JSON.parse(stdout)).toEqual(fixture('exploit-search'))
    expect(code).toBe(0)
  })
  it('lists all eighteen', async () => {
    const { stdout } = await run(['api', '--help'])
    expect(stdout.match(/^ {2}(user|ip|banner|domain|exploit)\//gm)?.length).toBe(18)
  })
  it('says why not', async () => {
    const { code, stdout, stderr } = await run(['api', 'ip/data', '--ip', '10.0.0.1'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('bad_input')
  })
  it('needs a key', async () => {
    const { code, stderr } = await run(['api', 'user/me'], '', { THREATWEAVE_INTEL_SERVICE_API_KEY: '' })
    expect(stderr).toContain('intel.service.apiKey is needed')
    expect(code).toBe(78)
  })
})

describe('check --online', () => {
  it('says plan and quota, and hides what is personal', async () => {
    service.script = () => {
      const body = fixture('user-me') as { data: object }
      return { ...body, data: { ...body.data, api_key: testKey } }
    }
    const { code, stdout, stderr } = await run(['check', '--online'])
    expect(stdout).toContain('Plan: free. Quota: 50.')
    expect(stdout + stderr).not.toContain('analyst')
    expect(stdout + stderr).not.toContain(testKey)
    expect(code).toBe(0)
  })
  it('says what of an answer is recognised, and asks once more only if told to', async () => {
    service.script = ({ path }) =>
      path.endsWith('/me')
        ? fixture('user-me')
        : { status: 200, ip: '198.51.100.60', is_malicious: false, verdict_of_ai: 'fine', ids: { count: 0, data: [] } }
    service.asked.length = 0
    const { code, stdout } = await run(['check', '--online', '--ask', '198.51.100.60'])
    expect(service.asked.map(({ path }) => path)).toEqual(['/v1/user/me', '/v1/ip/malicious-info'])
    expect(stdout).toMatch(/The answer of user\/me:\n {2}recognised: plan, quota, .*\n {2}missing: .*\n {2}members/)
    expect(stdout).toContain(
      'The answer of ip/malicious-info:\n  recognised: subject, is_malicious, idsHits\n  missing: can_remote_access,',
    )
    expect(stdout).toContain('  members that nobody reads: verdict_of_ai\n')
    expect(stdout).not.toContain('fine\n  ')
    expect(code).toBe(0)
  })
  it('takes --ask with --online alone, and with an address or a name', async () => {
    expect((await run(['check', '--ask', '198.51.100.60'])).stderr).toContain('--ask needs --online')
    expect((await run(['check', '--online', '--ask', 'not a name'])).stderr).toContain('needs an address or a name')
  })
  it.each<[string, object, string]>([
    ['bad_key', { status: 401, message: 'Invalid API Key' }, 'does not know this key'],
    ['no_credit', { status: 403, message: 'limit exceeded' }, 'no credit left'],
  ])('says what is wrong: %s', async (reason, body, advice) => {
    service.script = () => body
    const { code, stderr } = await run(['check', '--online'])
    expect(stderr).toContain(reason)
    expect(stderr).toContain(advice)
    expect(code).toBe(1)
  })
})

describe('the key', () => {
  it.each([
    [
      'echoed in answers',
      () => ({
        status: 200,
        ip: testKey,
        message: testKey,
        data: { api_key: testKey, scan_id: 1, scan_percentage: -1 },
      }),
    ],
    ['echoed in failures', () => ({ status: 400, message: `bad key ${testKey}` })],
  ])('is in nothing that is printed, at trace level, %s', async (_, script) => {
    service.script = script
    for (const args of [
      ['api', 'user/me'],
      ['lookup', 'ip', '198.51.100.1'],
      ['lookup', 'domain', 'example.com', '--scan'],
      ['check', '--online'],
      ['check', '--print'],
    ]) {
      const { stdout, stderr } = await run(args, '', { THREATWEAVE_LOG_LEVEL: 'trace' })
      expect(`${args.join(' ')}: ${stdout}${stderr}`).not.toContain(testKey)
      expect(
        service.asked.every(({ query, form, path }) => !JSON.stringify([query, form, path]).includes(testKey)),
      ).toBe(true)
    }
  })
})

// A scan that was killed, against a real HTTP server that counts its calls.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { cliPath, runCli } from '../../support/cli.js'
import { limitsEnv } from '../../support/limits.js'
import { replayExamples, startScriptedService, testKey, type ScriptedService } from '../../support/scripted-service.js'

let service: ScriptedService
let folder = ''
beforeAll(async () => {
  service = await startScriptedService(replayExamples)
})
afterAll(() => service.close())
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
  ...limitsEnv({ scanPollMs: 200 }),
})
const run = (args: string[], input = '', env: Record<string, string> = {}) =>
  runCli(args, { input, env: { ...settings(), ...env }, cwd: folder })
const calls = () => service.asked.map(({ method, path }) => `${method} ${path.replace('/v1/domain/', '')}`)

describe('lookup --scan', () => {
  it.each([
    ['before the answer to its POST', true],
    ['while it runs', false],
  ])('does not post again when it was killed %s', async (_, early) => {
    let arrived = (): void => undefined
    const there = new Promise<void>((resolve) => (arrived = resolve))
    service.script = (asked, response) => {
      if (asked.method === 'POST' && early) {
        arrived()
        return undefined
      }
      if (asked.path.includes('/status/')) {
        arrived()
        return { status: 200, data: { scan_percentage: 50 } }
      }
      return replayExamples(asked, response)
    }
    const child = spawn(process.execPath, [cliPath, 'lookup', 'domain', 'example.com', '--scan'], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', THREATWEAVE_MEMORY_PATH: 'none', ...settings() },
      stdio: 'ignore',
    })
    await there
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
    const row = {
      scan_id: 1000001,
      url: 'https://example.com/',
      reg_dtime: new Date().toISOString().slice(0, 19).replace('T', ' '),
    }
    service.script = (asked, response) => {
      if (asked.path.endsWith('/personal')) return { status: 200, data: { reports: [row] } }
      return asked.path.includes('/status/')
        ? { status: 200, data: { scan_percentage: 100 } }
        : replayExamples(asked, response)
    }
    const { stdout } = await run(['lookup', 'domain', 'example.com', '--scan'])
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'malicious', score: 90 })
    expect(calls().filter((call) => call.startsWith('POST'))).toEqual(['POST scan'])
    expect(calls().at(-1)).toBe('GET report/1000001')
    const [file] = readdirSync(join(folder, 'scans'))
    expect(JSON.parse(readFileSync(join(folder, 'scans', file!), 'utf8'))).toMatchObject({
      state: 'done',
      scanId: '1000001',
    })
  })
})

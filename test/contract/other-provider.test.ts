// A provider that differs in key, parameters, envelope, fields and error codes is made to work with a file alone.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openReader } from '../../src/app/open-app.js'
import { openIndicatorLookup } from '../../src/app/open-indicator-lookup.js'
import { bundledProfile, openProfile } from '../../src/app/open-profile.js'
import { load } from '../../src/config/load.js'
import type { Indicator } from '../../src/domain/indicator.js'
import { judge } from '../../src/domain/judge.js'
import { shippedTable } from '../../src/domain/judgement-table.js'
import { operationNames, operations } from '../../src/domain/operations.js'
import { classify } from '../../src/provider/classify.js'
import { wrongProfileExamples } from '../../src/provider/wrong-profile-examples.js'
import { failures } from '../../src/server/answer.js'
import { root } from '../support/cli.js'
import { limitsWith } from '../support/limits.js'
import { ask } from '../support/lookup.js'
import { profileOver } from '../support/scripted-service.js'

const file = join(root, 'test/fixtures/profiles/other-provider.yaml')
const key = 'the-key-of-the-other-provider'

type Answer = { readonly http?: number; readonly body: unknown }

/** Knows its documented paths alone. */
const startProvider = async (answers: (path: string, query: URLSearchParams) => Answer | undefined) => {
  const asked: string[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    asked.push(`${request.method} ${url.pathname}${url.search}`)
    const isAllowed = request.headers.authorization === `Bearer ${key}` && request.headers['x-api-key'] === undefined
    const { http = 200, body } = isAllowed
      ? (answers(url.pathname, url.searchParams) ?? { http: 404, body: { error: 'no such path' } })
      : { http: 401, body: { meta: { code: 'E_KEY' } } }
    response.writeHead(http, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(
    () =>
      new Promise<void>((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  )
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const open = async (baseUrl: string, apiKey = key) => {
  const values = {
    gate: { documentation: true },
    memory: { path: 'none' },
    intel: { service: { baseUrl, apiKey, profile: file }, domain: { operations: { report: 'accused' } } },
  }
  const loaded = load({ values, env: {}, readFile: () => '' })
  if (!('config' in loaded)) return expect.fail(JSON.stringify(loaded))
  const reader = openReader(loaded.config)
  if ('problems' in reader) return expect.fail(JSON.stringify(reader))
  const opened = await openIndicatorLookup(loaded.config, reader.decide, {
    env: {},
    limits: limitsWith({ retry: { times: 0 } }),
  })
  if ('problems' in opened) return expect.fail(JSON.stringify(opened))
  onTestFinished(opened.close)
  return async (about: Indicator) => {
    const finding = await opened.lookup(about, ask)
    const { level, reason, score, because } = judge(finding, { ...about, role: 'source' }, shippedTable, Date.now())
    return { level, reason, score, because }
  }
}

const good = (payload: unknown): Answer => ({ body: { meta: { code: 'OK' }, payload } })

it('is asked and read as the file says', async () => {
  const { baseUrl, asked } = await startProvider((path, query) => {
    const address = query.get('address')
    if (path === '/api/2/address/reputation') return good({ address, bad: address?.endsWith('.60') })
    if (path === '/api/2/address/details' && query.get('view') === 'short')
      return good({ address, risk: { from: 'Severe', to: 10 }, anonymity: { tor: true } })
    if (path === '/api/2/name/scans')
      return good({ scans: [{ target: 'https://example.com/', ref: 'scan-7', when: Date.now() / 1000, risk: 'high' }] })
    if (path === '/api/2/name/scans/scan-7/full') return good({ site: 'example.com', risk: 'high', phish: 2 })
    return undefined
  })
  const lookup = await open(baseUrl)
  expect(await lookup({ type: 'ip', value: '198.51.100.60' })).toMatchObject({ level: 'malicious', score: 99 })
  expect(await lookup({ type: 'ip', value: '198.51.100.61' })).toMatchObject({ level: 'clean' })
  expect(await lookup({ type: 'domain', value: 'example.com' })).toMatchObject({
    level: 'malicious',
    because: 'domain score dangerous, 2 phishing records',
  })
  expect(asked).toEqual([
    'GET /api/2/address/reputation?address=198.51.100.60',
    'GET /api/2/address/details?view=short&address=198.51.100.60',
    'GET /api/2/address/reputation?address=198.51.100.61',
    'GET /api/2/name/scans?fqdn=example.com',
    'GET /api/2/name/scans/scan-7/full',
  ])
})

it.each([
  ['its code of a quota', { body: { meta: { code: 'E_QUOTA' } } }, 'no_credit'],
  ['nothing known', { body: { meta: { code: 'E_NONE' } } }, 'not_found'],
  ['an error in the words of the bundled profile', { body: { status: 403, message: 'limit exceeded' } }, 'unavailable'],
  [
    'a success of the bundled profile',
    { body: { status: 200, ip: '198.51.100.60', is_malicious: false } },
    'unavailable',
  ],
  ['an answer about another address', good({ address: '198.51.100.99', bad: false }), 'bad_answer'],
] as const)('takes %s as the file says', async (_, answer, reason) => {
  const { baseUrl } = await startProvider(() => answer)
  const lookup = await open(baseUrl)
  expect(await lookup({ type: 'ip', value: '198.51.100.60' })).toMatchObject({ level: 'unknown', reason })
})

it('that refuses the key is told by its own code', async () => {
  const { baseUrl } = await startProvider(() => undefined)
  const lookup = await open(baseUrl, 'wrong')
  expect(await lookup({ type: 'ip', value: '198.51.100.60' })).toMatchObject({ reason: 'bad_key' })
})

it('has a file whose examples give what they say, as the bundled ones do', () => {
  expect(wrongProfileExamples(profileOver(readFileSync(file, 'utf8')))).toEqual([])
  expect(bundledProfile().examples.length).toBeGreaterThan(5)
  expect(wrongProfileExamples(bundledProfile())).toEqual([])
})

it('says which example gives something else', () => {
  const text = readFileSync(file, 'utf8').replace('bad: true', 'bad: false')
  expect(wrongProfileExamples(profileOver(text))).toEqual([
    { nth: 0, message: expect.stringContaining('"is_malicious":false') as string },
  ])
})

it.each([
  ['key: { query: k }', 'key needs either header or query'],
  ['operations: { ip/data: { path: "/x/{nothing}" } }', 'operations.ip/data.path has {nothing}'],
  ['operations: { ip/dat: { path: /x } }', 'operations.ip/dat is not a setting'],
  ['operations: { ip/data: { parameters: { adress: a } } }', 'operations.ip/data.parameters.adress is no parameter'],
  ['errors: [{ reason: busy }]', 'errors.0 needs status, http or words'],
  ['errors: [{ status: [1], reason: bad_key, pauseSeconds: 5 }]', 'errors.0.pauseSeconds has no meaning for bad_key'],
  ['answers: { reports: { rows: null } }', 'answers.reports.rows must be there'],
  ['answers: { address: { inbound: "a..b" } }', 'answers.address.inbound must be'],
])('refuses %s', (text, problem) => {
  expect(() => profileOver(text)).toThrow()
  try {
    profileOver(text)
  } catch (error) {
    const problems = JSON.parse((error as Error).message) as { setting: string; message: string }[]
    expect(problems.map(({ setting, message }) => `${setting} ${message}`).join('; ')).toContain(problem)
  }
})

it('names the setting where the file cannot be read', () => {
  expect(openProfile({ profile: '/nosuch/profile.yaml', baseUrl: 'https://intel.example.com' })).toMatchObject({
    problems: [{ setting: 'intel.service.profile' }],
  })
})

it('has bundled the paths and parameters of our own service', () => {
  const { basePath, operations: spelled } = bundledProfile()
  for (const name of operationNames) {
    const { method, path, parameters } = operations[name]
    expect(spelled[name]).toEqual({ method, path: path.slice(basePath.length) })
    expect(path.startsWith(basePath)).toBe(true)
    for (const [parameter, { place }] of Object.entries(parameters)) {
      const expected = path.includes(`{${parameter}}`) ? 'path' : method === 'POST' ? 'form' : 'query'
      expect(place).toBe(expected)
    }
  }
})

it('has bundled an error row for every failure of our own service', () => {
  for (const [name, { reason, http, status, message }] of Object.entries(failures))
    expect(`${name} ${classify(bundledProfile().errors, { http, code: status, message }).reason}`).toBe(
      `${name} ${reason}`,
    )
})

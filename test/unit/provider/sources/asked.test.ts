// Sources over HTTP: each bundled one against a server that answers as its documentation shows, with errors, limits and hostile answers.
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openReader } from '../../../../src/app/open-app.js'
import { openIndicatorLookup, type IndicatorLookup } from '../../../../src/app/open-indicator-lookup.js'
import { load } from '../../../../src/config/load.js'
import { readSourceFile } from '../../../../src/config/source-file.js'
import { parseAddress } from '../../../../src/domain/address.js'
import type { Finding } from '../../../../src/domain/finding.js'
import type { Indicator } from '../../../../src/domain/indicator.js'
import { judgeCounting } from '../../../../src/domain/judge.js'
import { shippedTable } from '../../../../src/domain/judgement-table.js'
import { kindOf, type Reason } from '../../../../src/domain/reason.js'
import type { TelemetryEvent } from '../../../../src/telemetry/event.js'
import { root } from '../../../support/cli.js'
import { limitsWith, type LimitChanges } from '../../../support/limits.js'
import { startListServer, type ListServer } from '../../../support/list-server.js'
import { ask } from '../../../support/lookup.js'
import { sourceAt, sourceKey } from '../../../support/source-server.js'

const quick: LimitChanges = { retry: { times: 0 } }

const open = async (
  intel: Record<string, unknown>,
  changes: LimitChanges = quick,
  emitted: TelemetryEvent[] = [],
): Promise<IndicatorLookup> => {
  const values = {
    gate: { documentation: true },
    memory: { path: 'none' },
    intel: { domain: { ask: 'host' }, safeguard: [], ...intel },
  }
  const loaded = load({ values, env: {}, readFile: () => '' })
  if (!('config' in loaded)) return expect.fail(JSON.stringify(loaded))
  const reader = openReader(loaded.config)
  if ('problems' in reader) return expect.fail(JSON.stringify(reader))
  const opened = await openIndicatorLookup(loaded.config, reader.decide, {
    env: {},
    limits: limitsWith(changes),
    emit: (event) => void emitted.push(event),
  })
  if ('problems' in opened) return expect.fail(JSON.stringify(opened))
  onTestFinished(opened.close)
  return opened
}

const json =
  (status: number, body: unknown): ListServer['answer'] =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

const indicatorOf = (asked: string): Indicator =>
  parseAddress(asked) === undefined ? { type: 'domain', value: asked } : { type: 'ip', value: parseAddress(asked)! }

const judged = (finding: Finding, about: Indicator) =>
  judgeCounting(finding, { ...about, role: 'source' }, shippedTable, Date.now())

const files = readdirSync(join(root, 'sources'))
  .filter((name) => name !== 'lookup-service.yaml')
  .map((name) => `sources/${name}`)
const cases = files.flatMap((file) => {
  const read = readSourceFile({ name: file, text: readFileSync(join(root, file), 'utf8') })
  if (!('source' in read)) throw new Error(`${file} is unreadable`)
  return read.source.examples.map((example) => ({ file, id: read.source.id, key: read.source.key, example }))
})

describe('a bundled source', () => {
  it.each(cases)(
    '$id, HTTP $example.status about $example.asked: $example.gives',
    async ({ file, id, key, example }) => {
      const server = await startListServer(json(example.status, example.answer))
      const lookups = await open({ sources: [sourceAt(server.url, file)] })
      const about = indicatorOf(example.asked)
      const finding = await lookups.lookup(about, ask)
      const verdict = judged(finding, about)
      const { gives, score, flags = [] } = example
      if (gives === 'nothing') expect(verdict).toMatchObject({ level: 'unknown', reason: 'no_verdict' })
      else if (gives === 'malicious' || gives === 'suspicious' || gives === 'clean') {
        expect(verdict).toMatchObject({ level: gives, ...(score !== undefined && { score }) })
        if (gives !== 'clean') expect(verdict).toMatchObject({ feed: id, entry: about.value, accusers: 1 })
      } else expect(finding).toMatchObject({ status: 'unknown', reason: gives })
      for (const flag of flags) expect(verdict.flags[flag]).toBe(true)
      // The key goes where it is described, and nowhere else.
      const [request] = server.asked as [IncomingMessage]
      expect(server.asked).toHaveLength(1)
      expect(request.headers[key!.header!.toLowerCase()]).toBe(sourceKey)
      expect(request.url).not.toContain(sourceKey)
      expect(decodeURIComponent(request.url!)).toContain(about.value)
      const [status] = lookups.sources()
      expect([...status!.counts]).toEqual([[gives, 1]])
    },
  )

  it('is asked once for all who ask, and again only when its answer is old', async () => {
    const { example } = cases[0]!
    const server = await startListServer(json(200, example.answer))
    const lookups = await open({ sources: [sourceAt(server.url, 'sources/abuseipdb.yaml')] })
    const about = indicatorOf(example.asked)
    await Promise.all(Array.from({ length: 50 }, () => Promise.resolve(lookups.lookup(about, ask))))
    expect(lookups.lookup(about, ask)).toBe(lookups.lookup(about, ask))
    expect(server.asked).toHaveLength(1)
  })

  it('without a domain request is never told a name', async () => {
    const server = await startListServer(json(500, {}))
    const lookups = await open({ sources: [sourceAt(server.url, 'sources/abuseipdb.yaml')] })
    expect(await lookups.lookup({ type: 'domain', value: 'bad.example.com' }, ask)).toMatchObject({
      reason: 'not_listed',
    })
    expect(server.asked).toHaveLength(0)
  })

  it('is left alone for as long as it asks for, and what waits is asked afterwards', async () => {
    let isFirst = true
    const server = await startListServer((request, response) => {
      const value = new URL(request.url!, 'http://localhost').searchParams.get('ipAddress')
      if (isFirst) response.writeHead(429, { 'retry-after': '2' }).end('{}')
      else json(200, { data: { ipAddress: value, abuseConfidenceScore: 100 } })(request, response)
      isFirst = false
    })
    const lookups = await open({ sources: [sourceAt(server.url, 'sources/abuseipdb.yaml')] }, { retry: { times: 1 } })
    const began = Date.now()
    const both = await Promise.all(
      ['203.0.113.1', '203.0.113.2'].map((value) => Promise.resolve(lookups.lookup({ type: 'ip', value }, ask))),
    )
    expect(both.map((finding, nth) => judged(finding, { type: 'ip', value: `203.0.113.${nth + 1}` }).level)).toEqual([
      'malicious',
      'malicious',
    ])
    expect(Date.now() - began).toBeGreaterThanOrEqual(1_990)
    expect(server.asked).toHaveLength(3)
  })

  it('whose day is spent is not asked, and leaves nothing clean', async () => {
    const server = await startListServer((request, response) => {
      const value = new URL(request.url!, 'http://localhost').searchParams.get('ipAddress')
      json(200, { data: { ipAddress: value, abuseConfidenceScore: 0 } })(request, response)
    })
    const lookups = await open({ sources: [{ ...sourceAt(server.url, 'sources/abuseipdb.yaml'), perDay: 2 }] })
    const findings: Finding[] = []
    for (const nth of [1, 2, 3]) findings.push(await lookups.lookup({ type: 'ip', value: `203.0.113.${nth}` }, ask))
    expect(findings.map((finding) => judged(finding, { type: 'ip', value: 'x' }).reason)).toEqual([
      'no_verdict',
      'no_verdict',
      'budget_spent',
    ])
    expect(server.asked).toHaveLength(2)
    expect(lookups.sources()[0]!.state.limits).toEqual([{ calls: 2, per: 'day', used: 2 }])
  })

  it('is not said to refuse the key when a web page does', async () => {
    const server = await startListServer((_, response) => void response.writeHead(403).end('<html>blocked</html>'))
    const lookups = await open({ sources: [sourceAt(server.url, 'sources/abuseipdb.yaml')] }, quick)
    expect(await lookups.lookup({ type: 'ip', value: '203.0.113.1' }, ask)).toMatchObject({ reason: 'unavailable' })
  })

  it('that refuses the key is not asked about anything else, and is logged by name', async () => {
    const emitted: TelemetryEvent[] = []
    const server = await startListServer(json(401, {}))
    const lookups = await open({ sources: [sourceAt(server.url, 'sources/abuseipdb.yaml')] }, quick, emitted)
    for (const nth of [1, 2, 3])
      expect(await lookups.lookup({ type: 'ip', value: `203.0.113.${nth}` }, ask)).toMatchObject({ reason: 'bad_key' })
    expect(server.asked).toHaveLength(2)
    expect(emitted.filter(({ event }) => event === 'lookups_paused')).toMatchObject([
      { source: 'abuseipdb', state: 'paused', reason: 'bad_key' },
      { source: 'abuseipdb', state: 'stopped', reason: 'bad_key' },
    ])
    expect(JSON.stringify(emitted)).not.toContain(sourceKey)
  })
})

describe('a hostile answer', () => {
  const asked = '203.0.113.7'
  const good = { data: { ipAddress: asked, abuseConfidenceScore: 100 } }
  const text =
    (status: number, body: string, headers = {}): ListServer['answer'] =>
    (_, response) =>
      void response.writeHead(status, headers).end(body)
  it.each<[string, ListServer['answer'], Reason]>([
    ['deep', text(200, `{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), 'bad_answer'],
    ['huge', text(200, JSON.stringify({ ...good, filler: 'x'.repeat(5_000_000) })), 'bad_answer'],
    [
      'without end',
      (_, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write(' '), 20)
        response.once('close', () => clearInterval(timer))
      },
      'timeout',
    ],
    ['a web page', text(200, '<html>Sign in</html>'), 'bad_answer'],
    ['a list', text(200, JSON.stringify([good])), 'bad_answer'],
    ['empty', text(200, ''), 'bad_answer'],
    ['a number', text(200, '100'), 'bad_answer'],
    ['a redirect elsewhere', text(302, '', { location: 'http://127.0.0.1:1/' }), 'bad_answer'],
    [
      'about another address',
      text(200, JSON.stringify({ data: { ...good.data, ipAddress: '203.0.113.8' } })),
      'bad_answer',
    ],
    [
      'of the wrong types',
      text(200, JSON.stringify({ data: { ipAddress: asked, abuseConfidenceScore: 'no' } })),
      'bad_answer',
    ],
    ['with everything in a prototype', text(200, `{"__proto__":${JSON.stringify(good)}}`), 'bad_answer'],
    [
      'with a subject in a prototype',
      text(200, `{"data":{"__proto__":{"ipAddress":"${asked}"},"abuseConfidenceScore":100}}`),
      'bad_answer',
    ],
    ['an unheard-of status', text(299, JSON.stringify(good)), 'bad_answer'],
    ['no HTTP at all', (request) => request.socket.destroy(), 'unavailable'],
  ])('%s is refused, counted, and never a verdict', async (_, answer, reason) => {
    const emitted: TelemetryEvent[] = []
    const server = await startListServer(answer)
    const changes = { ...quick, client: { bodyTimeoutMs: 500 } }
    const lookups = await open({ sources: [sourceAt(server.url, 'sources/abuseipdb.yaml')] }, changes, emitted)
    const finding = await lookups.lookup({ type: 'ip', value: asked }, ask)
    expect(finding).toMatchObject({ status: 'unknown', reason })
    expect(kindOf(reason)).toBe('failure')
    expect([...lookups.sources()[0]!.counts]).toEqual([[reason, 1]])
    expect(emitted.filter(({ event }) => event === 'source_call_failed')).toMatchObject([
      { source: 'abuseipdb', reason },
    ])
    expect(({} as { ipAddress?: string }).ipAddress).toBeUndefined()
  })

  it('that sends the key back does not get it into facts or logs', async () => {
    const emitted: TelemetryEvent[] = []
    const server = await startListServer(
      json(200, { data: { ...good.data, abuseConfidenceScore: 100, isTor: true, usageType: sourceKey } }),
    )
    const change = (text: string): string =>
      text.replace(
        '  - { path: data.abuseConfidenceScore, atLeast: 75',
        `  - { path: data.usageType, equals: '${sourceKey}', level: malicious }\n  - { path: data.abuseConfidenceScore, atLeast: 75`,
      )
    const lookups = await open({ sources: [sourceAt(server.url, 'sources/abuseipdb.yaml', change)] }, quick, emitted)
    const finding = await lookups.lookup({ type: 'ip', value: asked }, ask)
    expect(JSON.stringify([finding, emitted])).not.toContain(sourceKey)
    expect(judged(finding, { type: 'ip', value: asked }).score).toBe(85)
  })
})

describe('a configuration with sources', () => {
  it.each<[string, readonly object[], string]>([
    [
      'a name that is not bundled',
      [{ use: 'abusipdb', apiKeyFile: 'x' }],
      'intel.sources.0.use is not a bundled source; did you mean abuseipdb?',
    ],
    ['no key where one is needed', [{ use: 'abuseipdb' }], 'intel.sources.0 needs apiKeyFile'],
    [
      'a key file that is not there',
      [{ use: 'abuseipdb', apiKeyFile: '/nowhere/key' }],
      'intel.sources.0.apiKeyFile names a file that cannot be read: ENOENT',
    ],
    [
      'the same source twice',
      [{ use: 'otx' }, { use: 'otx' }],
      'intel.sources.1 is named otx like a feed or another source',
    ],
    ['a gateway and none to ask', [{ use: 'otx', gateway: true }], 'otx is asked through a gateway'],
  ])('is refused with %s', async (_, sources, message) => {
    const loaded = load({ values: { memory: { path: 'none' }, intel: { sources } }, env: {}, readFile: () => '' })
    if (!('config' in loaded)) return expect.fail(JSON.stringify(loaded))
    const reader = openReader(loaded.config)
    if ('problems' in reader) return expect.fail(JSON.stringify(reader))
    const opened = await openIndicatorLookup(loaded.config, reader.decide, { env: {} })
    expect('problems' in opened && opened.problems.map((one) => `${one.setting} ${one.message}`).join('\n')).toContain(
      message,
    )
  })
})

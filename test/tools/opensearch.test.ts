// A real OpenSearch node: queries find the events that the stream alerted on, and events fit without our template.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Detail } from '../../src/domain/annotation.js'
import { flags } from '../../src/domain/flag.js'
import { convertRules, provisionSigma } from '../../scripts/sigma.mjs'
import type { Alert } from '../../src/alerts/alert.js'
import type { EventOut } from '../../src/pipeline/pipeline.js'
import { startSearchNode, type SearchNode } from '../support/opensearch.js'
import { annotateMixed, type Annotated } from '../support/search-events.js'

const details: readonly Detail[] = ['auto', 'full', 'compact']

const root = resolve(import.meta.dirname, '../..')
/** Those about events; the others are about what was seen earlier, which is in no index of events. */
const rules = readdirSync(resolve(root, 'rules'))
  .map((file) => basename(file, '.yml'))
  .filter((name) => !name.startsWith('threatweave_retro_'))
const mixed = 1_800
/** The exact copies that OpenSearch adds to each text by itself are not counted. */
const most = 60
/** Beside those, what only annotations with intel.geo have. */
const placeFields = ['country', 'as', 'as.number', 'as.name'].flatMap((name) => [name, `indicators.${name}`])

/** Two products of the sample log mean different things by `host`: a text and an object, which no index takes both. */
const theirOwn = { mappings: { properties: { host: { type: 'object', enabled: false } } } }

let node: SearchNode
const byDetail = new Map<Detail, Annotated>()
let annotated: Annotated
let queries: Readonly<Record<string, string>>
let placeQueries: Readonly<Record<string, string>>

/** Rules about country and network, which only full annotations have. */
const placeRules = {
  country: ['threatweave.country: DE', '9d1c6a52-7f0b-4a43-8d0e-5b1f3c2a7e01'],
  network: ['threatweave.as.number: 64500', '9d1c6a52-7f0b-4a43-8d0e-5b1f3c2a7e02'],
  owner: ['threatweave.as.name|startswith: Example-Host', '9d1c6a52-7f0b-4a43-8d0e-5b1f3c2a7e03'],
} as const
const placeFolder = mkdtempSync(resolve(tmpdir(), 'threatweave-place-rules-'))
for (const [name, [test, id]] of Object.entries(placeRules))
  writeFileSync(
    resolve(placeFolder, `${name}.yml`),
    `title: Malicious and ${name}
id: ${id}
status: test
description: A test of ${name}.
logsource:
    category: firewall
detection:
    selection:
        threatweave.verdict: malicious
        ${test}
    condition: selection
level: medium
`,
  )

beforeAll(async () => {
  const { sigma, missing } = provisionSigma()
  if (sigma === undefined) throw new Error(missing)
  queries = convertRules(sigma)
  placeQueries = convertRules(sigma, placeFolder)
  for (const detail of details) byDetail.set(detail, await annotateMixed(mixed, detail, [placeFolder]))
  annotated = byDetail.get('auto')!
  node = await startSearchNode()
})
afterAll(() => {
  rmSync(placeFolder, { recursive: true })
  return node.close()
})

type Bulk = { readonly errors: boolean; readonly items: readonly { index: { error?: { reason: string } } }[] }
type Enrichment = { readonly indicator: { ip?: string }; readonly matched: { field: string } }
type Mapping = { readonly properties?: Record<string, Mapping> }

/** Why events were rejected; nothing when all were taken. */
const index = async (into: string, events: readonly EventOut[]): Promise<string[]> => {
  const reasons: string[] = []
  for (let from = 0; from < events.length; from += 1_000) {
    const lines = events
      .slice(from, from + 1_000)
      .map((one) => `{"index":{"_id":"${one.origin}"}}\n${one.bytes().toString()}\n`)
    const { items } = (await node.call('POST', `/${into}/_bulk`, lines.join(''))) as Bulk
    reasons.push(...items.flatMap(({ index: { error } }) => (error ? [JSON.stringify(error)] : [])))
  }
  await node.call('POST', `/${into}/_refresh`)
  return reasons
}

const find = (within: string, query: string): Promise<string[]> => search(within, { query_string: { query } })

const search = async (within: string, query: object): Promise<string[]> => {
  const body = { size: mixed, _source: false, query }
  const found = (await node.call('POST', `/${within}/_search`, body)) as { hits: { hits: { _id: string }[] } }
  return found.hits.hits.map(({ _id }) => _id).sort()
}

const enrichmentsOf = (one: EventOut): readonly Enrichment[] => {
  const { threat } = JSON.parse(one.bytes().toString()) as { threat?: { enrichments: Enrichment[] } }
  return threat?.enrichments ?? []
}

const fieldsIn = ({ properties = {} }: Mapping): string[] =>
  Object.entries(properties).flatMap(([name, inner]) => [name, ...fieldsIn(inner).map((more) => `${name}.${more}`)])

describe('the shipped component template', () => {
  beforeAll(async () => {
    const template = JSON.parse(
      readFileSync(resolve(root, 'examples/opensearch/component-template.json'), 'utf8'),
    ) as object
    await node.call('PUT', '/_component_template/threatweave', template)
    await node.call('PUT', '/_index_template/events', {
      index_patterns: ['events-*'],
      composed_of: ['threatweave'],
      template: theirOwn,
    })
    for (const [detail, { events }] of byDetail) expect(await index(`events-${detail}`, events)).toEqual([])
  })

  const everywhere = details.flatMap((detail) => rules.map((name) => [name, detail] as const))
  it.each(everywhere)(
    'lets the query of %s find the events that the stream alerted on, in detail %s',
    async (name, detail) => {
      const { id } = parse(readFileSync(resolve(root, `rules/${name}.yml`), 'utf8')) as { id: string }
      const query = queries[`opensearch/${name}.lucene`] ?? ''
      const found = await find(`events-${detail}`, query)
      // The stream also keeps to the worst rule for an indicator, and knows ports that the event names in other words.
      const fired = annotated.fired.get(id) ?? []
      expect(byDetail.get(detail)!.fired.get(id) ?? []).toEqual(fired)
      if (!name.includes('admin')) expect(found).toEqual(expect.arrayContaining([...(annotated.decided.get(id) ?? [])]))
      expect(found.length).toBeLessThan(mixed / 2)
    },
  )

  it.each(Object.entries(placeRules))(
    'lets the query of a rule on the %s of an address find the events that the stream alerted on',
    async (name, [, id]) => {
      const query = placeQueries[`opensearch/${name}.lucene`] ?? ''
      const fired = annotated.fired.get(id)
      for (const detail of ['auto', 'full'] as const) {
        const found = await find(`events-${detail}`, query)
        expect(found).toEqual(expect.arrayContaining([...annotated.decided.get(id)!]))
        expect(fired).toEqual(expect.arrayContaining([...found]))
      }
      expect(fired!.length).toBeGreaterThan(10)
      expect(await find('events-auto', 'threatweave.verdict:malicious')).not.toEqual(fired)
      expect(byDetail.get('compact')!.fired.get(id)).toEqual(fired)
      expect(await find('events-compact', query)).toEqual([])
    },
  )

  it('keeps the members of one enrichment together, so that a query can ask for both of the same one', async () => {
    const address = '198.51.100.10'
    const ofOne = ({ indicator, matched }: Enrichment): boolean =>
      indicator.ip === address && matched.field === 'src_ip'
    const expected = annotated.events.filter((one) => enrichmentsOf(one).some(ofOne))
    const scattered = annotated.events.filter(
      (one) =>
        enrichmentsOf(one).some(({ indicator }) => indicator.ip === address) &&
        enrichmentsOf(one).some(({ matched }) => matched.field === 'src_ip'),
    )
    const path = 'threat.enrichments'
    const query = { query_string: { query: `${path}.indicator.ip:${address} AND ${path}.matched.field:SRC_IP` } }
    expect(await search('events-auto', { nested: { path, query } })).toEqual(
      expected.map(({ origin }) => origin).sort(),
    )
    expect(expected.length).toBeGreaterThan(0)
    expect(scattered.length).toBeGreaterThan(expected.length)
  })

  it('holds the same verdict and status of every event in every detail', () => {
    const said = ({ events }: Annotated): string[] =>
      events.map((one) => {
        const { status, verdict } = JSON.parse(one.annotationText()) as Record<string, string>
        return `${one.origin} ${status} ${verdict}`
      })
    for (const one of byDetail.values()) expect(said(one)).toEqual(said(annotated))
  })

  it('compares without regard to case, as the stream does', async () => {
    const lower = await find('events-auto', 'threatweave.verdict:malicious AND threatweave.value:c2.botnet.example.org')
    expect(lower.length).toBeGreaterThan(0)
    expect(
      await find('events-auto', 'threatweave.verdict:Malicious AND threatweave.value:C2.Botnet.EXAMPLE.org'),
    ).toEqual(lower)
  })
})

describe('without our template', () => {
  it('has events with every member that decides a mapping', () => {
    const seen = new Set(annotated.events.flatMap(({ annotation }) => Object.keys(annotation)))
    for (const name of ['score', 'truncated', 'replaced', 'replay_id', 'read_as', 'reason', 'feed', 'malicious'])
      expect(seen).toContain(name)
    expect(seen).toContain('indicators_omitted')
    // The first needs an operation that is off by default, the second a list of our own.
    expect(flags.filter((flag) => !seen.has(flag))).toEqual(['is_safe_dns_server', 'safeguarded'])
  })

  it.each(['in order', 'in reverse'] as const)(
    `takes ${mixed} mixed events %s, with at most ${most} fields under our key and ${placeFields.length} of country and network`,
    async (order) => {
      const name = `plain-${order.replace(' ', '-')}`
      await node.call('PUT', `/${name}`, theirOwn)
      expect(await index(name, order === 'in order' ? annotated.events : annotated.events.toReversed())).toEqual([])
      const { count } = (await node.call('GET', `/${name}/_count`)) as { count: number }
      expect(count).toBe(mixed)
      const mapping = (await node.call('GET', `/${name}/_mapping`)) as Record<string, { mappings: Mapping }>
      const fields = fieldsIn(mapping[name]?.mappings.properties?.threatweave ?? {})
      expect(fields).toContain('indicators.verdict')
      expect(fields).toEqual(expect.arrayContaining(placeFields))
      expect(fields.filter((field) => !placeFields.includes(field)).length).toBeLessThanOrEqual(most)
    },
  )
})

describe('the shipped template of alerts', () => {
  it('takes the alerts of every bundled rule, and finds them by inside range, technique and words of the log line', async () => {
    const template = JSON.parse(
      readFileSync(resolve(root, 'examples/opensearch/alerts-template.json'), 'utf8'),
    ) as object
    await node.call('PUT', '/_component_template/threatweave-alerts', template)
    await node.call('PUT', '/_index_template/alerts', {
      index_patterns: ['alerts-*'],
      composed_of: ['threatweave-alerts'],
    })
    const { alerts } = annotated
    const lines = alerts.map((alert) => `{"index":{"_id":"${alert.event.id}"}}\n${JSON.stringify(alert)}\n`)
    const { items } = (await node.call('POST', '/alerts-1/_bulk', lines.join(''))) as Bulk
    expect(items.flatMap(({ index: { error } }) => (error ? [JSON.stringify(error)] : []))).toEqual([])
    await node.call('POST', '/alerts-1/_refresh')
    const idsOf = (isWanted: (alert: Alert) => boolean): string[] =>
      alerts
        .filter(isWanted)
        .map(({ event: { id } }) => id)
        .sort()
    const inside = idsOf(({ related }) => related?.ip?.some((ip) => ip.startsWith('10.0.0.')) === true)
    expect(inside.length).toBeGreaterThan(0)
    expect(await find('alerts-1', 'related.ip:"10.0.0.0/24"')).toEqual(inside)
    const german = idsOf(({ threatweave: { country } }) => country === 'DE')
    expect(german.length).toBeGreaterThan(0)
    expect(await find('alerts-1', 'threatweave.country:DE AND threatweave.as.number:64500')).toEqual(german)
    const c2 = idsOf(({ threat }) => threat?.technique?.id.includes('T1071') === true)
    expect(c2.length).toBeGreaterThan(0)
    expect(await find('alerts-1', 'threat.technique.id:T1071')).toEqual(c2)
    const asa = idsOf(({ event: { original } }) => original?.includes('Built outbound') === true)
    expect(asa.length).toBeGreaterThan(0)
    expect(await find('alerts-1', 'event.original:"Built outbound"')).toEqual(asa)
  })
})

describe('the shipped lines for _bulk', () => {
  it('let a correction replace the event that left before its answer, and leave events without an id alone', async () => {
    const event = (verdict: string, ids: object): object => ({ seq: 1, threatweave: { verdict, ...ids } })
    const written = { enrichment_id: 'firewall/0/7' }
    const events = [event('unknown', written), event('clean', {}), event('clean', {}), event('malicious', written)]
    const script = resolve(root, 'examples/opensearch/bulk.mjs')
    const input = events.map((one) => `${JSON.stringify(one)}\n`).join('')
    const lines = execFileSync(process.execPath, [script], { input, encoding: 'utf8' })
    expect(await node.call('POST', '/corrected/_bulk?refresh=true', lines)).toMatchObject({ errors: false })
    const found = (await node.call('POST', '/corrected/_search', { sort: ['_doc'] })) as {
      hits: { hits: { _id: string; _source: { threatweave: { verdict: string } } }[] }
    }
    const verdicts = found.hits.hits.map(({ _source }) => _source.threatweave.verdict)
    expect(verdicts.toSorted()).toEqual(['clean', 'clean', 'malicious'])
    expect(found.hits.hits.map(({ _id }) => _id)).toContain('firewall/0/7')
  })
})

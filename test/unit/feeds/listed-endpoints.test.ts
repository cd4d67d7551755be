// What `address:port` in a feed accuses, by what an event shows: that port, another one, none, or more than a connection.
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Annotation } from '../../../src/domain/annotation.js'
import { createEnricher } from '../../../src/index.js'
import { feedFile } from '../../support/feed-files.js'

const listed = '203.0.113.7'
const flow = (from: string, sourcePort: number | undefined, to: string, port?: number): string =>
  JSON.stringify({
    'source.ip': from,
    'source.port': sourcePort,
    'destination.ip': to,
    'destination.port': port,
    'event.category': 'network',
  })
const login = (result: string): string =>
  `Nov 15 08:30:05 gw sshd[411]: ${result} password for alice from ${listed} port 50022 ssh2`
const answer = JSON.stringify({
  'dns.question.name': 'shop.example.com',
  'dns.answers': [{ data: listed }],
  'dns.resolved_ip': [listed],
  'source.ip': '10.0.0.5',
})

type Settings = { readonly feed?: string; readonly safeguard?: string; readonly others?: readonly object[] }

const enrichWith = async ({ feed = `${listed}:443`, safeguard = '', others = [] }: Settings = {}) => {
  const own = { name: 'c2', path: feedFile(feed), level: 'malicious', score: 95, categories: ['botnet'] }
  const enricher = await createEnricher({
    settings: {
      feeds: [own, ...others],
      intel: { safeguard: [feedFile(safeguard)] },
      gate: { documentation: true, ownRanges: ['192.0.2.0/24'] },
      memory: { path: 'none' },
    },
  })
  onTestFinished(() => enricher.close())
  return async (event: string): Promise<Annotation> => (await enricher.enrich(event)).annotation
}
const told = ({ verdict, score, entry }: Annotation): unknown[] => [verdict, score, entry]
const full = ['malicious', 95, `${listed}:443`]
const half = ['suspicious', undefined, `${listed}:443`]

describe('a listed port of an address', () => {
  it.each<[string, string, unknown[]]>([
    ['a connection to that port', flow('10.0.0.5', 50_001, listed, 443), full],
    ['a connection to another port', flow('10.0.0.5', 50_001, listed, 22), half],
    ['a connection whose port is not known', flow('10.0.0.5', undefined, listed), half],
    ['a connection from another port of it', flow(listed, 50_001, '192.0.2.10', 443), half],
    ['a packet of its answer', flow(listed, 443, '192.0.2.10', 50_001), full],
    ['a URL with that port', `GET http://${listed}:443/a HTTP/1.1 by 10.0.0.5`, full],
    ['a URL with the port of its scheme', JSON.stringify({ 'url.full': `https://${listed}/a` }), full],
    ['a URL with another port', JSON.stringify({ 'url.full': `http://${listed}/a` }), half],
    ['free text that names the address', `alice asked about ${listed}`, half],
    ['the answer of a name server', answer, full],
    ['a login that succeeded', login('Accepted'), full],
    ['a login that failed', login('Failed'), half],
  ])('is met by %s', async (_, event, expected) => {
    const enrich = await enrichWith()
    expect(told(await enrich(event))).toEqual(expected)
  })

  it('says in words that another port is listed', async () => {
    const enrich = await enrichWith()
    const { summary } = await enrich(flow('10.0.0.5', 50_001, listed, 22))
    expect(summary).toBe(`${listed} is suspicious: listed in c2 as ${listed}:443 (botnet), for that port alone`)
  })

  it('accuses nobody on a shared edge, whatever the port', async () => {
    const enrich = await enrichWith({ safeguard: '203.0.113.0/24' })
    for (const port of [443, 22]) {
      const annotation = await enrich(flow('10.0.0.5', 50_001, listed, port))
      expect([annotation.verdict, annotation.reason, annotation.safeguarded]).toEqual(['unknown', 'safeguarded', true])
    }
  })

  it('counts in full for every port where another feed lists the address as a whole', async () => {
    const whole = { name: 'whole', path: feedFile(listed), level: 'malicious', score: 50 }
    const enrich = await enrichWith({ others: [whole] })
    expect(told(await enrich(flow('10.0.0.5', 50_001, listed, 22)))).toEqual(['malicious', 50, listed])
  })

  it('has the port of the first address where an event shows several', async () => {
    const enrich = await enrichWith()
    const event = JSON.stringify({ dst_ip: ['198.51.100.1', listed], dst_port: 443, src_ip: '10.0.0.5' })
    expect(told(await enrich(event))).toEqual(half)
  })
})

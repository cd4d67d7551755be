// What a URL in a feed accuses, by what an event shows: the URL itself, its host alone, another path, a name below the host.
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Annotation } from '../../../src/domain/annotation.js'
import { createEnricher } from '../../../src/index.js'
import { expectValidAnnotation } from '../../support/annotation-schema.js'
import { feedFile } from '../../support/feed-files.js'
import { startScriptedService, testKey } from '../../support/scripted-service.js'

const dns = (host: string): string => JSON.stringify({ 'dns.question.name': host, src_ip: '10.0.0.5' })
const sni = (host: string): string => JSON.stringify({ event_type: 'tls', tls: { sni: host }, src_ip: '10.0.0.5' })
const tunnel = (host: string): string =>
  `1763200000.123    120 10.0.0.5 TCP_TUNNEL/200 3934 CONNECT ${host}:443 - HIER_DIRECT/203.0.113.9 -`
const proxy = (url: string): string =>
  `1763200000.123    120 10.0.0.5 TCP_MISS/200 3934 GET ${url} - HIER_DIRECT/203.0.113.9 text/html`
const whole = (url: string): string => JSON.stringify({ 'url.full': url, 'source.ip': '10.0.0.5' })
const short = (url: string): string => JSON.stringify({ url, src_ip: '10.0.0.5' })
const split = (host: string, path: string): string =>
  JSON.stringify({ event_type: 'http', src_ip: '10.0.0.5', http: { hostname: host, url: path, http_method: 'GET' } })
const text = (url: string): string => `user alice fetched ${url} and saved it`

type Settings = { readonly feed: string; readonly level?: string; readonly intel?: Readonly<Record<string, unknown>> }

const enrichWith = async ({ feed, level = 'malicious', intel = {} }: Settings) => {
  const enricher = await createEnricher({
    settings: { feeds: [{ name: 'urls', path: feedFile(feed), level, score: 95 }], intel, memory: { path: 'none' } },
  })
  onTestFinished(() => enricher.close())
  return async (event: string): Promise<Annotation> => (await enricher.enrich(event)).annotation
}
const verdictOf = ({ verdict, reason }: Annotation): string =>
  verdict === 'unknown' ? `${verdict}: ${reason}` : verdict

const payload = 'https://bad.example.com/x/y/raw/a.exe'

describe('a listed URL with a path', () => {
  it.each([
    ['the URL itself', whole(payload)],
    ['the URL with a query', whole(`${payload}?session=7`)],
    ['a URL below it', whole(`${payload}/part`)],
    ['the URL with another scheme and port', proxy('http://bad.example.com:8080/x/y/raw/a.exe')],
  ])('is named as it is listed where an event shows %s', async (_, event) => {
    const annotation = await (await enrichWith({ feed: payload }))(event)
    expect([annotation.type, annotation.value]).toEqual(['url', payload])
    expect(annotation.indicators.map(({ type, value }) => [type, value])).toContainEqual(['url', payload])
    expectValidAnnotation(annotation)
  })

  it.each([
    ['with a port', 'http://bad.example.com:8080/a', 'http://bad.example.com:8080/a'],
    ['without a scheme', 'bad.example.com/a', 'bad.example.com/a'],
    ['in another spelling', 'hxxp://BAD.example[.]com/./a', 'http://bad.example.com/a'],
  ])('keeps how it is listed: %s', async (_, feed, value) => {
    const annotation = await (await enrichWith({ feed }))(whole('https://bad.example.com/a?b=c'))
    expect([annotation.type, annotation.value]).toEqual(['url', value])
  })

  it('is not what an event is about that shows its host alone', async () => {
    const annotation = await (await enrichWith({ feed: payload }))(dns('bad.example.com'))
    expect([annotation.type, annotation.value]).toEqual(['domain', 'bad.example.com'])
    expect(annotation.summary).toContain('for that URL alone')
  })

  it.each([
    ['a DNS query for its host', dns('bad.example.com'), 'suspicious'],
    ['the SNI of its host', sni('bad.example.com'), 'suspicious'],
    ['a proxy tunnel to its host', tunnel('bad.example.com'), 'suspicious'],
    ['a proxy request for it', proxy('http://bad.example.com/x/y/raw/a.exe'), 'malicious'],
    ['a proxy request for something else', proxy('http://bad.example.com/x/y/raw/b.exe'), 'suspicious'],
    ['the URL itself', whole(payload), 'malicious'],
    ['the URL in a short text that is met again', short('http://bad.example.com/x/y/raw/a.exe'), 'malicious'],
    ['the URL without its scheme', short('bad.example.com/x/y/raw/a.exe'), 'malicious'],
    [
      'the URL with a port, a query and a fragment',
      whole('http://bad.example.com:8080/x/y/raw/a.exe?dl=1#a'),
      'malicious',
    ],
    ['the URL in free text', text(`${payload}.`), 'malicious'],
    ['the host and the path in fields of their own', split('bad.example.com', '/x/y/raw/a.exe'), 'malicious'],
    ['the host and another path in fields of their own', split('bad.example.com', '/other'), 'suspicious'],
    ['a path that goes on behind it', whole(`${payload}/part`), 'malicious'],
    ['the URL spelled with codes', whole('https://bad.example.com/x/%79/raw/./a%2Eexe'), 'malicious'],
    ['a path that only begins alike', whole(`${payload}2`), 'suspicious'],
    ['a path above it', whole('https://bad.example.com/x/y'), 'suspicious'],
    ['its host in another case of letters', dns('BAD.Example.com'), 'suspicious'],
    ['a name below its host', dns('www.bad.example.com'), 'unknown: not_listed'],
    ['the same path below its host', whole('https://www.bad.example.com/x/y/raw/a.exe'), 'unknown: not_listed'],
    ['a name above its host', dns('example.com'), 'unknown: not_listed'],
  ])('is met by %s', async (_, event, expected) => {
    const enrich = await enrichWith({ feed: `${payload}\nhttps://bad.example.com/z/\n` })
    expect([verdictOf(await enrich(event)), verdictOf(await enrich(event))]).toEqual([expected, expected])
  })

  it('names the entry, and gives the host no score that only the URL has', async () => {
    const enrich = await enrichWith({ feed: payload })
    expect(await enrich(dns('bad.example.com'))).toMatchObject({ feed: 'urls', entry: 'bad.example.com/x/y/raw/a.exe' })
    expect(await enrich(dns('bad.example.com'))).not.toHaveProperty('score')
    expect(await enrich(whole(payload))).toMatchObject({ entry: 'bad.example.com/x/y/raw/a.exe', score: 95 })
  })

  it('is told apart from other URLs of the same host, in one field and in one event', async () => {
    const enrich = await enrichWith({ feed: payload })
    const verdicts: string[] = []
    for (const path of ['/x/y/raw/a.exe', '/', '/x/y/raw/a.exe', '/other'])
      verdicts.push(verdictOf(await enrich(whole(`https://bad.example.com${path}`))))
    expect(verdicts).toEqual(['malicious', 'suspicious', 'malicious', 'suspicious'])
    const both = JSON.stringify({ url: 'https://bad.example.com/start', referrer: payload })
    expect(verdictOf(await enrich(both))).toBe('malicious')
  })

  it('accuses no more than its feed does', async () => {
    const enrich = await enrichWith({ feed: payload, level: 'suspicious' })
    expect(verdictOf(await enrich(whole(payload)))).toBe('suspicious')
  })

  it('accuses its host in full where that is an address', async () => {
    const enrich = await enrichWith({ feed: 'http://93.184.215.14/a.exe' })
    expect(verdictOf(await enrich('action=allow src=10.0.0.5 dst=93.184.215.14'))).toBe('malicious')
  })

  it.each(['https://bad.example.com', 'https://bad.example.com/', 'bad.example.com/'])(
    'is the host, and nothing below it, where there is no path: %s',
    async (feed) => {
      const enrich = await enrichWith({ feed })
      expect(verdictOf(await enrich(dns('bad.example.com')))).toBe('malicious')
      expect(verdictOf(await enrich(whole('https://bad.example.com/any')))).toBe('malicious')
      expect(verdictOf(await enrich(dns('www.bad.example.com')))).toBe('unknown: not_listed')
    },
  )
})

describe('a listed URL on a safeguarded host', () => {
  const onGithub = 'https://github.com/x/y/raw/main/a.exe'

  it.each([
    ['a DNS query for its host', dns('github.com'), 'unknown: safeguarded'],
    ['the SNI of its host', sni('github.com'), 'unknown: safeguarded'],
    ['a proxy tunnel to its host', tunnel('github.com'), 'unknown: safeguarded'],
    ['another URL there', whole('https://github.com/z'), 'unknown: safeguarded'],
    ['the URL itself', whole(onGithub), 'malicious'],
    ['a name below its host', dns('api.github.com'), 'unknown: not_listed'],
  ])('is met by %s', async (_, event, expected) => {
    const enrich = await enrichWith({ feed: onGithub })
    expect(verdictOf(await enrich(event))).toBe(expected)
  })

  it('shows as a flag, with the feed and the entry', async () => {
    const enrich = await enrichWith({ feed: onGithub })
    expect(await enrich(dns('github.com'))).toMatchObject({
      status: 'complete',
      safeguarded: true,
      feed: 'urls',
      entry: 'github.com/x/y/raw/main/a.exe',
    })
    expect(await enrich(whole(onGithub))).not.toHaveProperty('safeguarded')
  })

  it('is judged by what others know about the host, and flagged', async () => {
    const time = new Date().toISOString().slice(0, 19).replace('T', ' ')
    const rows = [{ scan_id: 1, url: 'https://github.com/', score: 'Safe', reg_dtime: time }]
    const service = await startScriptedService(() => ({ status: 200, data: { count: 1, reports: rows } }))
    onTestFinished(service.close)
    const enrich = await enrichWith({
      feed: onGithub,
      intel: { service: { baseUrl: service.baseUrl, apiKey: testKey } },
    })
    expect(await enrich(dns('github.com'))).toMatchObject({ verdict: 'clean', safeguarded: true })
    expect(await enrich(whole(onGithub))).toMatchObject({ verdict: 'malicious', feed: 'urls' })
  })

  it('is safeguarded by the lists that the settings name, a MISP warninglist among them, and by no other', async () => {
    const list = feedFile(
      JSON.stringify({ name: 'shared', type: 'hostname', list: ['files.example.org'] }),
      'list.json',
    )
    const feed = `${onGithub}\nhttps://files.example.org/a\nhttps://eu.files.example.org/a`
    const both = await enrichWith({ feed, intel: { safeguard: ['bundled', list] } })
    const own = await enrichWith({ feed, intel: { safeguard: [list] } })
    const hosts = ['github.com', 'files.example.org', 'eu.files.example.org']
    const verdicts = async (enrich: typeof both): Promise<string[]> =>
      Promise.all(hosts.map(async (host) => verdictOf(await enrich(dns(host)))))
    expect(await verdicts(both)).toEqual(['unknown: safeguarded', 'unknown: safeguarded', 'unknown: safeguarded'])
    expect(await verdicts(own)).toEqual(['suspicious', 'unknown: safeguarded', 'unknown: safeguarded'])
    await expect(enrichWith({ feed, intel: { safeguard: ['/no/such/list'] } })).rejects.toThrow('intel.safeguard.0')
  })
})

describe('what everybody uses, in a feed', () => {
  it.each([
    ['a shared host', 'github.com', dns('github.com')],
    ['a name below a listed shared host', 'github.com', dns('new.github.com')],
    ['a public resolver', '8.8.8.8', 'action=allow src=10.0.0.5 dst=8.8.8.8'],
    ['a range around a public resolver', '8.8.8.0/24', 'action=allow src=10.0.0.5 dst=8.8.8.8'],
  ])('is flagged and not malicious: %s', async (_, feed, event) => {
    const enrich = await enrichWith({ feed })
    expect(await enrich(event)).toMatchObject({
      verdict: 'unknown',
      reason: 'safeguarded',
      safeguarded: true,
      entry: feed,
    })
  })

  it('leaves its neighbours accused', async () => {
    const enrich = await enrichWith({ feed: '8.8.8.0/24\nevil.github.com' })
    expect(verdictOf(await enrich('action=allow src=10.0.0.5 dst=8.8.8.9'))).toBe('malicious')
    expect(verdictOf(await enrich(dns('evil.github.com')))).toBe('malicious')
  })
})

import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createNameSet } from '../../../../src/domain/name-set.js'
import { createRangeSet } from '../../../../src/domain/range-set.js'
import { parseRange } from '../../../../src/domain/address.js'
import { createStaysInside } from '../../../../src/server/gateway/stays-inside.js'
import { outbound } from '../../../support/lookup.js'
import { startAsker, startGateway } from '../../../support/askers.js'
import { startUpstream, type Upstream } from '../../../support/counting-upstream.js'
import { ask, newFolder } from '../../../support/lookup-service.js'

const names = (...given: string[]) => createNameSet(given.map((name) => ({ name, below: true })))
const ranges = (...given: string[]) => createRangeSet(given.flatMap((range) => parseRange(range) ?? []))

const internal = [
  'dc01.corp',
  'DC01.CORP.',
  'dc01。corp',
  'fileserver.internal',
  'printer',
  'print_srv.corp',
  'nas.fritz.box',
  'db.cluster.local',
  'http://printer/queue',
  'https://dc01.corp:8443/login?user=anna',
  'https://example.com/?next=intranet.corp',
  'dc01.corp/login',
  'dc01.corp:443',
  'domain:dc01.corp',
  'domain: dc01.corp',
  'domain:"dc01.corp"',
  'url:printer',
  'NOT dc01.corp',
  '-domain:dc01.corp',
  'paypal OR dc01.corp',
  'anna@dc01.corp',
  '10.0.0.7',
  'http://10.0.0.7/',
  'http://[fd00::7]/',
  'ip:10.0.0.7',
]

const open = ['example.com', 'login.example.com:443', 'https://www.example.com/index.php', 'paypal login', '8.8.8.8']

const urlOf = (operation: string, query: string): string => `/v1/${operation}?query=${encodeURIComponent(query)}`
const form = (query: string) => ({ form: { query } })

const startUpstreamOf = async (): Promise<Upstream> => {
  const upstream = await startUpstream()
  onTestFinished(upstream.close)
  return upstream
}

describe('an internal name at the gateway', () => {
  it('reaches the provider neither over HTTP', { timeout: 60_000 }, async () => {
    const upstream = await startUpstreamOf()
    const gateway = await startGateway(upstream.url, { state: newFolder() })
    for (const query of internal) {
      const answers = await Promise.all([
        ask(gateway.url, urlOf('domain/reports', query)),
        ask(gateway.url, '/v1/domain/scan', form(query)),
        ask(gateway.url, '/v1/domain/scan/private', form(query)),
      ])
      for (const { body } of answers) expect([query, body.status]).toEqual([query, 400])
    }
    expect(upstream.calls).toEqual([])
    for (const query of open) await ask(gateway.url, urlOf('domain/reports', query))
    expect(upstream.calls).toHaveLength(open.length)
  })

  it('nor in bulk', async () => {
    const upstream = await startUpstreamOf()
    const state = newFolder()
    const gateway = await startGateway(upstream.url, { state, socket: join(state, 'gateway.sock') })
    // A worker whose own gate was told that they are public.
    const asker = await startAsker(gateway.url, { gate: { publicSuffixes: ['corp', 'internal'] } })
    for (const value of ['dc01.corp', 'fileserver.internal'])
      expect(await asker.lookup({ type: 'domain', value }, outbound)).toMatchObject({ reason: 'bad_input' })
    expect(upstream.calls).toEqual([])
  })

  it('does where the operator says that it is public', async () => {
    const upstream = await startUpstreamOf()
    const gateway = await startGateway(upstream.url, {
      state: newFolder(),
      gate: { publicSuffixes: ['corp', 'printer'], internalSuffixes: ['secret.corp'] },
    })
    for (const query of ['dc01.corp', 'printer', 'hr.secret.corp', 'fileserver.internal'])
      await ask(gateway.url, urlOf('domain/reports', query))
    expect(upstream.calls).toEqual(['dc01.corp', 'printer'].map((query) => `GET ${urlOf('domain/reports', query)}`))
  })
})

describe('what stays inside', () => {
  const stays = createStaysInside({
    internalSuffixes: names('corp.example.com'),
    deny: { names: names('secret.example.com'), ranges: ranges('198.51.100.0/24') },
    ownRanges: ranges('203.0.113.0/24'),
  })

  it.each(['dc01.corp.example.com', 'secret.example.com', 'http://a.secret.example.com/x'])(
    'is also what this operator calls his own: %s',
    (query) => {
      expect(stays.question('domain/reports', { query })).toBe(true)
    },
  )

  it('is also an address of his', () => {
    for (const ip of ['203.0.113.7', '198.51.100.7']) {
      expect(stays.question('ip/data', { ip })).toBe(true)
      expect(stays.indicator({ type: 'ip', value: ip })).toBe(true)
      expect(stays.question('banner/search', { query: `port:22 ip:${ip}` })).toBe(true)
    }
    expect(stays.question('ip/data', { ip: '192.0.2.7' })).toBe(false)
  })

  it.each(['nginx', 'product:node.js version:2.4.49', 'index.php', 'title:"Welcome to nginx"', 'port:443 country:KR'])(
    'is no word of a search that looks like a name: %s',
    (query) => {
      expect(stays.question('banner/search', { query })).toBe(false)
      expect(stays.question('exploit/search', { query })).toBe(false)
    },
  )

  it.each([
    'ssl dc01.corp',
    'hostname:printer',
    'title:"dc01.corp"',
    'nginx 10.0.0.7',
    'ip:10.0.0.7:443',
    'dc01.corp,x',
  ])('is an internal name in any search: %s', (query) => {
    expect(stays.question('banner/search', { query })).toBe(true)
  })
})

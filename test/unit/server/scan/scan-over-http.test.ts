import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hashKey } from '../../../../src/server/keys.js'
import { ask, newFolder, serveSettings, startSampleService, type AskOptions } from '../../../support/lookup-service.js'
import { onlyPorts, resolverOf, startTestSite } from '../../../support/test-site.js'

const otherKey = 'Another-callers-key-0123456789'
const here = [['127.0.0.1']]

const start = async () => {
  const site = await startTestSite()
  const keysFile = join(newFolder(), 'keys.json')
  writeFileSync(keysFile, JSON.stringify({ keys: [{ name: 'other', hash: hashKey(otherKey), plan: { inFlight: 8 } }] }))
  const scan = { ...serveSettings().scan, enabled: true }
  const { url } = await startSampleService(
    { keysFile, scan },
    {
      resolver: resolverOf({ 'site.example': here, 'www.site.example': here }),
      mayConnect: onlyPorts(site.httpPort, site.httpsPort),
    },
  )
  return { url, site, query: `http://site.example:${site.httpPort}/` }
}

const done = async (url: string, id: number): Promise<number> => {
  for (;;) {
    const { scan_percentage } = (await ask(url, `/v1/domain/status/${id}`)).body.data
    if (scan_percentage < 0 || scan_percentage === 100) return scan_percentage
  }
}

describe('a scan over HTTP', () => {
  it('is accepted, polled until it is done, and read', async () => {
    const { url, query } = await start()
    const { body } = await ask(url, '/v1/domain/scan', { form: { query } })
    expect(body).toMatchObject({ status: 200, message: 'api success', data: { query } })
    expect(await done(url, body.data.scan_id)).toBe(100)
    const report = await ask(url, `/v1/domain/report/${body.data.scan_id}`)
    expect(report.body.data.summary).toMatchObject({ fake_ssl: { category: 'expired', invalid: true } })
    const rows = await ask(url, '/v1/domain/reports?query=site.example')
    expect(rows.body.data.reports).toMatchObject([{ scan_id: body.data.scan_id, issue: ['fake ssl'] }])
  })

  it('is seen by nobody else when it is private', async () => {
    const { url, query } = await start()
    const { scan_id } = (await ask(url, '/v1/domain/scan/private', { form: { query } })).body.data
    await done(url, scan_id)
    const other = { key: otherKey }
    expect((await ask(url, `/v1/domain/report/${scan_id}`)).body.status).toBe(200)
    expect((await ask(url, `/v1/domain/report/${scan_id}`, other)).body.status).toBe(404)
    expect((await ask(url, `/v1/domain/status/${scan_id}`, other)).body.status).toBe(404)
    expect((await ask(url, '/v1/domain/reports?query=site.example', other)).body.data.count).toBe(0)
    const personal = '/v1/domain/reports/personal?show_public=false&show_private=true'
    expect((await ask(url, personal)).body.data.reports).toMatchObject([{ scan_id }])
    expect((await ask(url, personal, other)).body.data.count).toBe(0)
  })

  it('makes an owner wait for the scan before, and nobody else', async () => {
    const { url, query } = await start()
    const [first, second, third] = await Promise.all([
      ask(url, '/v1/domain/scan', { form: { query } }),
      ask(url, '/v1/domain/scan', { form: { query } }),
      ask(url, '/v1/domain/scan', { form: { query }, key: otherKey }),
    ])
    const messages = [first.body.message, second.body.message].sort()
    expect(messages).toEqual(['api success', 'still scanning, please wait until the previous scan is done'])
    expect(third.body.status).toBe(200)
  })

  it.each<[string, AskOptions]>([
    ['JSON', { headers: { 'content-type': 'application/json' }, body: '{"query":"QUERY"}' }],
    [
      'multipart',
      {
        headers: { 'content-type': 'multipart/form-data; boundary=xyz' },
        body: '--xyz\r\nContent-Disposition: form-data; name="query"\r\n\r\nQUERY\r\n--xyz--\r\n',
      },
    ],
  ])('may be asked for as %s', async (_, options) => {
    const { url, query } = await start()
    const body = options.body?.replace('QUERY', query) ?? ''
    expect((await ask(url, '/v1/domain/scan', { ...options, body })).body).toMatchObject({ data: { query } })
  })

  it.each([
    ['', 412, 'parameter query is required'],
    ['ftp://example.com/', 400, 'invalid url'],
    ['http://user:secret@example.com/', 400, 'invalid url'],
    ['not a site', 400, 'invalid url'],
    ['localhost', 400, 'invalid url'],
  ])('is refused for %j', async (query, status, message) => {
    const { url } = await start()
    expect((await ask(url, '/v1/domain/scan', { form: { query } })).body).toEqual({ status, message })
  })

  it.each(['http://127.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest/meta-data'])(
    'of %s fails without a visit',
    async (query) => {
      const { url, site } = await start()
      const { scan_id } = (await ask(url, '/v1/domain/scan', { form: { query } })).body.data
      expect(await done(url, scan_id)).toBe(-1)
      expect(site.requests).toEqual([])
    },
  )
})

// Sources behind a gateway: everyone asks it over the bulk connection, and it asks each source once for all of them.
import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { openServer, type OpenServer } from '../../../../src/app/open-server.js'
import { load } from '../../../../src/config/load.js'
import type { Finding } from '../../../../src/domain/finding.js'
import { judgeCounting } from '../../../../src/domain/judge.js'
import { shippedTable } from '../../../../src/domain/judgement-table.js'
import { address, startAsker } from '../../../support/askers.js'
import { newFolder, sampleKey } from '../../../support/lookup-service.js'
import { startListServer, type ListServer } from '../../../support/list-server.js'
import { outbound } from '../../../support/lookup.js'
import { sourceAt } from '../../../support/source-server.js'

/** Accuses every address whose last digit is odd. */
const startSource = (): Promise<ListServer> =>
  startListServer((request, response) => {
    const value = new URL(request.url!, 'http://localhost').searchParams.get('ipAddress') ?? ''
    const score = parseInt(value.at(-1)!, 16) % 2 === 1 ? 100 : 0
    response.end(JSON.stringify({ data: { ipAddress: value, abuseConfidenceScore: score } }))
  })

const startGateway = async (sources: readonly object[], state = newFolder()): Promise<OpenServer> => {
  const values = { intel: { safeguard: [], sources }, serve: { apiKey: sampleKey, port: 0, state } }
  const loaded = load({ values, env: {}, readFile: (path) => readFileSync(path, 'utf8') })
  if (!('config' in loaded)) return expect.fail(JSON.stringify(loaded))
  const server = await openServer(loaded.config, { env: {} }, '0.0.0')
  onTestFinished(server.close)
  return server
}

const startAskerOf = (url: string, file: string) =>
  startAsker(url, {
    intel: {
      service: { baseUrl: url, apiKey: sampleKey },
      safeguard: [],
      sources: [{ file, gateway: true, ask: 'always' }],
    },
  })

const levelsOf = (findings: readonly Finding[]) =>
  findings.map(
    (finding, nth) =>
      judgeCounting(finding, { type: 'ip', value: address(nth), role: 'other' }, shippedTable, Date.now()).level,
  )

it('a gateway asks each source once for all askers, who hold no key, and what it knows survives it', async () => {
  const source = await startSource()
  const { file, apiKeyFile } = sourceAt(source.url, 'sources/abuseipdb.yaml')
  const state = newFolder()
  const gateway = await startGateway([{ file, apiKeyFile }], state)
  const ask = async (url: string): Promise<readonly Finding[]> => {
    const asker = await startAskerOf(url, file)
    return Promise.all(
      Array.from({ length: 40 }, (_, nth) =>
        Promise.resolve(asker.lookup({ type: 'ip', value: address(nth) }, outbound)),
      ),
    )
  }
  const expected = Array.from({ length: 40 }, (_, nth) => (nth % 2 === 0 ? 'malicious' : 'unknown'))
  const both = await Promise.all([ask(gateway.url), ask(gateway.url)])
  for (const findings of both) expect(levelsOf(findings)).toEqual(expected)
  expect(source.asked).toHaveLength(40)
  expect(gateway.sources!()).toMatchObject([{ id: 'abuseipdb', state: { limits: [{ per: 'day', used: 40 }] } }])
  await gateway.close()
  const again = await startGateway([{ file, apiKeyFile }], state)
  expect(levelsOf(await ask(again.url))).toEqual(expected)
  expect(source.asked).toHaveLength(40)
  expect(again.sources!()).toMatchObject([{ state: { limits: [{ per: 'day', used: 40 }] } }])
})

it('the limits of a source hold for all askers of the gateway together', async () => {
  const source = await startSource()
  const { file, apiKeyFile } = sourceAt(source.url, 'sources/abuseipdb.yaml')
  const gateway = await startGateway([{ file, apiKeyFile, perDay: 10 }])
  const askers = await Promise.all([startAskerOf(gateway.url, file), startAskerOf(gateway.url, file)])
  const findings = await Promise.all(
    askers.flatMap((asker, nth) =>
      Array.from({ length: 20 }, (_, at) =>
        Promise.resolve(asker.lookup({ type: 'ip', value: address(nth * 20 + at) }, outbound)),
      ),
    ),
  )
  expect(source.asked).toHaveLength(10)
  // The gateway's own data knows nothing about them: without the source nobody can say that they are not listed.
  expect(findings.filter((finding) => finding.status === 'known' && finding.isFeedMissing === true)).toHaveLength(30)
})

it('a source that the gateway does not have fails, and is never asked from here', async () => {
  const source = await startSource()
  const { file } = sourceAt(source.url, 'sources/abuseipdb.yaml')
  const gateway = await startGateway([])
  const asker = await startAskerOf(gateway.url, file)
  expect(await asker.lookup({ type: 'ip', value: address(1) }, outbound)).toMatchObject({
    isFeedMissing: true,
  })
  expect(source.asked).toHaveLength(0)
})

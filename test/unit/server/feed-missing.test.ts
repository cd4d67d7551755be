// What whoever asks a server learns of a feed that the server has never had: nothing is clean meanwhile.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { judge } from '../../../src/domain/judge.js'
import { shippedTable } from '../../../src/domain/judgement-table.js'
import type { Finding } from '../../../src/domain/finding.js'
import { startAsker, startGateway } from '../../support/askers.js'
import { listOf, startListServer } from '../../support/list-server.js'
import { newFolder, sampleKey } from '../../support/lookup-service.js'
import { outbound } from '../../support/lookup.js'
import { startScriptedService, type Script } from '../../support/scripted-service.js'

const clean: Script = ({ query, path }) => {
  if (path.includes('domain')) return { status: 404, message: 'not found' }
  return { status: 200, ip: String(query.ip), is_malicious: query.ip === '198.51.100.66', current_opened_port: {} }
}
const feedAt = (url: string): object[] => [{ name: 'ours', url, level: 'malicious', categories: [] }]
const verdictOf = (finding: Finding, value = '198.51.100.7') => {
  const { level, reason } = judge(finding, { type: 'ip', value, role: 'destination' }, shippedTable, Date.now())
  return { level, reason }
}

describe('an asker of a gateway', () => {
  it.each([
    ['in bulk', true],
    ['by single calls', false],
  ])('%s is told that a feed is missing, through a second gateway too', async (_, isBulk) => {
    const provider = await startScriptedService(clean)
    const nobody = await startListServer((request) => request.socket.destroy())
    const far = await startGateway(provider.baseUrl, { state: newFolder(), feeds: feedAt(nobody.url) })
    const state = newFolder()
    const near = await startGateway(far.url, {
      state,
      upstreamKey: sampleKey,
      ...(isBulk && { socket: join(state, 'gateway.sock') }),
    })
    for (const { url } of isBulk ? [near] : [far, near]) {
      const asker = await startAsker(url, isBulk ? {} : { admit: { perDay: 1000 } })
      const ask = async (value: string): Promise<Finding> => asker.lookup({ type: 'ip', value }, outbound)
      expect(verdictOf(await ask('198.51.100.7'))).toEqual({ level: 'unknown', reason: 'feed_missing' })
      expect(verdictOf(await ask('198.51.100.66'))).toMatchObject({ level: 'malicious' })
      expect(await asker.lookup({ type: 'domain', value: 'nobody.example.com' }, outbound)).toMatchObject({
        status: 'unknown',
        reason: 'feed_missing',
      })
    }
    await provider.close()
  })

  it('learns what the feed lists once it is there, and what is clean then', async () => {
    const provider = await startScriptedService(clean)
    const server = await startListServer(listOf('198.51.100.7\n'))
    const gateway = await startGateway(provider.baseUrl, { state: newFolder(), feeds: feedAt(server.url) })
    const asker = await startAsker(gateway.url)
    const ask = async (value: string): Promise<Finding> => asker.lookup({ type: 'ip', value }, outbound)
    expect(verdictOf(await ask('198.51.100.7'))).toMatchObject({ level: 'malicious' })
    expect(verdictOf(await ask('198.51.100.8'), '198.51.100.8')).toMatchObject({ level: 'clean' })
    expect(server.asked).toHaveLength(1)
    await provider.close()
  })
})

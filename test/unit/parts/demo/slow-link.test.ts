// The relay that makes the demo's lookup server slow.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openSlowLink } from '../../../../src/parts/demo/slow-link.js'

it('passes answers on whole and in order, and holds them back when told to', async () => {
  const body = 'x'.repeat(300_000)
  const server = createServer((request, response) => void response.end(`${request.url}${body}`))
  await new Promise<void>((ready) => void server.listen(0, '127.0.0.1', ready))
  const link = await openSlowLink(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const ask = async (path: string): Promise<string> => (await fetch(link.url + path)).text()
  expect(await Promise.all(['/a', '/b', '/c'].map(ask))).toEqual(['/a', '/b', '/c'].map((path) => path + body))
  link.delay(400)
  const began = performance.now()
  expect(await ask('/slow')).toBe(`/slow${body}`)
  // Timers may be a millisecond early.
  expect(performance.now() - began).toBeGreaterThan(390)
  link.delay(0)
  expect(await ask('/again')).toBe(`/again${body}`)
  await link.close()
  await expect(ask('/closed')).rejects.toThrow()
  server.closeAllConnections()
  server.close()
})

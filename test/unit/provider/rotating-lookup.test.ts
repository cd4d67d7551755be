// Connections to a name with several addresses, of which some do not answer: real servers on addresses of this machine.
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createRotatingLookup } from '../../../src/provider/rotating-lookup.js'

const listen = async (address: string, port = 0): Promise<{ server: Server; port: number }> => {
  const server = createServer()
  await new Promise<void>((done) => server.listen(port, address, done))
  onTestFinished(() => void server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map((address) => ({ address, family: 4 }))
const resolve = (name: string) =>
  name === 'gateways.example' ? Promise.resolve(addresses) : Promise.reject(new Error(`no such name: ${name}`))

/** Where a connection ends up, or its error. */
const reached = (rotating: ReturnType<typeof createRotatingLookup>, port: number, all: boolean): Promise<string> =>
  new Promise((done) => {
    const socket = connect({
      host: 'gateways.example',
      port,
      lookup: rotating.lookup,
      autoSelectFamily: all,
    })
    socket.once('connect', () => {
      done(socket.remoteAddress ?? '')
      socket.destroy()
    })
    socket.once('error', ({ message }) => {
      done(message)
    })
  })

it.each([true, false])(
  'a connection goes to the next address after moving on, and round again (all: %s)',
  async (all) => {
    const { port } = await listen('127.0.0.1')
    for (const { address } of addresses.slice(1)) await listen(address, port)
    const rotating = createRotatingLookup('gateways.example', resolve)
    const seen: string[] = []
    for (let n = 0; n < 4; n++) {
      seen.push(await reached(rotating, port, all))
      rotating.moveOn()
    }
    expect(seen).toEqual(['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.1'])
  },
)

it('counts machines, not addresses of both kinds', async () => {
  const count = (list: readonly (readonly [string, number])[]): Promise<number> =>
    createRotatingLookup('gateways.example', () =>
      Promise.resolve(list.map(([address, family]) => ({ address, family }))),
    ).count()
  expect(await createRotatingLookup('gateways.example', resolve).count()).toBe(3)
  expect(
    await count([
      ['192.0.2.1', 4],
      ['2001:db8::1', 6],
    ]),
  ).toBe(1)
  expect(await createRotatingLookup('[2001:db8::1]', resolve).count()).toBe(1)
  // A name that does not resolve now may do so later.
  expect(await createRotatingLookup('other.example', resolve).count()).toBe(1)
})

it('a name that does not resolve, or has no address, is an error of the connection', async () => {
  const failing = createRotatingLookup('gateways.example', () => Promise.reject(new Error('no such name')))
  expect(await reached(failing, 9, false)).toContain('no such name')
  const empty = createRotatingLookup('gateways.example', () => Promise.resolve([]))
  expect(await reached(empty, 9, true)).toContain('gateways.example has no address')
})

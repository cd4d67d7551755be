// Disconnecting: what a connection leaves on its socket in an outage, and that it still closes one that is open.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { disconnectOnce } from '../../../../src/kafka/patched-kafkajs/disconnect-once.js'
import { original } from '../../../support/original-kafkajs.js'

type Connection = {
  readonly socket?: Socket
  readonly isConnected: () => boolean
  readonly connect: () => Promise<boolean>
  readonly disconnect: () => Promise<boolean>
}
type ConnectionClass = new (options: object) => Connection
const Original = original('network/connection.js') as ConnectionClass
const Ours = disconnectOnce(Original) as ConnectionClass

const silent = { debug: () => undefined, error: () => undefined, namespace: (): object => silent }
const open = (type: ConnectionClass, port: number): Connection =>
  new type({
    host: '127.0.0.1',
    port,
    logger: silent,
    requestTimeout: 1_000,
    connectionTimeout: 1_000,
    socketFactory: ({ host, onConnect }: { host: string; onConnect: () => void }) => connect({ host, port }, onConnect),
  })
const listen = async (): Promise<Server> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Listeners on the socket after a connection that was refused was ended twelve times. */
const leftAfterOutage = async (type: ConnectionClass): Promise<number> => {
  const server = await listen()
  const port = portOf(server)
  server.close()
  await once(server, 'close')
  const connection = open(type, port)
  await expect(connection.connect()).rejects.toThrow('ECONNREFUSED')
  const before = connection.socket?.listenerCount('connect') ?? 0
  for (let times = 0; times < 12; times++) expect(await connection.disconnect()).toBe(true)
  return (connection.socket?.listenerCount('connect') ?? 0) - before
}

describe('a connection that is ended again and again while no broker is there', () => {
  it('leaves nothing behind on its closed socket, unlike the original', async () => {
    expect([await leftAfterOutage(Original), await leftAfterOutage(Ours)]).toEqual([12, 0])
  })

  it('is ended when it is open, and while it connects', async () => {
    const server = await listen()
    const connection = open(Ours, portOf(server))
    await connection.connect()
    expect([connection.isConnected(), await connection.disconnect(), connection.isConnected()]).toEqual([
      true,
      true,
      false,
    ])
    expect(connection.socket?.writableEnded).toBe(true)
    const connecting = open(Ours, portOf(server))
    connecting.connect().catch(() => undefined) // it is ended before it is connected
    expect(await connecting.disconnect()).toBe(true)
    expect(connecting.socket?.writableEnded).toBe(true)
    for (const { socket } of [connection, connecting]) socket?.destroy()
    server.close()
  })
})

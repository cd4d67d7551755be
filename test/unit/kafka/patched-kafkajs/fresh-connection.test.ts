// What is left of a connection that broke: on its socket, and of the answer that was cut off.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { freshConnection } from '../../../../src/kafka/patched-kafkajs/fresh-connection.js'
import { original } from '../../../support/original-kafkajs.js'

type Connection = {
  readonly socket?: Socket
  readonly isConnected: () => boolean
  readonly connect: () => Promise<boolean>
  readonly disconnect: () => Promise<boolean>
  requestQueue: object
}
type ConnectionClass = new (options: object) => Connection
const Original = original('network/connection.js') as ConnectionClass
const Ours = freshConnection(Original) as ConnectionClass

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

  it('waits for its requests once, however many end it', async () => {
    const server = await listen()
    const connection = open(Ours, portOf(server))
    await connection.connect()
    let waits = 0
    let empty = (): void => undefined
    connection.requestQueue = {
      waitForPendingRequests: () => {
        waits++
        return new Promise<void>((resolve) => {
          empty = resolve
        })
      },
      destroy: () => undefined,
    }
    const ending = Promise.all(Array.from({ length: 12 }, () => connection.disconnect()))
    empty()
    expect(new Set(await ending)).toEqual(new Set([true]))
    expect(waits).toBe(1)
    connection.socket?.destroy()
    server.close()
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

/** The numbers of the answers that are read on the second connection, after the first one broke within an answer. */
const understoodAfterBreak = async (type: ConnectionClass): Promise<readonly number[]> => {
  const server = await listen()
  const answer = Buffer.alloc(12)
  answer.writeInt32BE(8, 0)
  answer.writeInt32BE(7, 4)
  let connections = 0
  server.on('connection', (socket: Socket) => {
    if (++connections === 1) socket.end(answer.subarray(0, 6))
    else socket.write(answer)
  })
  const connection = open(type, portOf(server))
  const understood: number[] = []
  connection.requestQueue = {
    fulfillRequest: ({ correlationId }: { correlationId: number }) => understood.push(correlationId),
    rejectAll: () => undefined,
    destroy: () => undefined,
    waitForPendingRequests: () => Promise.resolve(),
    scheduleRequestTimeoutCheck: () => undefined,
  }
  await connection.connect()
  await vi.waitFor(() => expect(connection.isConnected()).toBe(false), { timeout: 600_000 })
  await connection.connect()
  await once(connection.socket as Socket, 'data')
  connection.socket?.destroy()
  server.close()
  return understood
}

it('a connection that broke within an answer understands those of the next one, unlike the original', async () => {
  expect([await understoodAfterBreak(Original), await understoodAfterBreak(Ours)]).toEqual([[0], [7]])
})

describe('a session of a connection', () => {
  type Session = { authenticatedAt: [number, number] | null; sessionLifetime: object; isAuthenticated: () => boolean }
  const { fromNumber } = original('utils/long.js') as { fromNumber: (value: number) => object }
  /** Whether it is time to log in again, so long after the last login. */
  const isIn = (type: ConnectionClass, lifeMs: number, afterMs: number): boolean => {
    const session = open(type, 1) as unknown as Session
    const [seconds, nanoseconds] = process.hrtime()
    const at = seconds * 1_000 + nanoseconds / 1_000_000 - afterMs
    session.authenticatedAt = [Math.floor(at / 1_000), Math.floor((at % 1_000) * 1_000_000)]
    session.sessionLifetime = fromNumber(lifeMs)
    return session.isAuthenticated()
  }

  it.each([
    ['that does not end', 0, 86_400_000, true],
    ['of an hour after 50 minutes', 3_600_000, 3_000_000, true],
    ['of an hour after 52 minutes', 3_600_000, 3_120_000, false],
    ['of eight seconds after two, where the original would log in before every request', 8_000, 2_000, true],
    ['of eight seconds after seven', 8_000, 7_000, false],
    ['of a moment, because brokers refuse a second login within a second', 100, 500, true],
  ])('%s', (_what, lifeMs, afterMs, expected) => {
    expect(isIn(Ours, lifeMs, afterMs)).toBe(expected)
  })

  it('is not there before a login', () => {
    const connection = open(Ours, 1) as unknown as Session
    expect([connection.authenticatedAt, connection.isAuthenticated()]).toEqual([null, false])
    expect(isIn(Original, 8_000, 2_000)).toBe(false)
  })
})

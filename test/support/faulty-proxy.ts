// A TCP proxy in front of a broker that drops answers to produce requests or corrupts fetched data.
import { connect, createServer, type Server, type Socket } from 'node:net'

export type FaultyProxy = {
  readonly port: number
  /** Drops all further answers to produce requests of this client. */
  readonly keepSilent: (clientId: string) => void
  /** Flips one bit of this text in all further answers. */
  readonly damage: (text: string) => void
  /** Sets the broker's port; connections wait until it is known. */
  readonly to: (port: number) => void
  readonly close: () => Promise<void>
}

/** The API key of Produce in Kafka's protocol. */
const produce = 0

export const startFaultyProxy = async (): Promise<FaultyProxy> => {
  let target = 0
  let silenced: string | undefined
  let damaged: string | undefined
  const sockets = new Set<Socket>()
  const server: Server = createServer((client) => {
    const broker = connect(target, '127.0.0.1')
    const doomed = new Set<number>()
    sockets.add(client).add(broker)
    frames(client, (frame) => {
      if (frame.readInt16BE(4) === produce && clientOf(frame) === silenced) doomed.add(frame.readInt32BE(8))
      broker.write(frame)
    })
    frames(broker, (frame) => {
      const at = damaged === undefined ? -1 : frame.indexOf(damaged)
      if (at >= 0) frame.writeUInt8(frame.readUInt8(at) ^ 1, at)
      if (!doomed.has(frame.readInt32BE(4))) client.write(frame)
    })
    for (const [one, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    keepSilent: (clientId) => {
      silenced = clientId
    },
    damage: (text) => {
      damaged = text
    },
    to: (port) => {
      target = port
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The client id follows length, API key, version and correlation id. */
const clientOf = (frame: Buffer): string => frame.toString('latin1', 14, 14 + Math.max(0, frame.readInt16BE(12)))

/** Both directions consist of frames: a length in four bytes and the content. */
const frames = (socket: Socket, take: (frame: Buffer) => void): void => {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data])
    while (rest.length >= 12) {
      const length = 4 + rest.readInt32BE(0)
      if (rest.length < length) break
      take(rest.subarray(0, length))
      rest = rest.subarray(length)
    }
  })
}

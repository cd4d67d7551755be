// A TCP proxy in front of a broker that drops produce responses, cuts the connection or holds commits.
import { connect, createServer, type Server, type Socket } from 'node:net'

export type DroppingProxy = {
  readonly port: number
  /** Swallows nothing until this is called, nor after `disarm`. */
  readonly arm: () => void
  readonly disarm: () => void
  /** From now on no answer to a produce request of this client arrives, and no line is cut. */
  readonly keepSilent: (clientId: string) => void
  /** From now on no transaction ends, until this is called; `held` resolves when one was about to. */
  readonly holdCommits: () => { readonly held: Promise<void>; readonly release: () => void }
  /** From now on one bit of this text is wrong in every answer. */
  readonly damage: (text: string) => void
  /** How many answers were swallowed. */
  readonly dropped: () => number
  /** The broker to stand before; connections wait until it is known. */
  readonly to: (port: number) => void
  readonly close: () => Promise<void>
}

/** Numbers of requests in Kafka's protocol. */
const [produce, endTransaction] = [0, 26]

export const startDroppingProxy = async (every: number): Promise<DroppingProxy> => {
  let target = 0
  let armed = false
  let silenced: string | undefined
  let damaged: string | undefined
  let produced = 0
  let dropped = 0
  let hold: ((send: () => void) => void) | undefined
  const sockets = new Set<Socket>()
  const server: Server = createServer((client) => {
    const broker = connect(target, '127.0.0.1')
    const doomed = new Set<number>()
    sockets.add(client).add(broker)
    frames(client, (frame) => {
      const isProduce = frame.readInt16BE(4) === produce
      const isSilenced = isProduce && silenced !== undefined && clientOf(frame) === silenced
      if (isSilenced || (isProduce && armed && ++produced % every === 0)) doomed.add(frame.readInt32BE(8))
      const send = (): unknown => broker.write(frame)
      if (hold && frame.readInt16BE(4) === endTransaction) hold(send)
      else send()
    })
    frames(broker, (frame) => {
      const at = damaged === undefined ? -1 : frame.indexOf(damaged)
      if (at >= 0) frame.writeUInt8(frame.readUInt8(at) ^ 1, at)
      if (!doomed.has(frame.readInt32BE(4))) return client.write(frame)
      dropped++
      if (silenced !== undefined) return true
      client.destroy()
      broker.destroy()
      return false
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
    arm: () => {
      armed = true
    },
    disarm: () => {
      armed = false
    },
    keepSilent: (clientId) => {
      silenced = clientId
    },
    holdCommits: () => {
      const waiting: (() => void)[] = []
      const held = new Promise<void>((resolve) => {
        hold = (send) => {
          waiting.push(send)
          resolve()
        }
      })
      const release = (): void => {
        hold = undefined
        for (const send of waiting) send()
      }
      return { held, release }
    },
    damage: (text) => {
      damaged = text
    },
    dropped: () => dropped,
    to: (port) => {
      target = port
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Behind length, operation, version and number. */
const clientOf = (frame: Buffer): string => frame.toString('latin1', 14, 14 + Math.max(0, frame.readInt16BE(12)))

/** Both directions are frames: a length of four bytes, then as many bytes. */
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

// A connection of kafkajs is used again after it broke, and what was left of it spoils the next one: the first bytes of an answer that was cut
// off, a listener for every attempt to end a socket that is closed for good, and what the former socket still says. It also logs in again ten seconds before a session ends: in a
// session of ten seconds before every request, which brokers refuse.
import type { Socket } from 'node:net'

type Connection = {
  readonly connectionStatus: string
  readonly socket?: Socket | undefined
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  /** Of `process.hrtime`; null where nobody has logged in. */
  readonly authenticatedAt: [number, number] | null
  /** Milliseconds, as the broker said; 0 where a session does not end. */
  readonly sessionLifetime: { toNumber(): number }
  isAuthenticated(): boolean
  isConnected(): boolean
  connect(): Promise<boolean>
  disconnect(): Promise<boolean>
}
// TypeScript requires this form of a class that is extended without being known.
type ConnectionClass = new (...given: any[]) => Connection // eslint-disable-line @typescript-eslint/no-explicit-any

/** Of an answer, before the answer itself. */
const sizeBytes = 4

/** What a socket that we have ended still says would end the next one. */
const leave = (socket: Socket): void => {
  if (!socket.writableEnded || socket.connecting) return
  for (const name of ['data', 'end', 'error', 'timeout']) socket.removeAllListeners(name)
  socket.on('error', () => undefined) // it is not used again, however it ends
  socket.destroy()
}

/** Of a session, after which it is time to log in again: the earliest that Java's client chooses. */
const sessionShare = 0.85
/** A second login within a second is refused. */
const leastSessionMs = 1_100

export const freshConnection = (original: unknown): unknown =>
  class extends (original as ConnectionClass) {
    #disconnecting: Promise<boolean> | undefined

    override async connect(): Promise<boolean> {
      if (!this.isConnected()) {
        if (this.socket) leave(this.socket)
        this.chunks = []
        this.bytesBuffered = 0
        this.bytesNeeded = sizeBytes
      }
      return super.connect()
    }

    /** While it connects its status is `disconnected`, too, but its socket is open. */
    override async disconnect(): Promise<boolean> {
      const isClosed = this.connectionStatus === 'disconnected' && this.socket?.destroyed !== false
      if (isClosed) return true
      // Everybody who fails to connect ends it, and each would listen for the end of its requests.
      this.#disconnecting ??= super.disconnect().finally(() => {
        this.#disconnecting = undefined
      })
      return this.#disconnecting
    }

    override isAuthenticated(): boolean {
      if (this.authenticatedAt === null) return false
      const lifeMs = this.sessionLifetime.toNumber()
      if (lifeMs === 0) return true
      const [seconds, nanoseconds] = process.hrtime(this.authenticatedAt)
      return seconds * 1_000 + nanoseconds / 1_000_000 < Math.max(sessionShare * lifeMs, leastSessionMs)
    }
  }
